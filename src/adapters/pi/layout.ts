/** How pi names files: `<sessions>/--<directory>--/<instant>_<session id>.jsonl` (docs/adapters/pi.md#layout). */
import { isUuid } from "../../base/text.ts";
import { stemOf as stemIn } from "../kit/files/path-names.ts";

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "pi";

export const EXTENSION = ".jsonl";

const STAMPED = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:-\d+)?Z?_(.+)$/s;

/** A file's name without extension; either slash, as a recorded path may be of another machine. */
export const stemOf = (path: string): string => stemIn(path.replaceAll("\\", "/"), EXTENSION);

/** The session id in a file's name; undefined where the name is not one that pi gives. */
export function idInName(stem: string): string | undefined {
  return STAMPED.exec(stem)?.[1] ?? (isUuid(stem) ? stem : undefined);
}

/** The session that a header names as its parent: the path of its file, in newer versions also its id alone. */
export function idOfParent(recorded: string): string | undefined {
  const isPath = /[/\\]/.test(recorded) || recorded.endsWith(EXTENSION);
  const id = isPath ? idInName(stemOf(recorded)) : recorded;
  return id !== undefined && id !== "" && id.isWellFormed() ? id : undefined;
}

/** The folder in which pi keeps the sessions of a working directory. */
export function folderFor(directory: string): string {
  return `--${directory.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--`;
}

/** The file of a session that was started then (RFC 3339). */
export function fileNameFor(startedAt: string, id: string): string {
  return `${startedAt.replaceAll(/[:.]/g, "-")}_${id}${EXTENSION}`;
}
