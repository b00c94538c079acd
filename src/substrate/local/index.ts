/** The files of a local store, for whoever checks and mends it: damage, lost tables, what is set aside, locks (spec.md#storage-no-garbage). */
export type { RecoveryIssue } from "./recover.ts";
export type { CheckOptions, Damage, TableCheck } from "./check.ts";
export { checkStore } from "./check.ts";
export type { ExpectedTable, MissingTables } from "./lost-tables.ts";
export { missingTables } from "./lost-tables.ts";
export {
  dropOldVersions,
  emptyQuarantine,
  forgetLost,
  listRemains,
  mendVersions,
  moveRemains,
  removeDerived,
  removeRemains,
} from "./set-aside.ts";
export { tidySums } from "./sums.ts";
export { withStoreLock } from "./writer-lock.ts";
