/** Finds Claude Code's sessions: every log below the place with the files beside it, each only stat-ed. */
import { join } from "node:path";
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import { batchesOf, issuesOf, keysBelow, walk } from "../kit/sources/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../kit/sources/index.ts";
import type { FileStamp } from "../kit/files/index.ts";
import type { LogPlace } from "./layout.ts";
import { folderOf, nameOf } from "../kit/files/path-names.ts";
import {
  ADAPTER,
  isLog,
  lostSessionFolderOf,
  mayHoldSideFiles,
  placeOfLog,
  sessionFolderOf,
  transcriptOfMeta,
} from "./layout.ts";

/** `CLAUDE_CONFIG_DIR` replaces the default places, as it does for the client. */
export function defaultPlaces(machine: AdapterEnv): readonly Place[] {
  const variable = "CLAUDE_CONFIG_DIR";
  const configured = machine.env[variable];
  if (configured !== undefined && configured !== "")
    return [{ path: join(configured, "projects"), origin: "environment", variable }];
  const xdg = machine.env["XDG_CONFIG_HOME"] ?? join(machine.home, ".config");
  const folders = [join(machine.home, ".claude"), join(xdg, "claude")];
  return folders.map((folder) => ({ path: join(folder, "projects"), origin: "default" }));
}

export async function* units(place: Place, signal?: AbortSignal): AsyncGenerator<readonly (Unit | Issue)[]> {
  const keyOf = keysBelow(place.path);
  const walked = await walk(place.path, {
    accepts: (name, folder) => name.endsWith(".jsonl") || mayHoldSideFiles(keyOf(folder)),
    signal,
  });
  yield issuesOf(walked.faults, ADAPTER);
  const faulty = walked.faults.map(({ path }) => keyOf(path));
  yield* batchesOf(
    assemble(walked.files, keyOf).map((unit) => (hasFaults(unit, faulty) ? partial(unit) : unit)),
  );
}

/** Something in the folder of its session is there and could not be looked at. */
function hasFaults({ key }: Unit, faulty: readonly string[]): boolean {
  const folder = key.replace(/\.jsonl$/, "/");
  return faulty.some((path) => `${path}/`.startsWith(folder));
}

const partial = (unit: Unit): Unit => ({
  ...unit,
  found: { ...(isJsonObject(unit.found) ? unit.found : {}), partial: true },
});

/** Logs with their side files, from all files of a place. */
function assemble(files: readonly FileStamp[], keyOf: (path: string) => string): Unit[] {
  const logs = new Map<string, Log>();
  const sides: Side[] = [];
  const sessionOf = sessionFolders(logs);
  for (const stamp of files) {
    const key = keyOf(stamp.path);
    if (isLog(key)) logs.set(key, { key, files: [stamp] });
    else sides.push({ key, stamp });
  }
  for (const { key, files: stamps } of logs.values()) {
    const base = sessionOf(key);
    // A log elsewhere in a session's folder is a file of the session.
    if (base === undefined || key.startsWith(`${base}/subagents/`)) continue;
    logs.delete(key);
    for (const stamp of stamps) sides.push({ key, stamp });
  }
  const holdsLogFolders = foldersAbove(logs);
  for (const { key, stamp } of sides.toSorted(byKey)) {
    const base = sessionOf(key) ?? lostSessionFolderOf(key, holdsLogFolders);
    const owner = ownerOf(key, base, logs);
    if (owner === undefined) continue;
    const log = logs.get(owner);
    if (log === undefined) logs.set(owner, { key: owner, files: [stamp] });
    else log.files.push(stamp);
  }
  const claims = new Claims(logs);
  const inOrder = Array.from(logs.values(), (log): Unit => {
    const found = claims.of(log);
    return found === undefined ? log : { ...log, found };
  });
  // In order as they were found, but for sessions that only have side files.
  return sides.length === 0 ? inOrder : inOrder.toSorted(byKey);
}

/** Nothing that its key tells: there may be hundreds of thousands. */
interface Log {
  readonly key: string;
  /** Its own, and those of its side files. */
  readonly files: FileStamp[];
}

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

type Logs = ReadonlyMap<string, Log>;

interface Side {
  readonly key: string;
  readonly stamp: FileStamp;
}

/** The session folder of a file. Its folder alone tells it, and the files of a folder follow each other. */
function sessionFolders(logs: Logs): (key: string) => string | undefined {
  let folder: string | undefined;
  let base: string | undefined;
  return (key) => {
    if (folder !== undefined && key.startsWith(folder) && !key.includes("/", folder.length)) return base;
    folder = key.slice(0, key.lastIndexOf("/") + 1);
    base = sessionFolderOf(key, (log) => logs.has(log));
    return base;
  };
}

/** Tells folders that hold folders of logs. Known once it is asked for: nearly all side files have a log. */
function foldersAbove(logs: Logs): (folder: string) => boolean {
  let known: Set<string> | undefined;
  return (folder) => {
    known ??= new Set([...logs.keys()].flatMap((key) => foldersOver(placeFolder(key, placeOfLog(key)))));
    return known.has(folder);
  };
}

/** Where a log stands; a subagent's where its session does. */
function placeFolder(key: string, place: LogPlace): string {
  return place.kind === "subagent" ? folderOf(place.base) : folderOf(key);
}

function foldersOver(folder: string): readonly string[] {
  const above = folderOf(folder);
  return above === "" ? [] : [above, ...foldersOver(above)];
}

/** The log that a side file belongs to: its transcript for a `.meta.json`, else its session, even a missing one. */
function ownerOf(key: string, base: string | undefined, logs: Logs): string | undefined {
  const transcript = transcriptOfMeta(key);
  if (transcript !== undefined && logs.has(transcript)) return transcript;
  return base === undefined ? undefined : `${base}.jsonl`;
}

/** Who is first to claim a name in this place; everyone else says so, and is a copy where only the name tells it. */
class Claims {
  readonly #first = new Map<string, string>();
  readonly #agents = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #copies = new Map<string, string[]>();
  /** Every log is the one session of its name: there is nothing to say of any. */
  readonly #arePlain: boolean;

  constructor(logs: Logs) {
    this.#arePlain = arePlain(logs);
    if (this.#arePlain) return;
    const places = Array.from(logs.keys(), (key) => ({ key, place: placeOfLog(key) }));
    for (const { place } of places) if (place.kind !== "agent") claim(this.#first, place.stem, place.base);
    for (const { key, place } of places) {
      if (place.kind === "agent") claim(this.#agents, place.stem, key);
      else this.#addSession(key, place);
    }
    // A transcript below `subagents/` outranks one of the same name beside the sessions.
    for (const { place } of places)
      if (place.kind === "subagent" && this.#agents.has(nameOf(place.child)))
        this.#agents.set(nameOf(place.child), "");
  }

  of({ key }: Log): Readonly<Record<string, JsonValue>> | undefined {
    if (this.#arePlain) return undefined;
    const place = placeOfLog(key);
    if (place.kind === "agent") {
      const copies = this.#copies.get(place.folder);
      if (this.#agents.get(place.stem) !== key) return { copy: true };
      return copies === undefined ? undefined : { copies };
    }
    const isCopy = this.#first.get(place.stem) !== place.base;
    const hasFolder = place.kind === "session" && this.#folders.has(place.base);
    if (!isCopy && !hasFolder) return undefined;
    return { ...(isCopy ? { copy: true } : {}), ...(hasFolder ? { folder: true } : {}) };
  }

  #addSession(key: string, place: Exclude<LogPlace, { kind: "agent" }>): void {
    if (place.kind === "subagent") this.#folders.add(place.base);
    else if (this.#first.get(place.stem) !== place.base) {
      const folder = folderOf(key);
      this.#copies.set(folder, [...(this.#copies.get(folder) ?? []), place.stem]);
    }
  }
}

function arePlain(logs: Logs): boolean {
  const stems = new Set<string>();
  for (const key of logs.keys()) {
    const place = placeOfLog(key);
    if (place.kind === "agent" || stems.has(place.stem)) return false;
    stems.add(place.stem);
  }
  return true;
}

function claim(claims: Map<string, string>, name: string, by: string): void {
  const first = claims.get(name);
  if (first === undefined || by < first) claims.set(name, by);
}
