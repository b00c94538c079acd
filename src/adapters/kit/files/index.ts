/** A file as it is read: its bytes and text, its stamp, and the digests of its records. */
export { fileTime } from "./file-time.ts";
export { SourceFile } from "./source-file.ts";
export { hashedFrom, TailHash } from "./tail-hash.ts";
export type { RawLine } from "./raw-line.ts";
export { isRawLine } from "./raw-line.ts";
export type { RecordHashes, StateDigest } from "./record-chain.ts";
export { bytesHash, digestOf, linkTo, NO_RECORDS, recordHash } from "./record-chain.ts";
export type { LogMark } from "./record-chain.ts";
export { decodeText } from "./text-file.ts";
export type { FileStamp } from "./stamp.ts";
export { isSameStamp, isSettled, settledFrom } from "./stamp.ts";
export { uuidFrom, valueHash } from "../../../base/json/value-hash.ts";
export type { ZstdFault } from "./zstd.ts";
export { readZstd } from "./zstd.ts";
