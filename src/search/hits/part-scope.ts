/**
 * Filters on tools and on what failed (spec.md#wire-search). They are facts of parts, and what is ranked are messages: the
 * index of the parts says which messages have such a part, before anything is ranked (spec.md#search-prefilter-pushdown).
 * Of a call that failed both messages are meant: the one that has the failed result, and the one that made the call.
 */
import type { MESSAGES, PARTS, SessionStore } from "../../sessions/index.ts";
import { findPartOutlines } from "../../sessions/index.ts";
import type { StoredPart } from "../../sessions/states/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { and, eq, isIn, isNull, not, or, rowIn } from "../../substrate/engine/predicate.ts";
import type { Scope } from "./scope.ts";

export interface PartFilter {
  readonly tool_name?: string;
  readonly failedOnly: boolean;
}

/** What a filter on parts lets in. */
export interface PartScope {
  /** Messages in scope that have such a part; with text, where words are looked for. */
  readonly rows: ReadonlySet<bigint>;
  /** For a search in parts: the index takes it. Results that do not name their tool pass, too: see `namedBy`. */
  readonly where: Predicate<typeof PARTS>;
  readonly filter: PartFilter;
}

/** Sessions of one list of a filter, and rows that a filter names one by one: a list of 1,000 takes 16 ms, of 20,000 half a second. */
const MOST_LISTED = { sessions: 500, rows: 1000 };

export const isPartFilter = ({ tool_name, failedOnly }: PartFilter): boolean =>
  tool_name !== undefined || failedOnly;

/** The scope without the sessions and messages that have no such part. */
export async function withPartsOf(
  store: SessionStore,
  scope: Scope,
  { filter, withText }: { readonly filter: PartFilter; readonly withText: boolean },
): Promise<Scope> {
  const keys = await messagesWith(store, scope, filter);
  const rows = new Set<bigint>();
  const sessions = new Set<string>();
  const ofText = withText ? [not(isNull("text_bytes"))] : [];
  const where = and(...(scope.messages === undefined ? [] : [scope.messages]), ...ofText);
  const select = ["session_id", "id"] as const;
  for await (const found of messagesIn(store, [...keys.keys()], { select, where }))
    for (let at = 0; at < found.length; at++) {
      const session = found.string("session_id", at);
      if (keys.get(session)?.has(found.string("id", at)) !== true) continue;
      rows.add(found.rowId(at));
      sessions.add(session);
    }
  return {
    ...scope,
    sessions: scope.sessions.filter(({ id }) => sessions.has(id)),
    parts: { rows, where: partPredicate(filter), filter },
  };
}

/** All that the engine can decide before it ranks: the rows themselves, where they are few. */
export function pushedDown({ messages, parts }: Scope): Predicate<typeof MESSAGES> | undefined {
  if (parts === undefined || parts.rows.size > MOST_LISTED.rows) return messages;
  return and(...(messages === undefined ? [] : [messages]), rowIn([...parts.rows]));
}

/** Of parts that were found those of the tool: a result without its name has that of its call. */
export async function namedBy(
  store: SessionStore,
  found: readonly StoredPart[],
  { tool_name }: PartFilter,
): Promise<readonly StoredPart[]> {
  const nameless = found.filter((part) => part.tool_name === undefined);
  if (tool_name === undefined || nameless.length === 0) return found;
  const calls = new Set<string>();
  for (let start = 0; start < nameless.length; start += MOST_LISTED.sessions) {
    const step = nameless.slice(start, start + MOST_LISTED.sessions);
    const where = and(
      isIn("session_id", [...new Set(step.map(({ session_id }) => session_id))]),
      isIn("call_id", [...new Set(step.flatMap(({ call_id }) => call_id ?? []))]),
      eq("tool_name", tool_name),
    );
    for (const call of await findPartOutlines(store.tables, where)) calls.add(callName(call));
  }
  return found.filter((part) => part.tool_name !== undefined || calls.has(callName(part)));
}

const callName = ({ session_id, call_id = "" }: Pick<StoredPart, "session_id" | "call_id">): string =>
  `${session_id}\0${call_id}`;

function partPredicate({ tool_name, failedOnly }: PartFilter): Predicate<typeof PARTS> {
  const ofTool =
    tool_name === undefined
      ? []
      : [or(eq("tool_name", tool_name), and(eq("type", "tool_result"), isNull("tool_name")))];
  return and(...ofTool, ...(failedOnly ? [eq("type", "tool_result"), eq("is_failure", true)] : []));
}

/** The engine's plan for the parts that a filter asks for. */
export async function explainParts(store: SessionStore, filter: PartFilter): Promise<string> {
  const where = askedOf(filter);
  return `parts, read before:\n${await store.tables.parts.explain({ select: ["session_id", "message_id"], where })}`;
}

/** Ids of messages by their session. */
type Keys = ReadonlyMap<string, ReadonlySet<string>>;

/** What is asked of the parts first: failed results, else all that names the tool. */
const askedOf = ({ tool_name, failedOnly }: PartFilter): Predicate<typeof PARTS> =>
  failedOnly ? and(eq("type", "tool_result"), eq("is_failure", true)) : eq("tool_name", tool_name ?? "");

async function messagesWith(store: SessionStore, scope: Scope, filter: PartFilter): Promise<Keys> {
  const inScope = new Set<string>(scope.sessions.map(({ id }) => id));
  const keys = new Map<string, Set<string>>();
  const failed = new Set<string>();
  const add = (session_id: string, message_id: string): void => {
    const known = keys.get(session_id);
    if (known === undefined) keys.set(session_id, new Set([message_id]));
    else known.add(message_id);
  };
  const first = await partsIn(store, [...inScope], askedOf(filter));
  for (const { session_id, message_id, call_id, tool_name } of first) {
    if (!inScope.has(session_id)) continue;
    if (filter.failedOnly && call_id !== null) failed.add(`${session_id}\0${call_id}`);
    if (!filter.failedOnly || filter.tool_name === undefined || tool_name === filter.tool_name)
      add(session_id, message_id);
  }
  if (!filter.failedOnly) return keys;
  const results = new Map(
    first.map((part) => [`${part.session_id}\0${part.call_id ?? ""}`, part.message_id]),
  );
  const ofTool = filter.tool_name === undefined ? [] : [eq("tool_name", filter.tool_name)];
  const calls = and(eq("type", "tool_call"), ...ofTool);
  for (const { session_id, message_id, call_id } of await partsIn(store, [...sessionsOf(failed)], calls)) {
    const name = `${session_id}\0${call_id ?? ""}`;
    if (call_id === null || !failed.has(name)) continue;
    add(session_id, message_id);
    add(session_id, results.get(name) ?? message_id);
  }
  return keys;
}

const sessionsOf = (calls: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...calls].map((call) => call.slice(0, call.indexOf("\0"))));

interface FoundPart {
  readonly session_id: string;
  readonly message_id: string;
  readonly call_id: string | null;
  readonly tool_name: string | null;
}

/** Of many sessions the other filters are asked alone. */
async function partsIn(
  store: SessionStore,
  sessions: readonly string[],
  of: Predicate<typeof PARTS>,
): Promise<readonly FoundPart[]> {
  if (sessions.length === 0) return [];
  const isFew = sessions.length <= MOST_LISTED.sessions;
  const where = isFew ? and(isIn("session_id", sessions), of) : of;
  const select = ["session_id", "message_id", "call_id", "tool_name"] as const;
  const found: FoundPart[] = [];
  for await (const rows of store.tables.parts.scanBatches({ select, where }))
    for (let at = 0; at < rows.length; at++)
      found.push({
        session_id: rows.string("session_id", at),
        message_id: rows.string("message_id", at),
        call_id: rows.stringOrNull("call_id", at),
        tool_name: rows.stringOrNull("tool_name", at),
      });
  return found;
}

function messagesIn(
  store: SessionStore,
  sessions: readonly string[],
  options: { readonly select: readonly ("session_id" | "id")[]; readonly where: Predicate<typeof MESSAGES> },
) {
  const { messages } = store.tables;
  const withIds = { ...options, withRowId: true } as const;
  return sessions.length <= MOST_LISTED.sessions
    ? messages.scanIn("session_id", sessions, withIds)
    : messages.scanBatches(withIds);
}
