/** From an id as it was given to the session or message that it names. What is not found says what is near. */
import { PondError } from "../../base/errors.ts";
import type { Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import { nearest } from "../../base/nearest.ts";
import { shellWord } from "../../base/shell.ts";
import type { MessageKey } from "../../model/index.ts";
import { brandOf, replaysOf } from "../../model/derived/index.ts";
import type { RestoreHead, SessionStore, SessionSummary } from "../../sessions/index.ts";
import type { Context } from "./context.ts";
import { requireStore } from "./existing.ts";

/** A session by its id. */
export async function requireSession(store: SessionStore, id: string): Promise<SessionSummary> {
  const session = (await store.summaries()).get(id);
  if (session !== undefined) return session;
  throw await noSession(store, id);
}

/** What to say when there is no such session. */
export async function noSession(store: SessionStore, id: string): Promise<PondError> {
  const [message] = await visible(store, await store.findMessage(id));
  if (message !== undefined)
    return new PondError("not_found", `${id} is a message of session ${message.session_id}, not a session`, {
      hint: `ask for session ${shellWord(message.session_id)}, or for message ${shellWord(id)}`,
      data: { kind: "session", id, session_id: message.session_id },
    });
  const near = (await sessionsBeginning(store, id)).map((session) => session.id);
  const [restored, ...others] = near.length > 0 ? [] : await copiesBeginning(store, id);
  if (restored !== undefined && others.length > 0)
    return ambiguous(
      id,
      [restored, ...others].map(({ session }) => session),
    );
  if (restored !== undefined)
    return new PondError(
      "not_found",
      `${restored.session} is session ${restored.from}, which pond restored into ${restored.adapter}, and nobody has continued it since`,
      {
        hint: sentence`ask for session ${shellWord(restored.from)}; ${{ do: "resume", session_id: restored.from, to: restored.adapter }} opens it there`,
        data: { kind: "session", id, session_id: restored.from },
      },
    );
  const what = id === "" ? "an empty id names no session" : `no session ${id} is stored`;
  return new PondError("not_found", what, {
    hint:
      near.length === 0 ? nothingNear(id) : `did you mean ${near.slice(0, 3).map(shellWord).join(" or ")}?`,
    data: { kind: "session", id, ...(near.length === 0 ? {} : { near: near.slice(0, 10) }) },
  });
}

function nothingNear(id: string): Sentence {
  const list = sentence`${{ do: "sessions" }} lists what is stored`;
  return id.length < MIN_PREFIX
    ? sentence`give at least ${MIN_PREFIX} characters of its id; ${list}`
    : sentence`${list}; ${{ do: "sync" }} imports what is new`;
}

/** A client that is known or stored: a filter by any other finds nothing, and would not say why. */
export async function requireClient(context: Context, agent: string): Promise<void> {
  const brand = brandOf(agent);
  const { clientsOf } = await import("../../adapters/registry.ts");
  const store = await requireStore(context);
  const { newestFirst } = await store.summaries();
  const stored = newestFirst.map(({ source_agent }) => brandOf(source_agent));
  const names = new Set([...clientsOf(context).map(({ name }) => name), ...stored]);
  if (names.has(brand)) return;
  const guess = nearest(brand, [...names]);
  throw new PondError("validation_failed", `there is no client named ${brand}`, {
    hint:
      guess === undefined
        ? `one of: ${[...names].map(shellWord).join(", ")}`
        : `did you mean ${shellWord(guess)}?`,
    data: { field: "source_agent", value: agent },
  });
}

/** A message by its id, which is unique only inside a session: without one, the id must name a single original. */
export async function requireMessage(
  store: SessionStore,
  id: string,
  session: string | undefined,
): Promise<MessageKey> {
  const found = await visible(store, await store.findMessage(id));
  const candidates = session === undefined ? found : found.filter((key) => key.session_id === session);
  const [only] = candidates;
  if (only === undefined) throw await noMessage(store, id, { session, elsewhere: found });
  if (candidates.length === 1) return only;
  const originals = await withoutCopies(store, candidates);
  if (originals.length === 1 && originals[0] !== undefined) return originals[0];
  throw new PondError("validation_failed", `message ${id} is in ${candidates.length} sessions`, {
    hint: `name the session too, for example ${shellWord(only.session_id)}`,
    data: { field: "message_id", value: id, sessions: candidates.map(({ session_id }) => session_id) },
  });
}

/** What an id as a person types it names: a session, the only one that begins so, or a message. */
export async function resolveTarget(
  context: Context,
  id: string,
): Promise<{ readonly session_id: string } | { readonly message_id: string }> {
  const store = await requireStore(context);
  if ((await store.summaries()).get(id) !== undefined) return { session_id: id };
  const [message] = await visible(store, await store.findMessage(id));
  if (message !== undefined) return { message_id: id };
  const isSession = (await sessionsBeginning(store, id)).length > 0;
  const isRestored = (await copiesBeginning(store, id)).length > 0;
  if (isSession || isRestored) return { session_id: await onlyBeginning(store, id) };
  throw new PondError("not_found", `no session or message ${id} is stored`, {
    hint: sentence`${nothingNear(id)}; ${{ do: "search" }} prints the ids of messages, which must be given in full`,
    data: { kind: "session", id },
  });
}

/** The session that an id as a person types it names: its own, or the only one that begins so. */
export async function resolveSession(context: Context, id: string): Promise<string> {
  const store = await requireStore(context);
  return (await store.summaries()).get(id) === undefined ? onlyBeginning(store, id) : id;
}

/** The same for what is restored or resumed: a copy that pond restored and nobody carried on has an id, too. */
export async function resolveRestorable(context: Context, id: string): Promise<string> {
  const store = await requireStore(context);
  const isStored = (await store.summaries()).get(id) !== undefined;
  const isNear = isStored || (await sessionsBeginning(store, id)).length > 0;
  const [copy, ...others] = isNear ? [] : await copiesBeginning(store, id);
  return copy !== undefined && others.length === 0 ? copy.session : resolveSession(context, id);
}

/** Copies that pond restored and whose ids begin so: of one with its subagents only itself. */
async function copiesBeginning(store: SessionStore, text: string): Promise<readonly RestoreHead[]> {
  if (text.length < MIN_PREFIX) return [];
  const found = await store.restoredBeginning(text);
  const summaries = await store.summaries();
  const isBelow = (head: RestoreHead, other: RestoreHead): boolean =>
    head.session.startsWith(`${other.session}/`) ||
    (head.from !== other.from && summaries.get(head.from)?.parent_session_id === other.from);
  return found.filter((head) => !found.some((other) => other !== head && isBelow(head, other)));
}

/** The session whose children are meant. It need not be stored itself: a parent is a soft reference (spec.md#model-lineage). */
export async function resolveParent(context: Context, id: string): Promise<string> {
  const summaries = await (await requireStore(context)).summaries();
  const parents = new Set<string>(
    summaries.newestFirst.flatMap(({ parent_session_id: parent }) => parent ?? []),
  );
  if (parents.has(id) || summaries.get(id) !== undefined) return id;
  const [first, ...others] = [...parents].filter((parent) => parent.startsWith(id));
  const isOnly = first !== undefined && others.length === 0 && id.length >= MIN_PREFIX;
  return isOnly ? first : resolveSession(context, id);
}

/** The ids of sessions begin with their parent's at some clients, so that of a family the eldest is meant. */
async function onlyBeginning(store: SessionStore, id: string): Promise<string> {
  const found = await sessionsBeginning(store, id);
  const ids = new Set<string>(found.map((session) => session.id));
  const isEldest = ({ id: own, parent_session_id: parent }: SessionSummary): boolean =>
    parent === undefined || parent === own || !ids.has(parent);
  const eldest = found.filter(isEldest);
  const [first, ...others] = eldest.map((session) => session.id);
  if (first === undefined) throw await noSession(store, id);
  if (others.length === 0) return first;
  throw ambiguous(id, [first, ...others]);
}

function ambiguous(id: string, all: readonly string[]): PondError {
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : "";
  return new PondError("validation_failed", `${all.length} sessions begin with ${id}`, {
    hint: `type more of it: ${all.slice(0, SHOWN).map(shellWord).join(", ")}${more}`,
    data: { field: "id", value: id, near: all.slice(0, 10) },
  });
}

/**
 * For each of these sessions the shortest beginning of its id that names it to resolveSession now, of at least a few
 * characters: what a person types.
 */
export async function shortIds(
  context: Context,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const summaries = await (await requireStore(context)).summaries();
  const wanted = Array.from(new Set(ids), (id) => new ShortId(id));
  const sorted = wanted.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, parent_session_id: parent = "" } of summaries.values()) {
    const next = placeIn(sorted, id);
    sorted[sorted[next]?.id === id ? next + 1 : next]?.tellFrom(id, parent);
    // Its nearest neighbours share the most with it. One that belongs to the family of the one before tells that nothing.
    for (let at = next - 1; at >= 0; at--) {
      sorted[at]?.tellFrom(id, parent);
      if (sorted[at]?.id.startsWith(sorted[at - 1]?.id ?? "-") !== true) break;
    }
  }
  return new Map(wanted.map(({ id, short }) => [id, short]));
}

/** A beginning of an id that no other session's has; its family is meant by it, too. */
class ShortId {
  readonly id: string;
  short: string;

  constructor(id: string) {
    this.id = id;
    this.short = id.slice(0, SHORT_ID);
  }

  tellFrom(other: string, parent: string): void {
    if (!other.startsWith(this.short) || other === this.id) return;
    if (other.startsWith(this.id) && parent.startsWith(this.id)) return;
    while (other.startsWith(this.short) && this.short.length < this.id.length)
      this.short = this.id.slice(0, this.short.length + 1);
  }
}

/** How many come before it. */
function placeIn(sorted: readonly ShortId[], id: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.id ?? "") < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Characters of a short id, at least: as many as stay unambiguous for a while when more sessions come. */
const SHORT_ID = 8;

/** The sessions whose ids begin so, newest first: what a person types of a long id. */
async function sessionsBeginning(store: SessionStore, text: string): Promise<readonly SessionSummary[]> {
  if (text.length < MIN_PREFIX) return [];
  const { newestFirst } = await store.summaries();
  return newestFirst.filter(({ id }) => id.startsWith(text));
}

/** Sessions that are named where one is to be chosen. */
const SHOWN = 3;

/** Shorter beginnings name too much to be meant. */
const MIN_PREFIX = 4;

/** Messages whose session's row is there (spec.md#storage-visibility). */
async function visible(store: SessionStore, keys: readonly MessageKey[]): Promise<readonly MessageKey[]> {
  const summaries = await store.summaries();
  return keys.filter(({ session_id }) => summaries.get(session_id) !== undefined);
}

/** Forks and resumed sessions repeat the messages of their parent under the same ids, and say so. */
async function withoutCopies(
  store: SessionStore,
  keys: readonly MessageKey[],
): Promise<readonly MessageKey[]> {
  const originals: MessageKey[] = [];
  for (const key of keys) {
    const messages = await store.messageOutlines(key.session_id);
    const message = messages.find(({ id }) => id === key.id);
    const [facts] = message === undefined ? [] : await store.facts([message]);
    if (facts !== undefined && replaysOf({ facts }) === undefined) originals.push(key);
  }
  return originals;
}

async function noMessage(
  store: SessionStore,
  id: string,
  { session, elsewhere }: { readonly session: string | undefined; readonly elsewhere: readonly MessageKey[] },
): Promise<PondError> {
  const [other] = elsewhere;
  if (session !== undefined && other !== undefined)
    return new PondError("not_found", `session ${session} has no message ${id}`, {
      hint: `session ${shellWord(other.session_id)} has it`,
      data: { kind: "message", id, sessions: elsewhere.map(({ session_id }) => session_id) },
    });
  const isSession = (await store.summaries()).get(id) !== undefined;
  return new PondError(
    "not_found",
    isSession ? `${id} is a session, not a message` : `no message ${id} is stored`,
    {
      hint: isSession ? `ask for session ${shellWord(id)}` : "search finds messages and prints their ids",
      data: { kind: "message", id },
    },
  );
}
