/** The instant of a source that tells none itself. */
import { PondError } from "../../../base/errors.ts";
import type { Timestamp } from "../../../model/index.ts";
import { timestampFromMillis } from "../../../model/index.ts";
import type { FileStamp } from "./stamp.ts";

/** The oldest of the files' times. */
export function fileTime(files: readonly FileStamp[]): Timestamp {
  const oldest = Math.min(...files.map(({ mtime }) => mtime));
  const time = timestampFromMillis(oldest);
  if (time !== undefined) return time;
  throw new PondError("internal", `the time of ${files[0]?.path} is out of range: ${oldest}`);
}
