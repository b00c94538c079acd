/**
 * What a client has of a session that is to be restored into it (spec.md#adapter-restore-once): where it is, in which
 * directory it works, and by how many turns it and the session went on since it was written.
 */
import { dirname, join } from "node:path";
import type { Adapter, AdapterYield, Place, PresentSession } from "../../adapters/index.ts";
import type { Restored } from "../../adapters/restore.ts";
import { messagesWithContent } from "../../adapters/restore.ts";
import { placesThatExist } from "../../adapters/index.ts";
import type { Lineage } from "../../model/events/index.ts";
import type { MessageKey, Session, SessionId } from "../../model/index.ts";
import { sessionId } from "../../model/index.ts";
import type { RestoreHead, RestoreRecord, SessionStore } from "../../sessions/index.ts";
import { knownReaderId } from "../../state/index.ts";
import type { Context } from "../context/context.ts";
import { SETTLED_MS } from "../import/dry-read.ts";
import { realPathOf } from "../import/importer.ts";
import { presenceOf } from "./files/present.ts";

export interface Wanted {
  readonly store: SessionStore;
  readonly adapter: Adapter & { readonly restore: { readonly kind: "supported" } };
  /** Where the client keeps sessions on this machine. */
  readonly places: readonly Place[];
  readonly session: Session;
  readonly lineage: Lineage;
  readonly out: string;
  /** The folder was asked for, and is not only where the client looks. */
  readonly isOutNamed: boolean;
  readonly restored: Restored;
  /** The same without mapped paths. */
  readonly unmapped: () => Promise<Restored>;
  /** Paths are mapped, and some of the session's are. */
  readonly isMapped: boolean;
  /** It is to be resumed: one that is there is as good as one that is written. */
  readonly canReuse: boolean;
  /** It was asked for by its id in the client: as it is there, whatever came in the session since. */
  readonly isAsIs: boolean;
  /** A state is asked for that is not the newest. */
  readonly isEarlier: boolean;
}

/** A session that the client has, and the id that it has it by. */
export interface Already extends PresentSession {
  readonly id: string;
  readonly place: Place;
  /** It is where the restore would put it. */
  readonly isTarget: boolean;
}

/** Of a foreign restore only the first session has an id that is known. */
export async function alreadyIn(
  { machine }: Context,
  { adapter, places, out, restored }: Wanted,
): Promise<readonly Already[]> {
  const { logs, files, fidelity, resume } = restored;
  const ids = new Set<string>([
    resume.id,
    ...(fidelity === "native" ? logs.map(({ session }) => session) : []),
  ]);
  const targets = new Set(files.map(({ path }) => join(out, path)));
  const found: Already[] = [];
  for (const place of await placesThatExist(places))
    for (const id of ids)
      for (const present of await adapter.restore.present(id, { place, machine }))
        found.push({ ...present, id, place, isTarget: targets.has(plainPath(present.path)) });
  return found;
}

/** Codex compresses what was not touched for a week: that is the same file under another name. */
export const plainPath = (path: string): string => path.replace(/\.zst$/, "");

/** Where it works; undefined where nothing tells. */
export async function directoryOf(
  context: Context,
  { adapter }: Wanted,
  found: Already,
): Promise<string | undefined> {
  if (found.directory !== undefined) return found.directory;
  return directoryIn(context, adapter, found);
}

async function directoryIn(
  context: Context,
  adapter: Adapter,
  log: Pick<Already, "path" | "place" | "id">,
): Promise<string | undefined> {
  for await (const item of readLog(context, adapter, log))
    if (item.kind === "session") return item.session.project;
  return undefined;
}

/** The same of a file that pond wrote for the client to import. */
export function directoryWritten(
  context: Context,
  adapter: Adapter,
  { path, session }: RestoreHead,
): Promise<string | undefined> {
  const place: Place = { path: dirname(path), origin: "default", files: [path] };
  return directoryIn(context, adapter, { path, place, id: session });
}

/** Turns of a conversation: what a person or a model said. */
export interface WentOn {
  /** That the session has and the copy has not. */
  readonly origin: number;
  /** That the copy has gained in its client; undefined where it could not be read. */
  readonly copy: number | undefined;
}

/** How far a session of another client and its copy have parted; undefined where nothing is recorded of the copy. */
export async function partedFrom(
  context: Context,
  wanted: Wanted,
  found: Already,
): Promise<WentOn | undefined> {
  const { adapter, store, session } = wanted;
  const all = await store.restoreRecords([sessionId(found.id)]);
  const records = all.filter(({ from }) => from === session.id);
  const record = recordOf(context, records, found.path);
  if (record === undefined) return undefined;
  const origin = turnsSince(wanted, record);
  const isSame = origin === 0 || (await isAsItWouldBe(wanted, found));
  const written = new Set(records.flatMap(({ messages }) => [...messages.keys()]));
  // Where a client tells the ids of its records, pond may have several messages of one.
  for (const id of found.messages === undefined ? [] : [...written]) written.add(id.split("/")[0] ?? id);
  const turns = found.messages ?? (await turnsIn(context, adapter, found));
  const copy = turns?.filter((id) => !written.has(id)).length;
  return { origin: isSame ? 0 : origin, copy };
}

/** By how much the session has more than what is recorded of its last restore into a client. */
export async function turnsSinceRestore(
  context: Context,
  wanted: Wanted,
  copy: SessionId,
): Promise<number | undefined> {
  const all = await wanted.store.restoreRecords([copy]);
  const record = recordOf(
    context,
    all.filter(({ from }) => from === wanted.session.id),
  );
  return record === undefined ? undefined : turnsSince(wanted, record);
}

/** The same of a log of the session's own client: its turns have the same ids. */
export async function partedFromLog(
  context: Context,
  { adapter, lineage }: Wanted,
  found: Already,
): Promise<WentOn | undefined> {
  const turns = await turnsIn(context, adapter, found);
  if (turns === undefined) return undefined;
  const [there, stored] = [new Set(turns), new Set<string>()];
  for (const { message } of lineage.state.messages) if (isTurn(message.role)) stored.add(message.id);
  if (stored.isDisjointFrom(there)) return undefined;
  return { origin: stored.difference(there).size, copy: there.difference(stored).size };
}

/** The one that wrote it, as far as that is known: of this file, of this machine, or the last one. */
function recordOf(
  { config }: Context,
  oldestFirst: readonly RestoreRecord[],
  path?: string,
): RestoreRecord | undefined {
  const reader = knownReaderId(config.paths.state);
  const own = oldestFirst.filter((record) => record.reader === reader);
  const real = path === undefined ? undefined : realPathOf(plainPath(path));
  return own.findLast((record) => record.path === real) ?? own.at(-1) ?? oldestFirst.at(-1);
}

/** Turns that would be handed over now and were not then. */
function turnsSince({ restored, session, lineage }: Wanted, record: RestoreRecord): number {
  const handed = restored.logs.find((log) => log.session === session.id)?.handedOver;
  if (handed === undefined) return 0;
  const written = new Set<string>();
  for (const message of record.messages.values())
    if (message !== null) for (const key of [message, ...(message.others ?? [])]) written.add(nameOf(key));
  const fresh = new Set(
    messagesWithContent(handed)
      .map(nameOf)
      .filter((name) => !written.has(name)),
  );
  const results = lineage.state.messages.filter(
    ({ message }) => message.role === "tool" && fresh.has(nameOf(message)),
  );
  // A result alone is news, too.
  return fresh.size - results.length || fresh.size;
}

const nameOf = ({ session_id, id }: MessageKey): string => `${session_id}\n${id}`;

/** The log has all that would be written, and may have more behind it. */
async function isAsItWouldBe({ restored, session }: Wanted, found: Already): Promise<boolean> {
  const path = restored.logs.find((log) => log.session === session.id)?.path;
  const file = restored.files.find((each) => each.path === path);
  if (file === undefined || found.messages !== undefined) return false;
  const presence = await presenceOf({ file, target: plainPath(found.path) });
  return presence === "equal" || presence === "longer";
}

/** The ids of its turns; undefined where it cannot be read. */
async function turnsIn(
  context: Context,
  adapter: Adapter,
  found: Already,
): Promise<readonly string[] | undefined> {
  const turns: string[] = [];
  let isRead = false;
  for await (const item of readLog(context, adapter, found)) {
    isRead ||= item.kind === "session";
    if (item.kind === "message" && isTurn(item.message.role)) turns.push(item.message.id);
  }
  return isRead ? turns : undefined;
}

const isTurn = (role: string): boolean => role === "user" || role === "assistant";

/** What a log says of its own session, as it stands. */
async function* readLog(
  { machine, clock, signal }: Context,
  adapter: Adapter,
  { path, place, id }: Pick<Already, "path" | "place" | "id">,
): AsyncGenerator<AdapterYield> {
  await using opened = await adapter.open(place, machine);
  for await (const units of opened.units(signal))
    for (const unit of units) {
      if (!("key" in unit) || unit.files[0]?.path !== path) continue;
      const { found: _, ...alone } = unit;
      const reading = opened.read(alone, { now: clock.now() + SETTLED_MS, signal });
      for await (const batch of reading)
        for (const item of batch)
          if (item.kind === "session" ? item.session.id === id : item.kind === "message") yield item;
    }
}
