/** What pond remembers beside the store: cursors, the sync lock, which store is where. Losing any of it costs time only. */
export type { Reached, SourceName } from "./cursors.ts";
export { Cursors } from "./cursors.ts";
export type { LastSync, RememberedWait } from "./last-sync.ts";
export { lastSync, rememberSync } from "./last-sync.ts";
export { acquireLock, isLockLeftBehind } from "./lock.ts";
export { makePrivate, makeStorePrivate } from "./private.ts";
export { knownReaderId, readerId } from "./reader.ts";
export type { StoreAddress, StoreFacts } from "./stores.ts";
export { knownCursors, rememberStore } from "./stores.ts";
