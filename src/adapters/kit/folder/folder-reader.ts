/** Reads a folder of JSON files, one a record, each rewritten in place while pond looks. A fault is reported once. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { errnoOf } from "../../../base/errors.ts";
import type { DocumentValue } from "../document/document.ts";
import { MAX_FILE_BYTES, parseFile, sideFileRecord, tooLong } from "../document/document.ts";
import { stemOf } from "../files/path-names.ts";
import type { SideRecord } from "../session/side-record.ts";
import type { SourceFault } from "../sources/issue.ts";

const EXTENSION = ".json";

/** One file of the folder. */
export interface JsonFile {
  readonly value: DocumentValue;
  /** Its name without the extension. */
  readonly stem: string;
  /** Milliseconds since 1970 of its last change. */
  readonly at: number;
  readonly bytes: number;
}

export class FolderReader {
  readonly folder: string;
  #faults: SourceFault[] = [];
  readonly #seen = new Set<string>();
  readonly #unreadable = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Undefined when the file is gone: clients remove records while pond looks. */
  read(path: string): JsonFile | undefined {
    const file = this.#load(path);
    if (file === undefined) return undefined;
    const { value, fault } = parseFile(file.data);
    if (fault !== undefined) this.#report({ path, ...fault });
    return { value, stem: stemOf(basename(path), EXTENSION), at: file.at, bytes: file.data.length };
  }

  /** The JSON files of a folder, by name; none where there is no such folder. Undefined where it cannot be listed. */
  list(folder: string): readonly string[] | undefined {
    const path = join(this.folder, folder);
    try {
      return readdirSync(path)
        .filter((name) => name.endsWith(EXTENSION))
        .toSorted();
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      this.#report({ kind: "unreadable", path, message: messageOf(error) });
      return undefined;
    }
  }

  /** Files that are no records, each kept whole. */
  *sideRecords(files: readonly { readonly path: string }[]): Generator<SideRecord> {
    for (const { path } of files) {
      const loaded = this.#load(path);
      const file = path.slice(this.folder.length + 1).replaceAll("\\", "/");
      if (loaded === undefined) {
        if (this.isFaulty(path))
          yield { name: `file:${file}`, source: { file }, at: 0, bytes: 0, isUnreadable: true };
        continue;
      }
      const { fault } = parseFile(loaded.data);
      if (fault !== undefined) this.#report({ path, ...fault });
      yield sideFileRecord(file, loaded.data, loaded.at);
    }
  }

  /** True where something could not be read. */
  get hasFaults(): boolean {
    return this.#unreadable.size > 0;
  }

  isFaulty(path: string): boolean {
    return this.#unreadable.has(path);
  }

  takeFaults(): readonly SourceFault[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  /** Files are many and small: one that is read at once costs a tenth of one that is waited for. */
  #load(path: string): { readonly data: Buffer; readonly at: number } | undefined {
    try {
      const { size, mtimeMs } = statSync(path);
      if (size <= MAX_FILE_BYTES) return { data: readFileSync(path), at: Math.floor(mtimeMs) };
      this.#report({ kind: "too_long", path, message: tooLong(size) });
      return undefined;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      this.#report({ kind: "unreadable", path, message: messageOf(error) });
      return undefined;
    }
  }

  /** A file is read more than once, its fault is told once. */
  #report(fault: SourceFault): void {
    if (fault.kind === "unreadable") this.#unreadable.add(fault.path);
    if (this.#seen.has(fault.path)) return;
    this.#seen.add(fault.path);
    this.#faults.push(fault);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
