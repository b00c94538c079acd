/**
 * Reads again what a repair took out (spec.md#keep-repair): every source that was ever read and is on this machine, then what
 * no source has any more goes back as far as it could be read.
 */
import { clientNamed, clientsOf } from "../../adapters/registry.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionStore } from "../../sessions/index.ts";
import type { ClientReport } from "../../wire/sync.ts";
import type { Context } from "../context/context.ts";
import { realPathOf } from "../import/importer.ts";
import { storedOnce } from "../verify/lost-sources.ts";
import { isProven } from "../verify/prove-session.ts";
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

/**
 * All sources, then what none of them has any more. To be sure, also those outside the clients' places that were ever read
 * on this machine and are still there.
 */
export async function readAgain(
  context: Context,
  store: SessionStore,
  { verify }: { readonly verify: boolean },
): Promise<ReadAgain> {
  const kept = await store.keptPlaces();
  const elsewhere = verify ? await readBefore(context, store) : [];
  const everywhere = await sync(context, { verify, wait: true });
  const clients = [...everywhere.clients];
  // That marks do not hold, of whoever has just taken them away for a reason that it tells, is no news.
  const isNews = (note: Sentence): boolean => !verify || note !== GONE_BACK;
  const notes = everywhere.notes.filter(isNews);
  const known = everywhere.clients.flatMap(({ places }) => places.map(realPathOf));
  for (const { adapter, path } of elsewhere) {
    if (known.some((place) => isIn(path, place))) continue;
    known.push(path);
    const request = { adapters: [adapter], paths: [path], verify, wait: true, stages: ["import"] as const };
    const more = await sync(context, request);
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

/** As the cursors remember it and as the store records it, whoever read it: the memory of who that was may be lost, too. Folders that were named come first. */
async function readBefore(context: Context, store: SessionStore): Promise<readonly NamedSource[]> {
  // What a program read with an adapter of its own only that program can read again.
  const remembered = storedOnce(context).filter(({ adapter }) => clientNamed(context, adapter) !== undefined);
  const folders = remembered.map(({ adapter, root }) => ({ adapter, path: root }));
  const files = remembered.map(({ adapter, root, key }) => ({ adapter, path: join(root, key) }));
  const recorded: NamedSource[] = [];
  for (const { name } of clientsOf(context))
    for (const { path } of await store.stateHeads(name)) recorded.push({ adapter: name, path });
  const all = [...folders, ...files, ...recorded].filter(({ path }) => existsSync(path));
  return [...new Map(all.map((each) => [`${each.adapter} ${realPathOf(each.path)}`, each])).values()].map(
    ({ adapter, path }) => ({ adapter, path: realPathOf(path) }),
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
