/**
 * The files of a lineage, each path once (spec.md#adapter-restore-paths). Two copies of a session may both belong to a
 * lineage: what is equal is one file, what differs stands beside the first under a name of its own.
 */
import { PondError } from "../../../base/errors.ts";
import { equalJson } from "../../../base/json/json.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import type { RawLine } from "../files/raw-line.ts";
import type { RestoredFile } from "./restore.ts";
import { isRawLine } from "../files/raw-line.ts";
import { copyId } from "../sources/source-name.ts";

export class RestoredFiles {
  readonly #files = new Map<string, RestoredFile>();

  /** Adds a file of the session `owner` and tells the path that it has now. */
  add(file: RestoredFile, owner: string): string {
    const free = [file.path, pathAside(file.path, owner)].find((path) => {
      const there = this.#files.get(path);
      return there === undefined || isSameContent(there, file);
    });
    if (free === undefined)
      throw new PondError("validation_failed", `session ${owner} has two files named ${file.path}`, {
        reason: "corrupt",
        hint: "restore its sessions one by one",
      });
    if (!this.#files.has(free)) this.#files.set(free, { ...file, path: free });
    return free;
  }

  list(): readonly RestoredFile[] {
    return [...this.#files.values()];
  }
}

/** Before the first dot of the name, so that `.meta.json` stays what it is. */
function pathAside(path: string, owner: string): string {
  const name = path.lastIndexOf("/") + 1;
  const dot = path.indexOf(".", name);
  const end = dot === -1 ? path.length : dot;
  return path.slice(0, end) + copyId("", owner) + path.slice(end);
}

function isSameContent(a: RestoredFile, b: RestoredFile): boolean {
  if (a.kind === "bytes") return b.kind === "bytes" && Buffer.compare(a.data, b.data) === 0;
  if (a.kind === "json") return b.kind === "json" && equalJson(a.value, b.value);
  if (a.kind !== "jsonl" || b.kind !== "jsonl" || a.records.length !== b.records.length) return false;
  return a.records.every((record, index) => isSameRecord(record, b.records[index]));
}

function isSameRecord(a: JsonValue | RawLine, b: JsonValue | RawLine | undefined): boolean {
  if (b === undefined) return false;
  if (isRawLine(a) || isRawLine(b)) return isRawLine(a) && isRawLine(b) && Buffer.compare(a.raw, b.raw) === 0;
  return equalJson(a, b);
}
