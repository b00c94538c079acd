/** The door to the clients and to the seam for the rooms above. */
export { adapterNamed, adapters, placesThatExist } from "./registry.ts";
export type {
  Adapter,
  AdapterEnv,
  AdapterYield,
  Cursor,
  FileComparison,
  FileStamp,
  Issue,
  IssueKind,
  Lineage,
  Loss,
  Place,
  Restored,
  RestoredFile,
  Resume,
  SerializeOptions,
  SpanAdapter,
  SpanRef,
  SpanTree,
  Unit,
} from "./seam/index.ts";
export {
  brandOf,
  compareFile,
  FileComparer,
  describeDifference,
  isEqualFile,
  hasSpans,
  locate,
  openSpanTree,
  printFile,
} from "./seam/index.ts";
