/**
 * Which rows of damaged files go back into their tables, and as what (spec.md#keep-repair). Digests cover what a source
 * said. Columns that are derived from it are computed again, because nothing proves them. A row of a session that is whole
 * without it has a damaged key: put back it would be a message that nobody wrote.
 */
import type { SessionId } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import { searchText } from "../../model/derived/index.ts";
import type { PutBack, RowOf, Rows } from "../../substrate/index.ts";
import { messageRow, partBytes, partRow } from "../tables/encode.ts";
import { readPartBodies } from "../read/leaves.ts";
import { readPartOutlinesOf } from "../read/parts.ts";
import { decodeMessageRow } from "../tables/rows.ts";
import { markRecovered } from "./recover.ts";
import type { MESSAGES, SESSIONS } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";

type MessageRows = Rows<typeof MESSAGES>;

/** Whether every recorded state of a session is proven by what is stored now, and together they have all of it. */
export type IsWhole = (session: SessionId) => Promise<boolean>;

/** Stores rows again whose sessions are proven. Parts come first: texts of messages are made of them. */
export async function putBackProven(tables: SessionTables): Promise<PutBack> {
  const { sessions, parts, messages, sources } = tables;
  return total([
    await sessions.putBack("proven", asTheyAre),
    await parts.putBack("proven", asTheyAre),
    await messages.putBack("proven", (rows) => derivedAgain(tables, rows)),
    await sources?.putBack("proven", asTheyAre),
  ]);
}

/** A recorded state that could be read of a damaged file. */
export interface StateName {
  readonly session_id: string;
  readonly source: string;
  readonly state: string;
}

/**
 * Stores recorded states again before any source is read: a source that was trimmed would give its new state the number of
 * an old one, and what only the old one holds would count as held by none. Each is proven or named afterwards.
 */
export async function putBackStates(
  tables: SessionTables,
): Promise<PutBack & { readonly states: readonly StateName[] }> {
  const known = await KnownSessions.read(tables);
  const states: StateName[] = [];
  const back = await tables.sources?.putBack("unproven", async (rows) => {
    const verdicts = await wantedOf((session) => Promise.resolve(known.has(session)))(rows);
    for (const [row, verdict] of verdicts.entries())
      if (verdict !== "leave out")
        states.push({
          session_id: rows.string("session_id", row),
          source: rows.string("source", row),
          state: rows.string("state", row),
        });
    return verdicts;
  });
  return { ...total([back]), states };
}

/** Takes out recorded states that are damaged themselves, for good: all that they name is in others, which are proven. */
export async function dropStates({ sources }: SessionTables, states: readonly StateName[]): Promise<void> {
  for (const { session_id, source, state } of states)
    await sources?.takeOutKeys({ firsts: [session_id], seconds: [source], thirds: [state] });
  if (states.length > 0)
    await sources?.putBack("unproven", async ({ length }) => Array.from({ length }, () => "leave out"));
}

/** Stores what else could be read, after the sources were read again: what none of them has any more. */
export async function putBackUnproven(tables: SessionTables, isWhole: IsWhole): Promise<PutBack> {
  const { sessions, parts, messages } = tables;
  const known = await KnownSessions.read(tables);
  const wanted = new Map<string, Promise<boolean>>();
  const isWanted = (session: string): Promise<boolean> => {
    const recorded =
      wanted.get(session) ??
      (known.has(session)
        ? known.isUnrecorded(session) || isWhole(sessionId(session)).then((is) => !is)
        : false);
    wanted.set(session, Promise.resolve(recorded));
    return Promise.resolve(recorded);
  };
  return total([
    await parts.putBack("unproven", wantedOf(isWanted)),
    await messages.putBack("unproven", async (rows) => {
      const verdicts = await wantedOf(isWanted)(rows);
      const again = await derivedAgain(tables, rows);
      return verdicts.map((verdict, row) => (verdict === "leave out" ? verdict : (again[row] ?? verdict)));
    }),
    await sessions.putBack("unproven", (rows) => sessionsAsRead(tables, rows)),
  ]);
}

const asTheyAre = async (rows: { readonly length: number }): Promise<readonly "as it is"[]> =>
  Array.from({ length: rows.length }, () => "as it is");

interface RowsOfSessions {
  readonly length: number;
  string(column: "session_id", row: number): string;
}

const wantedOf =
  (isWanted: (session: string) => Promise<boolean>) =>
  (rows: RowsOfSessions): Promise<readonly ("as it is" | "leave out")[]> =>
    Promise.all(
      Array.from({ length: rows.length }, async (_, row) =>
        (await isWanted(rows.string("session_id", row))) ? "as it is" : "leave out",
      ),
    );

/** Sessions that have a row, stored or kept aside, and those with messages that no state can have. */
class KnownSessions {
  readonly #ids: ReadonlySet<string>;
  readonly #unrecorded: ReadonlySet<string>;

  private constructor(ids: ReadonlySet<string>, unrecorded: ReadonlySet<string>) {
    this.#ids = ids;
    this.#unrecorded = unrecorded;
  }

  static async read({ sessions, messages, parts, sources }: SessionTables): Promise<KnownSessions> {
    const named = new Set<string>();
    const unrecorded = new Set<string>();
    for await (const rows of messages.keptRows("unproven"))
      for (let row = 0; row < rows.length; row++) {
        named.add(rows.string("session_id", row));
        // What an older pond stored, or a program.
        if (rows.isNull("hash", row)) unrecorded.add(rows.string("session_id", row));
      }
    for (const table of sources === undefined ? [parts] : [parts, sources])
      for await (const rows of table.keptRows("unproven"))
        for (let row = 0; row < rows.length; row++) named.add(rows.string("session_id", row));
    const ids = new Set<string>();
    for await (const rows of sessions.keptRows("unproven"))
      for (let row = 0; row < rows.length; row++) ids.add(rows.string("id", row));
    for await (const rows of sessions.scanIn("id", named, { select: ["id"] }))
      for (let row = 0; row < rows.length; row++) ids.add(rows.string("id", row));
    return new KnownSessions(ids, unrecorded);
  }

  has(session: string): boolean {
    return this.#ids.has(session);
  }

  isUnrecorded(session: string): boolean {
    return this.#unrecorded.has(session);
  }
}

/**
 * Rows of sessions as they could be read, marked as that: no digest covers them. Whose they are their messages say, too.
 * One that cannot be decoded, or belongs to no message and no state, is left out: what can be known of it is made anew.
 */
async function sessionsAsRead(
  tables: SessionTables,
  rows: Rows<typeof SESSIONS>,
): Promise<readonly ("leave out" | RowOf<typeof SESSIONS>)[]> {
  const ids = Array.from({ length: rows.length }, (_, row) => rows.string("id", row));
  const [labels, recorded] = await Promise.all([labelsInMessages(tables, ids), withStates(tables, ids)]);
  return ids.map((id, row) => {
    const options = markRecovered(rows.string("options", row));
    const label = labels.get(id);
    if (options === undefined || (label === undefined && !recorded.has(id))) return "leave out";
    return {
      id,
      parent_session_id: rows.stringOrNull("parent_session_id", row),
      parent_message_id: rows.stringOrNull("parent_message_id", row),
      relation: rows.stringOrNull("relation", row),
      source_agent: label?.source_agent ?? rows.string("source_agent", row),
      project: label?.project ?? rows.string("project", row),
      created_at: rows.timestamp("created_at", row),
      ingested_at: rows.timestamp("ingested_at", row),
      options,
    };
  });
}

interface Label {
  readonly source_agent: string;
  readonly project: string;
}

/** What most messages of each session say of it. */
async function labelsInMessages(
  { messages }: SessionTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Label>> {
  const votes = new Map<string, Map<string, { readonly label: Label; count: number }>>();
  const select = ["session_id", "source_agent", "project"] as const;
  for await (const rows of messages.scanIn("session_id", ids, { select }))
    for (let row = 0; row < rows.length; row++) {
      const label = { source_agent: rows.string("source_agent", row), project: rows.string("project", row) };
      const id = rows.string("session_id", row);
      const own = votes.get(id) ?? new Map<string, { readonly label: Label; count: number }>();
      votes.set(id, own);
      const name = `${label.source_agent}\0${label.project}`;
      const vote = own.get(name) ?? { label, count: 0 };
      own.set(name, vote);
      vote.count += 1;
    }
  return new Map(
    [...votes].flatMap(([id, own]) => {
      const [most] = [...own.values()].toSorted((a, b) => b.count - a.count);
      return most === undefined ? [] : [[id, most.label]];
    }),
  );
}

async function withStates({ sources }: SessionTables, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const rows of sources?.scanIn("session_id", ids, { select: ["session_id"] }) ?? [])
    for (let row = 0; row < rows.length; row++) found.add(rows.string("session_id", row));
  return found;
}

/** The rows with their derived columns as an import makes them; as they are where something that they need is missing. */
async function derivedAgain(
  tables: SessionTables,
  rows: MessageRows,
): Promise<readonly ("as it is" | RowOf<typeof MESSAGES>)[]> {
  const keys = Array.from({ length: rows.length }, (_, row) => ({
    session_id: sessionId(rows.string("session_id", row)),
    id: messageId(rows.string("id", row)),
  }));
  const labels = await tables.labelsOf(new Set(keys.map(({ session_id }) => session_id)));
  const refs = await readPartOutlinesOf(tables, keys);
  const bodies = await readPartBodies(tables, refs.flat(), { payloads: true });
  let at = 0;
  return refs.map((own, row) => {
    const parts = bodies.slice(at, (at += own.length)).flatMap((part) => part ?? []);
    const { session_id } = keys[row] ?? {};
    const label = labels.get(session_id ?? "");
    const [hash, origin] = [rows.intOrNull("hash", row), rows.stringOrNull("origin", row)];
    if (
      label === undefined ||
      hash === null ||
      origin === null ||
      parts.length !== rows.intOrNull("parts", row)
    )
      return "as it is";
    try {
      const message = decodeMessageRow(rows, row);
      return messageRow(message, {
        ...label,
        ingested_at: rows.timestamp("ingested_at", row),
        searchText: searchText(message, parts),
        parts: parts.length,
        partBytes: parts.reduce((sum, part) => sum + partBytes(partRow(part)), 0),
        hash,
        origin,
      });
    } catch {
      // It cannot be decoded, and is named as that by whoever reads it.
      return "as it is";
    }
  });
}

function total(each: readonly (PutBack | undefined)[]): PutBack {
  const sum = (of: (back: PutBack) => number): number =>
    each.reduce((all, back) => all + (back === undefined ? 0 : of(back)), 0);
  return { inserted: sum(({ inserted }) => inserted), leftOut: sum(({ leftOut }) => leftOut) };
}
