/**
 * A place on disk, as a client, a backup program or a person leaves it: files are appended to, written anew in place or
 * replaced, rows are changed in a database that others may read, and a file cannot be read for a while.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { JsonValue } from "../../../src/base/json/json.ts";
import { allow, deny } from "./denied.ts";
import type { Rows } from "./source-model.ts";

export const WRITES = ["append", "in place", "replace"] as const;
export type Write = (typeof WRITES)[number];

/** `loop`: not even `stat` answers. `denied`: it says what it said before, and reading fails. */
export const FAULTS = ["loop", "denied"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Written {
  readonly how: Write;
  /** The mtime of what is written: milliseconds since 1970. */
  readonly at: number;
}

export interface DiskFolders {
  readonly root: string;
  /** The path by which others see the root while they look at it. */
  readonly seenAs: string;
  /** On the same disk, outside every place. */
  readonly aside: string;
}

export class Disk {
  readonly root: string;
  readonly seenAs: string;
  readonly #aside: string;
  /** What makes a file readable again, by path. */
  readonly #faults = new Map<string, () => void>();
  #spare = 0;

  constructor({ root, seenAs, aside }: DiskFolders) {
    this.root = root;
    this.seenAs = seenAs;
    this.#aside = aside;
    for (const folder of [root, aside]) mkdirSync(folder, { recursive: true });
  }

  /** Makes the files what they are to be; what was not named before or after is left alone. */
  write(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, written: Written): void {
    for (const path of before.keys()) if (!after.has(path)) this.#remove(path);
    for (const [path, content] of after) {
      const old = before.get(path);
      if (old === content && existsSync(join(this.root, path))) continue;
      this.heal(path);
      this.#put(path, { content, old }, written);
    }
  }

  writeRows(
    path: string,
    all: readonly { readonly before: Rows; readonly after: Rows }[],
    written: Written,
  ): void {
    this.heal(path);
    const target = join(this.root, path);
    const isNew = written.how === "replace" || !existsSync(target);
    const file = isNew ? this.#spareName() : target;
    if (isNew) writeFileSync(file, emptyDatabase());
    const database = new DatabaseSync(file);
    try {
      database.exec("BEGIN");
      for (const { before, after } of all) changeRows(database, isNew ? {} : before, after);
      database.exec("COMMIT");
    } finally {
      database.close();
    }
    if (isNew) {
      rmSync(target, { force: true });
      renameSync(file, target);
    }
    setTime(target, written.at);
  }

  /** False where there is no such file to make unreadable. */
  fault(path: string, fault: Fault): boolean {
    const target = join(this.root, path);
    if (this.#faults.has(path) || !existsSync(target)) return false;
    // A database is not opened by this process's own calls: it can only be out of reach.
    // What is denied is denied by its path, which the places of two machines share.
    if (fault === "denied" && !path.endsWith(".db") && this.seenAs === this.root) {
      const seen = join(this.seenAs, path);
      deny(seen);
      this.#faults.set(path, () => allow(seen));
      return true;
    }
    const away = this.#spareName();
    renameSync(target, away);
    symlinkSync(basename(target), target);
    this.#faults.set(path, () => {
      rmSync(target, { force: true });
      renameSync(away, target);
    });
    return true;
  }

  /** The file as it was, or nothing where it was readable. */
  heal(path: string): void {
    this.#faults.get(path)?.();
    this.#faults.delete(path);
  }

  healAll(): void {
    for (const path of this.#faults.keys()) this.heal(path);
  }

  isFaulty(paths: Iterable<string>): boolean {
    return [...paths].some((path) => this.#faults.has(path));
  }

  #put(
    path: string,
    { content, old }: { readonly content: string; readonly old: string | undefined },
    { how, at }: Written,
  ): void {
    const target = join(this.root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (how === "append" && old !== undefined && existsSync(target) && content.startsWith(old))
      appendFileSync(target, content.slice(old.length));
    else if (how === "in place") writeFileSync(target, content);
    else {
      const spare = this.#spareName();
      writeFileSync(spare, content);
      renameSync(spare, target);
    }
    setTime(target, at);
  }

  #remove(path: string): void {
    this.heal(path);
    rmSync(join(this.root, path), { force: true });
  }

  #spareName(): string {
    this.#spare += 1;
    return join(this.#aside, String(this.#spare));
  }
}

function setTime(path: string, at: number): void {
  utimesSync(path, at / 1000, at / 1000);
}

/** Rows are named by their id; a change of any column is an update, so that nothing else of the database moves. */
function changeRows(database: DatabaseSync, before: Rows, after: Rows): void {
  // Parents first when rows come, last when they go.
  const tables = ["session", "message", "part"];
  for (const table of tables.toReversed())
    for (const { id } of before[table] ?? [])
      if (!(after[table] ?? []).some((row) => row["id"] === id))
        database.prepare(`DELETE FROM "${table}" WHERE id = ?`).run(columnOf(id ?? null));
  for (const table of tables)
    for (const row of after[table] ?? []) {
      const names = Object.keys(row);
      database
        .prepare(
          `INSERT INTO "${table}" (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
           ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`,
        )
        .run(...names.map((name) => columnOf(row[name] ?? null)));
    }
}

function columnOf(value: JsonValue): string | number | null {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  return JSON.stringify(value);
}

const FIXTURE = join(import.meta.dirname, "../../fixtures/adapters/opencode/data/opencode.db");
const PROJECT = "b51df34b24502f63d708f5a8611fdff0551b1151";
let empty: Buffer | undefined;

/** The captured database without its sessions: every table that the client makes, and the project that they are of. */
function emptyDatabase(): Buffer {
  if (empty !== undefined) return empty;
  const folder = mkdtempSync(join(tmpdir(), "pond-test-"));
  try {
    const file = join(folder, "opencode.db");
    writeFileSync(file, readFileSync(FIXTURE));
    const database = new DatabaseSync(file);
    database.exec("PRAGMA foreign_keys = ON; PRAGMA journal_mode = DELETE; DELETE FROM session");
    database.prepare("DELETE FROM project WHERE id <> ?").run(PROJECT);
    database.exec("VACUUM");
    database.close();
    empty = readFileSync(file);
    return empty;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
