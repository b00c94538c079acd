/** Logs of JSON lines. */
export type { JsonlItem, JsonlRecord } from "./jsonl.ts";
export { JsonlSplitter, readJsonl } from "./jsonl.ts";
export { JsonlLog } from "./jsonl-log.ts";
export type { LogReading } from "./read-log.ts";
export { Committed, emitLog, untilUnreadable } from "./read-log.ts";
export type { LogEvidence, LogHead } from "./log-reader.ts";
export { logReader } from "./log-reader.ts";
/** @public For adapters that are written elsewhere. */
export type { LogFormat } from "./log-reader.ts";
/** @public For a client whose records fit no table. */
export type { RecordMapping } from "./read-log.ts";
