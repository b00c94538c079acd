/** What pond remembers beside the store: cursors and the sync lock. Losing any of it costs time only. */
export type { SourceName } from "./cursors.ts";
export { Cursors } from "./cursors.ts";
export type { Holder, LockOptions } from "./lock.ts";
export { acquireLock } from "./lock.ts";
