/** The complete public surface of the package: every name here is API, and test/package.test.ts holds the list. */
export { isPondError, PondError } from "./base/errors.ts";
export type { ErrorCode, ErrorDetails, ErrorReason } from "./base/errors.ts";

// Keys and the canonical types that trees are made of.
export { describeKey, messageId, partAuthor, partId, sessionId } from "./model/index.ts";
export type {
  Author,
  EntityKey,
  Lineage,
  Message,
  MessageId,
  MessageKey,
  Part,
  PartId,
  PartKey,
  PartType,
  Session,
  SessionId,
  SessionKey,
  SessionState,
} from "./model/index.ts";

// Trees in stages: what there is, where it is, what it says.
export {
  hydrateTree,
  lineageOf,
  loadTree,
  planParts,
  planTree,
  resolveTree,
  sessionsIn,
  stateOf,
} from "./model/index.ts";
export type {
  MessageNode,
  MessagePlan,
  MessageRange,
  PartNode,
  PartPlan,
  PlanNode,
  RefTree,
  SessionNode,
  SessionPlan,
  Staged,
  TreeIssue,
  TreeScope,
  TreeSource,
} from "./model/index.ts";

// Where trees come from: the store (`store.tree()`), or the files of a client.
export { openSessionStore } from "./sessions/index.ts";
export type { RowRef, SessionStore, Storage } from "./sessions/index.ts";
export { adapterNamed, hasSpans, openSpanTree } from "./adapters/index.ts";
export type { SpanAdapter, SpanRef, SpanTree } from "./adapters/index.ts";
