/**
 * Who may write to a table of a local disk (spec.md#storage-append): one process alone, which may then append what it has
 * found absent, or any number that merge, build indexes or compact. The engine's append never notices what others commit
 * (measured: one beside three merges stored 1,800 of 6,000 rows twice), so nothing but a lock makes it safe.
 *
 * The lock is a SQLite file of its own for each table. The kernel frees it with the last thread of its holder: no pid, no
 * lease and no age that could be wrong. A holder that is stopped is waited for and never taken over.
 *
 * Locks of POSIX belong to the process and a file: whoever opens and closes the lock file by `fs` in this process drops
 * the lock without a word. Hence a folder that nobody syncs, lists, copies or hashes, and only `stat`, `link` and SQLite here.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type * as Sqlite from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, PondError, toPondError } from "../../base/errors.ts";
import { makeFolders } from "../../base/files/folders.ts";
import type { StorageUrl } from "../engine/storage-url.ts";
import { ignoreMissing } from "./files.ts";
import { isLocalDisk } from "./local-disk.ts";

/** Beside the tables, and none of them. */
const FOLDER = ".locks";
/** How long a merger waits for one who appends: a batch takes a fifth of a second. */
const SHARED_WAIT_MS = 60_000;
const POLL_MS = { first: 5, last: 100 };

type Mode = "exclusive" | "shared";
type Attempt = "held" | "busy" | "replaced";

interface Opened {
  readonly database: Sqlite.DatabaseSync;
  /** Of the file that was opened. */
  readonly inode: bigint;
}

const locks = new Map<string, WriterLock>();
/** The ones that whoever asks holds already, in either way. */
const held = new AsyncLocalStorage<readonly WriterLock[]>();

/** The lock of a table by its folder: one for all stores of this process that have it open. Give it back by `leave`. */
export function joinWriterLock(directory: string): WriterLock {
  const path = join(dirname(directory), FOLDER, `${basename(directory, ".lance")}.sqlite`);
  const lock = locks.get(path) ?? new WriterLock(path);
  locks.set(path, lock);
  lock.users++;
  return lock;
}

/** How long another one's work is waited for. */
const WORK_WAIT_MS = 10 * 60_000;

/** Runs alone in work of a kind on a local store; undefined, without having run, where another's takes too long. */
export async function withStoreLock<T>(
  url: StorageUrl,
  { namespace, kind, clock }: { readonly namespace: string; readonly kind: string; readonly clock: Clock },
  run: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  const root = url.kind === "local" ? join(url.href, namespace) : undefined;
  if (root === undefined || !(await isLocalDisk(root))) return { value: await run() };
  const lock = joinWriterLock(join(root, `pond_${kind}.lance`));
  try {
    return await lock.exclusive(clock, WORK_WAIT_MS, run);
  } finally {
    lock.leave();
  }
}

export class WriterLock {
  readonly #path: string;
  /** @internal */
  users = 0;
  /** One after the other: a connection has one transaction. */
  #turn: Promise<unknown> = Promise.resolve();
  #opened: Opened | undefined;
  /** How many of this process hold it together. */
  #sharers = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Runs alone among all processes. Undefined, without having run, where others hold it for longer than `waitMs`, or
   * others of this process hold it together.
   */
  exclusive<T>(
    clock: Clock,
    waitMs: number,
    run: () => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    return this.#inTurn(async () => {
      if (this.#sharers > 0 || !(await this.#acquire("exclusive", clock, waitMs))) return undefined;
      try {
        return { value: await this.#holding(run) };
      } finally {
        this.#release();
      }
    });
  }

  /** Runs beside others that hold it this way; throws `conflict` where one holds it alone for too long. */
  async shared<T>(clock: Clock, run: () => Promise<T>): Promise<T> {
    // An index that a look for keys finds damaged is made again by the one who holds the lock: it would wait for itself.
    if (held.getStore()?.includes(this) === true) return run();
    await this.#inTurn(async () => {
      if (this.#sharers === 0 && !(await this.#acquire("shared", clock, SHARED_WAIT_MS)))
        throw stillBusy(this.#path);
      this.#sharers++;
    });
    try {
      return await this.#holding(run);
    } finally {
      if (--this.#sharers === 0) this.#release();
    }
  }

  leave(): void {
    if (--this.users > 0) return;
    if (locks.get(this.#path) === this) locks.delete(this.#path);
    void this.#inTurn(async () => {
      if (this.users === 0 && this.#sharers === 0) this.#close();
    });
  }

  #holding<T>(run: () => Promise<T>): Promise<T> {
    return held.run([...(held.getStore() ?? []), this], run);
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(run);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #acquire(mode: Mode, clock: Clock, waitMs: number): Promise<boolean> {
    let waited = 0;
    let pause = POLL_MS.first;
    for (;;) {
      const attempt = this.#attempt(mode);
      if (attempt === "held") return true;
      if (attempt === "replaced") continue;
      if (waited >= waitMs) return false;
      await clock.sleep(Math.min(pause, waitMs - waited));
      waited += pause;
      pause = Math.min(pause * 2, POLL_MS.last);
    }
  }

  #attempt(mode: Mode): Attempt {
    try {
      const { database, inode } = this.#open();
      try {
        database.exec(mode === "exclusive" ? "BEGIN EXCLUSIVE" : "BEGIN");
        // A transaction locks nothing until it reads.
        if (mode === "shared") database.prepare("SELECT count(*) FROM sqlite_schema").get();
      } catch (error) {
        this.#release();
        if (isBusy(error)) return "busy";
        throw error;
      }
      // A copy of the store may have been put in its place: a lock on the old file excludes nobody.
      if (inodeOf(this.#path) === inode) return "held";
      this.#release();
      this.#close();
      return "replaced";
    } catch (error) {
      throw unusable(this.#path, error);
    }
  }

  /** Runs no SQL, which would fail while another holds it. */
  #open(): Opened {
    for (;;) {
      const inode = inodeOf(this.#path);
      if (this.#opened !== undefined && this.#opened.inode === inode) return this.#opened;
      this.#close();
      if (inode === undefined) {
        makeLockFile(this.#path);
        continue;
      }
      const database = new (sqlite().DatabaseSync)(this.#path, { timeout: 0 });
      this.#opened = { database, inode };
    }
  }

  #release(): void {
    const database = this.#opened?.database;
    if (database?.isTransaction === true) database.exec("ROLLBACK");
  }

  #close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }
}

/** Locks of a namespace that were being made: of killed processes, or for an instant. */
export async function draftLocks(namespace: string): Promise<readonly string[]> {
  const folder = join(namespace, FOLDER);
  const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
  return names.filter((name) => name.startsWith(DRAFT)).map((name) => join(folder, name));
}

const DRAFT = "draft-";

/** Made whole under another name and linked: of several that make it at once, the first one's stays. Never deleted. */
function makeLockFile(path: string): void {
  makeFolders(dirname(path));
  const draft = join(dirname(path), `${DRAFT}${randomUUID()}`);
  try {
    const database = new (sqlite().DatabaseSync)(draft);
    database.exec("CREATE TABLE pond_writer_lock (note TEXT)");
    database.close();
    linkSync(draft, path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** `stat` opens nothing, so that no lock is dropped by it. */
const inodeOf = (path: string): bigint | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

let loaded: typeof Sqlite | undefined;

/** Node announces it as experimental on stderr, where the output of a program that uses pond may be parsed. */
function sqlite(): typeof Sqlite {
  if (loaded !== undefined) return loaded;
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was
  const emit = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    loaded = process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emit;
  }
  return loaded;
}

/** SQLITE_BUSY in any of its extended forms. */
function isBusy(error: unknown): boolean {
  return sqliteCode(error) === 5;
}

function sqliteCode(error: unknown): number | undefined {
  const code: unknown = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code & 0xff : undefined;
}

function unusable(path: string, error: unknown): PondError {
  const code = sqliteCode(error) ?? 0;
  // SQLITE_FULL
  if (code === 13) return toPondError(Object.assign(new Error(`${path} cannot be made`), { code: "ENOSPC" }));
  // SQLITE_READONLY, SQLITE_CANTOPEN; below SQLITE_CORRUPT, SQLITE_NOTADB.
  if (code === 8)
    return new PondError("storage_unavailable", `the lock ${path} is on a disk that is mounted read-only`, {
      reason: "permission",
      hint: "mount it writable, or check the owner and mode of that path",
      cause: error,
    });
  if (code === 14)
    return new PondError("storage_unavailable", `the lock ${path} cannot be opened for writing`, {
      reason: "permission",
      hint: "check the owner and mode of that path",
      cause: error,
    });
  if ([11, 26].includes(code))
    return new PondError("storage_unavailable", `the lock ${path} is damaged`, {
      reason: "corrupt",
      hint: `end every pond that uses this store, then delete ${path}: it contains no data and is created again`,
      cause: error,
    });
  return toPondError(error);
}

function stillBusy(path: string): PondError {
  const table = basename(path, ".sqlite");
  const holders = holdersOf(path);
  const who = holders.length === 0 ? "another process" : `process ${holders.join(", ")}`;
  return new PondError(
    "conflict",
    `write to ${table}: ${who} has been writing to it for ${SHARED_WAIT_MS / 1000} s and holds ${path}`,
    {
      reason: "busy",
      hint: "resume it if it is suspended, or end it, then run this again; nothing was written twice",
      data: { table, path, holders },
    },
  );
}

/** Pids, as far as the kernel tells: of processes of another container it does not. */
function holdersOf(path: string): readonly number[] {
  const inode = inodeOf(path);
  try {
    const lines = readFileSync("/proc/locks", "utf8").split("\n");
    const pids = lines
      .filter((line) => line.includes(`:${inode} `) && line.includes("POSIX"))
      .map((line) => Number(line.trim().split(/\s+/)[4]));
    return [...new Set(pids)].filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}
