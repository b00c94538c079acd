/** Files that a restore gives back, and their comparison with a source. */
export { compareFile, describeDifference, FileComparer, isEqualFile } from "./compare.ts";
export type { FileComparison } from "./compare.ts";
export type { RecordGroup } from "./record-groups.ts";
export { recordedDirectories } from "./recorded-directories.ts";
export type {
  Restored,
  Resume,
  RestoredFile,
  RestoredLog,
  RestoredRow,
  RestoredRows,
  RestoredTable,
  SerializeOptions,
} from "./restore.ts";
export { printFile } from "./restore.ts";
export { RestoredFiles } from "./restored-files.ts";
export { contentOf } from "./record-content.ts";
export type { LogInClient } from "./native-logs.ts";
export { logHashes, logLines, serializeLogs, sourceOf, withUnmapped } from "./native-logs.ts";
/** @public For adapters that are written elsewhere. */
export type { NativeLogs } from "./native-logs.ts";
