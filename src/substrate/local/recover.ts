/**
 * Opening a local table after a crash of the machine (spec.md#storage-durability). Commits appear as whole
 * files, so a killed process leaves nothing to repair. A power cut can leave the newest commit torn, which
 * by then had not been reported stored: its manifest is moved to quarantine, and the commit before it is
 * the newest.
 */
import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, stat } from "node:fs/promises";
import { uptime } from "node:os";
import { basename, dirname, join } from "node:path";
import { errnoOf, PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import { makeFolders } from "../../base/files/folders.ts";
import { QUARANTINE } from "./files.ts";
import { forgetSum, putBackNewest } from "./sums.ts";

/** What was found wrong and mended on the way: a torn commit, or derived data that was made again. */
export interface RecoveryIssue {
  readonly kind: "commit" | "index";
  readonly table: string;
  readonly message: string;
  /** Where the manifest of a torn commit is now. */
  readonly quarantined?: string;
}

export interface RecoverOptions {
  readonly now: number;
  /**
   * Also look at the files that the newest commit names: after a reboot, or when the engine could not open
   * it.
   */
  readonly deep?: boolean;
}

const MAGIC = "LANC";
/** The manifest's position (8 bytes), format version (4), magic (4). */
const FOOTER_BYTES = 16;
/** Only what was in flight when the machine stopped may be torn. Older damage is not ours to roll back. */
const IN_FLIGHT_MS = 120_000;

/**
 * Checks the newest commit of a table directory and rolls back what a crash tore. Changes nothing
 * otherwise.
 */
export async function recoverTable(directory: string, options: RecoverOptions): Promise<RecoveryIssue[]> {
  const issues: RecoveryIssue[] = [];
  let since: number | undefined;
  await putBackNewest(directory);
  for (;;) {
    const [newest, ...older] = await manifests(directory);
    if (newest === undefined) {
      if (issues.length > 0) await setAside(directory);
      return issues;
    }
    const { mtimeMs } = await stat(newest);
    since ??= mtimeMs - IN_FLIGHT_MS;
    const problem = await problemOf(
      directory,
      newest,
      options.deep === true || wroteBeforeBoot(mtimeMs, options.now),
    );
    if (problem === undefined) return issues;
    if (mtimeMs < since) throw damaged(directory, `${newest}: ${problem}`);
    if (older.length === 0 && (await hasData(directory)))
      throw damaged(directory, `${newest}: ${problem}, and there is no older version`);
    issues.push({
      kind: "commit",
      table: directory,
      message: `${newest}: ${problem}`,
      quarantined: await quarantine(directory, newest),
    });
  }
}

const wroteBeforeBoot = (mtimeMs: number, now: number): boolean => mtimeMs < now - uptime() * 1000;

/** Newest first: names count down from 2^64. */
async function manifests(directory: string): Promise<string[]> {
  const folder = join(directory, "_versions");
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
  return names
    .filter((name) => /^\d+\.manifest$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

async function problemOf(directory: string, manifest: string, deep: boolean): Promise<string | undefined> {
  const bytes = await readFile(manifest);
  const torn = tornManifest(bytes);
  if (torn !== undefined || !deep) return torn;
  for (const file of await tornFiles(directory))
    if (standsOn(bytes, file)) return `names ${file}, which is torn`;
  return undefined;
}

function tornManifest(bytes: Buffer): string | undefined {
  if (bytes.length < FOOTER_BYTES) return `only ${bytes.length} bytes long`;
  if (bytes.toString("latin1", bytes.length - 4) !== MAGIC) return "its end is missing";
  const position = Number(bytes.readBigUInt64LE(bytes.length - FOOTER_BYTES));
  if (position + 4 > bytes.length - FOOTER_BYTES) return "its end does not fit its content";
  const length = bytes.readUInt32LE(position);
  if (length === 0 || position + 4 + length > bytes.length) return "a part of it is missing";
  return bytes.subarray(position + 4, position + 4 + length).every((byte) => byte === 0)
    ? "a part of it is zeros"
    : undefined;
}

/**
 * Engine files that do not end as they should, as paths within the table. Leftovers of killed writers are
 * among them.
 */
async function tornFiles(directory: string): Promise<string[]> {
  const torn: string[] = [];
  for (const folder of ["data", "_indices"])
    for (const entry of await readdir(join(directory, folder), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => [])) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && entry.name.endsWith(".lance") && (await isTorn(path)))
        torn.push(path.slice(directory.length + 1));
    }
  return torn;
}

async function isTorn(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size < FOOTER_BYTES) return true;
    const end = Buffer.alloc(4);
    await file.read(end, 0, 4, size - 4);
    return end.toString("latin1") !== MAGIC;
  } finally {
    await file.close();
  }
}

/** Data files stand in a manifest by name, indexes by the 16 bytes of their id. */
function standsOn(manifest: Buffer, file: string): boolean {
  const [folder, first = ""] = file.split(/[\\/]/);
  return manifest.includes(folder === "_indices" ? Buffer.from(first.replaceAll("-", ""), "hex") : first);
}

const hasData = async (directory: string): Promise<boolean> =>
  (await readdir(join(directory, "data")).catch(() => [])).length > 0;

async function quarantine(directory: string, manifest: string): Promise<string> {
  const target = join(directory, QUARANTINE, manifest.slice(dirname(manifest).length + 1));
  try {
    makeFolders(dirname(target));
    await rename(manifest, target);
    await forgetSum(directory, `_versions/${basename(manifest)}`);
  } catch (error) {
    // Another process may have moved it first.
    if (errnoOf(error) !== "ENOENT")
      throw damaged(directory, `${manifest} is torn and cannot be moved away`, error);
  }
  return target;
}

/** A table without a version is none; out of the way it can be made again. */
const setAside = (directory: string): Promise<void> =>
  rename(directory, join(dirname(directory), `pond_torn_${randomUUID()}.lance`));

export const damaged = (directory: string, message: string, cause?: unknown): PondError =>
  new PondError("storage_unavailable", `${directory} is damaged: ${message}`, {
    reason: "corrupt",
    hint: sentence`run ${{ do: "repair" }}`,
    cause,
  });
