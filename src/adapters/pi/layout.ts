/** How pi names files: `<sessions>/--<directory>--/<instant>_<session id>.jsonl` (docs/adapters/pi.md#layout). */
import { isUuid } from "../../base/text.ts";

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "pi";

export const EXTENSION = ".jsonl";

const STAMPED = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:-\d+)?Z?_(.+)$/s;

/** The file's name without folder and extension; either slash, as a recorded path may be of another machine. */
export function stemOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : name;
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

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
