/**
 * Where Codex keeps sessions: `$CODEX_HOME`, else `~/.codex`, in it `sessions/**` and `archived_sessions/**`, and
 * the thread names in `session_index.jsonl`. Any other folder is searched as a whole (spec.md#adapter-clients).
 */
import { basename, dirname, join, relative, sep } from "node:path";
import { batchesOf, isFolder, issuesOf, keysBelow, stampFile, walk } from "../kit/sources/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../kit/sources/index.ts";
import type { FileStamp } from "../kit/files/index.ts";
import {
  ADAPTER,
  isCompressed,
  looksLikeLog,
  parseRolloutName,
  plainName,
  SESSION_INDEX,
  sessionIdOf,
} from "./layout.ts";

const SESSION_FOLDERS = ["sessions", "archived_sessions"];

export function defaultPlaces(machine: AdapterEnv): readonly Place[] {
  const variable = "CODEX_HOME";
  const configured = machine.env[variable];
  if (configured !== undefined && configured !== "")
    return [{ path: configured, origin: "environment", variable }];
  return [{ path: join(machine.home, ".codex"), origin: "default" }];
}

/** Every rollout below the place, the plain form where both are there, and the index of thread names. */
export async function* units(place: Place, signal?: AbortSignal): AsyncGenerator<readonly (Unit | Issue)[]> {
  const { found, issues } = await survey(place, signal);
  yield issues;
  yield* batchesOf(found);
}

export async function survey(
  place: Place,
  signal: AbortSignal | undefined,
): Promise<{ readonly found: readonly Unit[]; readonly issues: readonly Issue[] }> {
  const faults: { path: string; message: string }[] = [];
  const stamps = new Map<string, FileStamp>();
  for (const folder of await foldersOf(place)) {
    const walked = await walk(folder, { accepts: looksLikeLog, signal });
    faults.push(...walked.faults);
    for (const stamp of walked.files) keep(stamps, keyOf(place, stamp.path), stamp);
  }
  const index = await stampFile(join(place.path, SESSION_INDEX), faults);
  if (index !== undefined) keep(stamps, SESSION_INDEX, index);
  return { found: claimed(stamps), issues: issuesOf(faults, ADAPTER) };
}

/**
 * A home has its sessions in known folders, and much else beside them, of which only the folders that are named are
 * looked through; another folder is taken as it is.
 */
async function foldersOf({ path: place, within = [] }: Place): Promise<readonly string[]> {
  const homes: string[] = [];
  for (const name of SESSION_FOLDERS) if (await isFolder(join(place, name))) homes.push(join(place, name));
  if (homes.length === 0) return [place];
  const named = within.map((path) => (path.endsWith(sep) ? path.slice(0, -1) : dirname(path)));
  const isBeside = (folder: string): boolean =>
    relative(place, folder) !== "" && !homes.some((home) => (folder + sep).startsWith(home + sep));
  return [...homes, ...named.filter(isBeside)];
}

function keep(stamps: Map<string, FileStamp>, key: string, stamp: FileStamp): void {
  if (!stamps.has(key) || !isCompressed(stamp.path)) stamps.set(key, stamp);
}

/** The path below the place, with `/`, the same whether the file is compressed or not. */
export function keyOf(place: Place, path: string): string {
  return plainName(keysBelow(place.path)(path));
}

/** False for a file whose session an earlier file of the place holds, too. */
export function holdsSession(unit: Unit): boolean {
  return unit.found !== false;
}

/**
 * Two files may carry the same id, such as a copy of an archived session. Both are sources of it; the names that stand
 * beside the sessions are told with the first in order (thread-names.ts), live sessions before archived ones.
 */
function claimed(stamps: ReadonlyMap<string, FileStamp>): readonly Unit[] {
  const holders = new Set<string>();
  return [...stamps]
    .toSorted(([a], [b]) => Number(isArchived(a)) - Number(isArchived(b)) || (a < b ? -1 : 1))
    .map(([key, stamp]): Unit => {
      const name = parseRolloutName(basename(key));
      if (name === undefined) return { key, files: [stamp] };
      const id = sessionIdOf(name);
      const claims = !holders.has(id);
      holders.add(id);
      return claims ? { key, files: [stamp] } : { key, files: [stamp], found: false };
    });
}

function isArchived(key: string): boolean {
  return key.startsWith("archived_sessions/");
}
