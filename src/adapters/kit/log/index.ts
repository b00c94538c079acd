/** Logs of JSON lines. */
export type { BadLine, JsonlItem, JsonlRecord, JsonlStart, ReadJsonlOptions } from "./jsonl.ts";
export { JsonlSplitter, readJsonl } from "./jsonl.ts";
export { JsonlLog } from "./jsonl-log.ts";
export type { LogReading, RecordMapping } from "./read-log.ts";
export { Committed, tellLog, untilUnreadable } from "./read-log.ts";
export type { LogEvidence, LogFormat, LogHead } from "./log-reader.ts";
export { logReader } from "./log-reader.ts";
