/** `pond-db/adapters`: the clients pond knows, what an adapter is, and their files as trees without a store. */
export { adapterNamed, adapters, hasSpans, openSpanTree } from "../adapters/index.ts";
export type {
  Adapter,
  AdapterEnv,
  AdapterYield,
  Cursor,
  Issue,
  IssueKind,
  Place,
  SpanAdapter,
  SpanRef,
  SpanTree,
  Unit,
} from "../adapters/index.ts";
export type { Loss, Restored, RestoredFile, SerializeOptions } from "../adapters/restore.ts";
