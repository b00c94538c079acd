/** The door to the clients and to the seam for the rooms above. */
export { adapterNamed, adapters, placesThatExist } from "./registry.ts";
export type { Adapter, Lineage, PresentSession } from "./kit/adapter/index.ts";
export type {
  AdapterEnv,
  AdapterYield,
  Cursor,
  FileStamp,
  Inventory,
  Issue,
  IssueKind,
  OpenedPlace,
  Place,
  RecordHashes,
  StateDigest,
  StoredHashes,
  ToldState,
  Unit,
} from "./kit/sources/index.ts";
export type { ContextRule, HandedTokens, Loss } from "./kit/foreign/index.ts";
export type {
  FileComparison,
  Restored,
  RestoredFile,
  RestoredLog,
  Resume,
  SerializeOptions,
} from "./kit/restore/index.ts";
export type { SpanAdapter, SpanRef, SpanTree } from "./kit/spans/index.ts";
export {
  committedSession,
  digestOf,
  isSameStamp,
  isSettled,
  linkTo,
  locate,
  NO_RECORDS,
  isRawLine,
  stampNow,
  STAGING,
} from "./kit/sources/index.ts";
export {
  compareFile,
  FileComparer,
  describeDifference,
  isEqualFile,
  printFile,
  toldBy,
} from "./kit/restore/index.ts";
export {
  differenceToHandedOver,
  handedOver,
  messagesBehind,
  messagesSaying,
  tokensOf,
} from "./kit/foreign/index.ts";
export { hasSpans, openSpanTree } from "./kit/spans/index.ts";
