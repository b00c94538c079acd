/**
 * Survival of a power cut on local disks. The engine commits by rename and hard link but never calls fsync,
 * so what it reported stored may be gone after a crash of the machine. Before pond reports anything stored,
 * the new files and the directories that name them are synced here: the documented exception to
 * spec.md#lance-chokepoints-storage. On the way their checksums are taken (spec.md#storage-checksums).
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { filesBelow, ignoreMissing } from "./files.ts";
import type { Sum } from "./sums.ts";
import { appendSums, isSummed, keepVersion, readSums, sumName, sumOf } from "./sums.ts";

/** Kernels write dirty pages back within about half a minute; older files need no second sync. */
const WRITTEN_BACK_MS = 10 * 60_000;
/** Rewritten at every commit and only a hint: the engine ignores one that is damaged. */
const HINT_FILE = "latest_version_hint.json";
const PARALLEL = 8;

export class Durability {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #sync: (path: string) => Promise<void>;
  #settled: ReadonlySet<string> | undefined;

  /**
   * @param dir the table's own directory
   * @param sync makes one file or directory durable
   */
  constructor(dir: string, clock: Clock, sync: (path: string) => Promise<void> = syncPath) {
    this.#dir = dir;
    this.#clock = clock;
    this.#sync = sync;
  }

  /**
   * Syncs every file that appeared since the last call, whoever wrote it: a commit stands on the files of the
   * commits before it, also on those of a writer that was killed before it could sync them.
   */
  async settle(): Promise<void> {
    const names = await this.#list();
    const settled = this.#settled;
    const fresh = settled === undefined ? this.#recent(names) : names.filter((name) => !settled.has(name));
    // What is committed stays so where its checksums cannot be kept: it is one file less that can be proven.
    const summed = this.#sum(fresh).catch((error: unknown) => {
      if (errnoOf(error) === undefined) throw error;
    });
    const [synced] = await Promise.allSettled([this.#syncAll(fresh), summed]);
    if (synced.status === "rejected") throw synced.reason;
    await summed;
    this.#settled = new Set(names);
  }

  async #syncAll(fresh: readonly string[]): Promise<void> {
    await inParallel(fresh, (name) => this.#sync(join(this.#dir, name)));
    const directories = new Set(fresh.flatMap(ancestors).map((name) => join(this.#dir, name)));
    // Once: the table's own entry in its namespace, and that one's in the store.
    if (this.#settled === undefined)
      for (const path of [this.#dir, dirname(this.#dir), dirname(dirname(this.#dir))]) directories.add(path);
    await inParallel([...directories], this.#sync);
  }

  /** Of files that have none yet: another process may have come to them first. */
  async #sum(fresh: readonly string[]): Promise<void> {
    const unsummed = fresh.filter((name) => isSummed(sumName(name)));
    if (unsummed.length === 0) return;
    const known = this.#settled === undefined ? await readSums(this.#dir) : undefined;
    const sums = new Map<string, Sum>();
    await inParallel(unsummed, async (name) => {
      if (known?.has(sumName(name)) === true) return;
      const path = join(this.#dir, name);
      const [sum, info] = [await sumOf(path), statSync(path, { throwIfNoEntry: false })];
      // Who wrote it before this process ran came to no checksum: nobody knows what the file was then.
      const isLate = info !== undefined && info.mtimeMs < performance.timeOrigin;
      if (sum !== undefined) sums.set(sumName(name), isLate ? { ...sum, isLate } : sum);
    });
    await appendSums(this.#dir, sums);
    await keepVersion(this.#dir);
  }

  async #list(): Promise<string[]> {
    const paths = await filesBelow(this.#dir);
    return paths
      .filter((path) => basename(path) !== HINT_FILE)
      .map((path) => path.slice(this.#dir.length + 1))
      .filter((name) => !name.startsWith("_sums"));
  }

  /** One synchronous call a file: a table may have thousands, and as promises they take ten times as long. */
  #recent(names: readonly string[]): readonly string[] {
    const since = this.#clock.now() - WRITTEN_BACK_MS;
    return names.filter((name) => {
      const info = statSync(join(this.#dir, name), { throwIfNoEntry: false });
      return info !== undefined && info.mtimeMs >= since;
    });
  }
}

/** The directories from a file up to the table's own, which is "". */
function ancestors(name: string): string[] {
  const parent = dirname(name);
  return parent === "." ? [""] : [parent, ...ancestors(parent)];
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r").catch(ignoreMissing);
  if (file === undefined) return;
  try {
    await file.sync();
  } catch (error) {
    // Some systems cannot sync a directory or a file that is open for reading; there is nothing better to do.
    if (!["EPERM", "EINVAL", "EISDIR", "EBADF", "EROFS"].includes(errnoOf(error) ?? "")) throw error;
  } finally {
    await file.close();
  }
}
