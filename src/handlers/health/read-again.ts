/**
 * Reads again what a repair took out (spec.md#keep-repair): every source that was ever read into the store and is on this
 * machine, then what no source has any more goes back as far as it could be read.
 */
import { clientNamed, clientsOf } from "../../adapters/registry.ts";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { SessionStore } from "../../sessions/index.ts";
import type { ClientReport } from "../../wire/sync.ts";
import type { Context } from "../context/context.ts";
import { realPathOf } from "../import/importer.ts";
import { storedOnce } from "../verify/lost-sources.ts";
import { isProven } from "../verify/prove-session.ts";
import type { IsWanted } from "../sources/sweep.ts";
import { GONE_BACK, sync } from "../sync/sync.ts";
import type { Sentence } from "../../base/sentence.ts";
import { plainText } from "../../base/sentence.ts";

export interface ReadAgain {
  readonly read_again: number;
  readonly put_back: number;
  readonly left_out: number;
  /** Sessions whose rows were made anew. */
  readonly made: readonly string[];
  readonly clients: readonly ClientReport[];
  /** What the syncs had to say. */
  readonly notes: readonly Sentence[];
}

export interface Reading {
  /** `named`: those that cursors of the store or its recorded states name. `all`: where nothing is left that names them. */
  readonly sources: "named" | "all";
  /** Marks do not hold because this repair took them away, for a reason that it reports. */
  readonly isUnmarked: boolean;
}

/**
 * The sources of the store, then what none of them has any more. What this machine has beside them is no business of a
 * repair: a sync imports that.
 */
export async function readAgain(context: Context, store: SessionStore, reading: Reading): Promise<ReadAgain> {
  const kept = await store.keptPlaces();
  const before = await readBefore(context, store);
  const isWanted = reading.sources === "all" ? undefined : isAmong(before);
  // Vectors are made by the next sync: a service that is slow or gone is no business of a repair.
  const stages = ["import", "update-indexes"] as const;
  const everywhere = await sync(context, { stages, verify: true, wait: true }, { isWanted });
  const clients = [...everywhere.clients];
  const isNews = (note: Sentence): boolean => !reading.isUnmarked || note !== GONE_BACK;
  const notes = everywhere.notes.filter(isNews);
  const known = everywhere.clients.flatMap(({ places }) => places.map(realPathOf));
  for (const { adapter, path } of before) {
    if (!existsSync(path) || known.some((place) => isIn(path, place))) continue;
    known.push(path);
    const request = {
      adapters: [adapter],
      paths: [path],
      verify: true,
      wait: true,
      stages: ["import"] as const,
    };
    const more = await sync(context, request, { isWanted });
    clients.push(...more.clients);
    notes.push(...more.notes.filter(isNews));
  }
  const read_again = clients.reduce(
    (sum, { stored }) => sum + stored.sessions.inserted + stored.messages.inserted + stored.parts.inserted,
    0,
  );
  const back = await store.putBackUnproven((session) => isProven(context, session).catch(() => false));
  await store.anchorStates(kept);
  const made = await store.recoverSessions(context.clock);
  return { read_again, put_back: back.inserted, left_out: back.leftOut, made, clients, notes };
}

/** Of a store that lacks nothing. */
export const NOTHING_READ: ReadAgain = {
  read_again: 0,
  put_back: 0,
  left_out: 0,
  made: [],
  clients: [],
  notes: [],
};

/** As the cursors remember it and as the store records it, whoever read it: the memory of who that was may be lost, too. Folders that were named come first. */
async function readBefore(context: Context, store: SessionStore): Promise<readonly NamedSource[]> {
  // What a program read with an adapter of its own only that program can read again.
  const remembered = storedOnce(context).filter(({ adapter }) => clientNamed(context, adapter) !== undefined);
  const folders = remembered.map(({ adapter, root }) => ({ adapter, path: root }));
  const files = remembered.map(({ adapter, root, key }) => ({ adapter, path: join(root, key) }));
  const recorded: NamedSource[] = [];
  for (const { name } of clientsOf(context))
    for (const { path } of await store.stateHeads(name)) recorded.push({ adapter: name, path });
  const all = [...folders, ...files, ...recorded];
  return [...new Map(all.map((each) => [`${each.adapter} ${realPathOf(each.path)}`, each])).values()].map(
    ({ adapter, path }) => ({ adapter, path: realPathOf(path) }),
  );
}

/** A source by whatever path, and one that was moved under its name, as clients move what they archive. */
function isAmong(named: readonly NamedSource[]): IsWanted {
  const here = new Set(named.map(({ adapter, path }) => `${adapter} ${path}`));
  const moved = new Set(
    named.flatMap(({ adapter, path }) => (existsSync(path) ? [] : [`${adapter} ${basename(path)}`])),
  );
  return ({ name }, place, { key, files }) =>
    moved.has(`${name} ${basename(key)}`) ||
    [join(place.path, key), ...files.map(({ path }) => path)].some((path) =>
      here.has(`${name} ${realPathOf(path)}`),
    );
}

const isIn = (path: string, place: string): boolean => path === place || path.startsWith(join(place, "/"));

export const sumOf = (a: ReadAgain, b: ReadAgain): ReadAgain => ({
  read_again: a.read_again + b.read_again,
  put_back: a.put_back + b.put_back,
  left_out: a.left_out + b.left_out,
  made: [...a.made, ...b.made],
  clients: b.clients,
  notes: [...new Map([...a.notes, ...b.notes].map((note) => [plainText(note), note])).values()],
});

interface NamedSource {
  readonly adapter: string;
  readonly path: string;
}
