/**
 * A client's SQLite database, read without creating or changing a file beside it (spec.md#adapter-source-untouched).
 * - `-wal` with `-shm`: opened in place, the shared memory read-only. The write-ahead log is read, and where the
 *   client runs, its locks are respected.
 * - No or an empty `-wal`: opened in place as immutable; `isUntouched` tells whether a writer came meanwhile.
 * - `-wal` without `-shm`, or a rollback journal: even a read-only open would have to write, so a copy in pond's
 *   scratch folder is opened, a reflink where the file system has them.
 */
import { constants, statSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { errnoOf, PondError } from "../../../base/errors.ts";
import { makeFolders } from "../../../base/files/folders.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { decodeUtf8 } from "../../../base/json/json.ts";
import type { FolderUse } from "../../../base/files/unusable.ts";
import { STATE, unusable } from "../../../base/files/unusable.ts";
import type { FileStamp } from "../files/stamp.ts";
import { stampOf } from "../files/stamp.ts";

/** More than this is not copied: the disk that pond would fill is not its own. */
export const MAX_COPY_BYTES = 4 * 1024 ** 3;

/** A client that checkpoints may hold its locks for a moment. */
const BUSY_TIMEOUT_MS = 5000;

/** A client that writes all the time cannot be copied; it has an `-shm` anyway. */
const COPY_ATTEMPTS = 3;

export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** How the database was opened. */
export type SqliteAccess = "live" | "immutable" | "copy";

export class SqliteFile implements AsyncDisposable {
  readonly path: string;
  readonly access: SqliteAccess;
  readonly #database: DatabaseSync;
  readonly #before: readonly FileStamp[];
  readonly #copy: string | undefined;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string, opened: Opened) {
    this.path = path;
    this.access = opened.access;
    this.#database = opened.database;
    this.#before = opened.before;
    this.#copy = opened.copy;
  }

  /** `scratch` is a folder of pond's own. Throws a PondError when the database cannot be read. */
  static async open(path: string, scratch: string): Promise<SqliteFile> {
    return new SqliteFile(path, await openDatabase(path, scratch));
  }

  /** Every row of the answer. Integers come as bigint, so that none is rounded. */
  all(sql: string, ...parameters: readonly (string | number)[]): SqlRow[] {
    return this.#attempt(() => this.#prepare(sql).all(...parameters));
  }

  /** Row by row, for answers that may be long. One iteration of a statement at a time. */
  *iterate(sql: string, ...parameters: readonly (string | number)[]): Generator<SqlRow> {
    const rows = this.#attempt(() => this.#prepare(sql).iterate(...parameters));
    for (;;) {
      const next = this.#attempt(() => rows.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  /**
   * A row as JSON values. Text whose bytes are not UTF-8 is read with replacement characters, so where there is one
   * the bytes are looked at, and kept as a blob if they are another text. `key` names the row.
   */
  exact(table: string, row: SqlRow, key: string): JsonObject {
    const exact: Record<string, JsonValue> = {};
    for (const column of Object.keys(row)) exact[column] = this.exactValue(table, row, { column, key });
    return exact;
  }

  /** One column of such a row. */
  exactValue(
    table: string,
    row: SqlRow,
    { column, key }: { readonly column: string; readonly key: string },
  ): JsonValue {
    const value = row[column] ?? null;
    const isDoubtful = typeof value === "string" && value.includes("\uFFFD");
    return jsonOfSql(isDoubtful ? this.#bytesOf(table, row, { name: column, key }) : value);
  }

  #bytesOf(
    table: string,
    row: SqlRow,
    { name, key }: { readonly name: string; readonly key: string },
  ): SqlValue {
    const id = row[key];
    const [found] = this.all(
      `SELECT CAST("${name}" AS BLOB) AS bytes FROM "${table}" WHERE "${key}" = ?`,
      typeof id === "string" || typeof id === "number" ? id : String(id),
    );
    const bytes = found?.["bytes"];
    return bytes instanceof Uint8Array && !decodeUtf8(bytes).ok ? bytes : (row[name] ?? null);
  }

  /** The columns of a table, in order; none when there is no such table. */
  columns(table: string): readonly string[] {
    return this.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name));
  }

  /** Until it is disposed of, all reads see one state of the database. */
  transaction(): Disposable {
    this.#attempt(() => this.#database.exec("BEGIN"));
    return { [Symbol.dispose]: () => this.#database.exec("COMMIT") };
  }

  /** False when a writer came while an immutable database was read: what was read since may be torn. */
  isUntouched(): boolean {
    return this.access !== "immutable" || isSameList(this.#before, stampsOf(this.path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#statements.clear();
    this.#database.close();
    if (this.#copy !== undefined) await rm(this.#copy, { recursive: true, force: true });
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  #attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}

/** A value of a column as JSON: exact integers, infinities as literals past every double, blobs as `{ blob }`. */
export function jsonOfSql(value: SqlValue): JsonValue {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : JSON.rawJSON(String(value));
  if (typeof value === "number" && !Number.isFinite(value))
    return JSON.rawJSON(value > 0 ? "9e999" : "-9e999");
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString("base64") };
  return value;
}

interface Opened {
  readonly access: SqliteAccess;
  readonly database: DatabaseSync;
  readonly before: readonly FileStamp[];
  readonly copy?: string;
}

async function openDatabase(path: string, scratch: string): Promise<Opened> {
  const before = stampsOf(path);
  const sizeOf = (suffix: string): number | undefined =>
    before.find((stamp) => stamp.path === path + suffix)?.size;
  if (sizeOf("") === undefined)
    throw new PondError("not_found", `${path} is not there`, { hint: "was it moved or deleted?" });
  const hasLog = (sizeOf("-wal") ?? 0) > 0;
  if ((sizeOf("-journal") ?? 0) > 0) return openCopy(path, scratch);
  if (!hasLog) return { access: "immutable", database: await connect(path, { immutable: "1" }), before };
  if (sizeOf("-shm") === undefined) return openCopy(path, scratch);
  try {
    return { access: "live", database: await connect(path, { readonly_shm: "1" }), before };
  } catch {
    // Shared memory that another system left behind, for example: the copy makes its own.
    return openCopy(path, scratch);
  }
}

/** Opens in place and reads once, because SQLite looks at a file only when it must. */
async function connect(path: string, parameters: Readonly<Record<string, string>>): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const address = pathToFileURL(path);
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const database = new Database(address, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  return verified(database, path);
}

async function openCopy(path: string, scratch: string): Promise<Opened> {
  const folder = await makeCopyFolder(scratch);
  try {
    const before = await copyStill(path, folder);
    const { DatabaseSync: Database } = await import("node:sqlite");
    // Writable, because a log or a journal without its shared memory is recovered by writing.
    const database = new Database(join(folder, basename(path)), { timeout: BUSY_TIMEOUT_MS });
    return { access: "copy", database: verified(database, path), before, copy: folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** What cannot be copied is the fault of this one source, and the others go on. */
const COPIES: FolderUse = { ...STATE, what: "the folder for copies of databases", code: "validation_failed" };

async function makeCopyFolder(scratch: string): Promise<string> {
  try {
    makeFolders(scratch);
    return await mkdtemp(join(scratch, "sqlite-"));
  } catch (error) {
    throw unusable(scratch, COPIES, error);
  }
}

/** Copies the database with its log between two equal looks at their stamps. */
async function copyStill(path: string, folder: string): Promise<readonly FileStamp[]> {
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt += 1) {
    const before = stampsOf(path).filter((stamp) => !stamp.path.endsWith("-shm"));
    const bytes = before.reduce((sum, { size }) => sum + size, 0);
    if (bytes > MAX_COPY_BYTES)
      throw new PondError(
        "validation_failed",
        `${path} needs a copy of ${bytes} bytes to be read, which is more than ${MAX_COPY_BYTES}`,
        {
          reason: "limit",
          hint: "start its client once and quit it: that folds the -wal file into the database",
        },
      );
    for (const stamp of before)
      await copyFile(stamp.path, join(folder, basename(stamp.path)), constants.COPYFILE_FICLONE).catch(
        (error: unknown) => {
          throw ["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? "") ? unusable(folder, COPIES, error) : error;
        },
      );
    const after = stampsOf(path).filter((stamp) => !stamp.path.endsWith("-shm"));
    if (isSameList(before, after)) return before;
  }
  throw new PondError("validation_failed", `${path} changes faster than it can be copied`, {
    reason: "busy",
    hint: "try again",
  });
}

function verified(database: DatabaseSync, path: string): DatabaseSync {
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): PondError {
  const message = error instanceof Error ? error.message : String(error);
  return new PondError("validation_failed", `${path}: ${message}`, { reason: "corrupt", cause: error });
}

const SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/** At once, because it is asked for again and again while a database is read. */
function stampsOf(path: string): readonly FileStamp[] {
  return SUFFIXES.flatMap((suffix) => {
    const stats = statSync(path + suffix, { throwIfNoEntry: false });
    return stats === undefined ? [] : [stampOf(path + suffix, stats)];
  });
}

/** The shared memory is left out: it changes when a client merely starts. */
function isSameList(a: readonly FileStamp[], b: readonly FileStamp[]): boolean {
  const text = (stamps: readonly FileStamp[]): string =>
    stamps
      .filter((stamp) => !stamp.path.endsWith("-shm"))
      .map(({ path, size, mtime, inode }) => `${path} ${size} ${mtime} ${inode}`)
      .join("\n");
  return text(a) === text(b);
}
