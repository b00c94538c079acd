/** The door to the clients and to reading them, for the rooms above. What restores need is in restore.ts. */
export { adapterNamed, adapters, placesThatExist } from "./registry.ts";
export type { Adapter, Lineage, PresentSession } from "./kit/adapter/index.ts";
export type {
  AdapterEnv,
  AdapterYield,
  Cursor,
  Inventory,
  Issue,
  IssueKind,
  OpenedPlace,
  Place,
  StoredHashes,
  ReadState,
  Unit,
} from "./kit/sources/index.ts";
export type { FileStamp, RecordHashes, StateDigest } from "./kit/files/index.ts";
export type { SpanAdapter, SpanRef, SpanTree } from "./kit/spans/index.ts";
export { locate, stampNow, STAGING } from "./kit/sources/index.ts";
export { digestOf, isSameStamp, isSettled, linkTo, NO_RECORDS, isRawLine } from "./kit/files/index.ts";
export { hasSpans, openSpanTree } from "./kit/spans/index.ts";
