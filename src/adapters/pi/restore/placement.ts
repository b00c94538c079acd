/** Where pi keeps a session, for the files that restore writes (docs/adapters/pi.md#layout). */
import type { Timestamp } from "../../../model/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { EXTENSION } from "../layout.ts";

/** The folder in which pi keeps the sessions of a working directory. */
export function folderFor(directory: string): string {
  return `--${directory.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--`;
}

export function fileNameFor(instant: Timestamp, id: string): string {
  return `${formatTimestamp(instant).replaceAll(/[:.]/g, "-")}_${id}${EXTENSION}`;
}
