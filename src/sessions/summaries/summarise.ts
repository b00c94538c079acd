/**
 * Summaries of sessions from the canonical tables (spec.md#session-summary): titles, counts, spans and sizes of their
 * newest ends. One pass over short columns, one over the first typed texts, one over the carriers, which hold titles; of some
 * sessions by the index, of most of them by a stream. Where rows stand (row-states.ts) is asked for only where the states of
 * a session's sources, or the rows themselves, say that not all of them are current.
 */
import type { RecordedTitle } from "../../model/derived/index.ts";
import type { Relation, Role, SessionId, Timestamp } from "../../model/index.ts";
import { bestTitle, titleIn, titleLine } from "../../model/derived/index.ts";
import { messageId, relations, roles, sessionId } from "../../model/index.ts";
import type { Rows } from "../../substrate/index.ts";
import { and, eq, isNull, not } from "../../substrate/engine/predicate.ts";
import type { SessionRowStates } from "../states/read-row-states.ts";
import { readRowStates } from "../states/read-row-states.ts";
import { decodeFacts, decodeOptions } from "../tables/options-text.ts";
import { instant, oneOf } from "../tables/rows.ts";
import type { MESSAGES } from "../tables/schema.ts";
import type { RowStatus } from "../states/row-states.ts";
import type { Chosen, RecordedHoldings } from "./summary-scans.ts";
import { titleCarriersOf, messagesOf, readHoldings, sessionsOf } from "./summary-scans.ts";
import type { SessionTables } from "../tables/tables.ts";

export interface SessionSummary {
  readonly id: SessionId;
  /** What the source recorded, else the first text that a person typed; one line (spec.md#model-title). */
  readonly title?: string;
  readonly source_agent: string;
  readonly project: string;
  readonly parent_session_id?: string;
  readonly parent_message_id?: string;
  readonly relation?: Relation;
  readonly created_at: Timestamp;
  /** Of its messages, carriers left out; when there are none, when it was created. */
  readonly first_at: Timestamp;
  readonly last_at: Timestamp;
  readonly ingested_at: Timestamp;
  /** Messages by role; of a record with several revisions one. */
  readonly messages: Readonly<Record<Role, number>>;
  /** Messages with indexed text. */
  readonly texts: number;
  readonly bytes: number;
  readonly children: number;
  /** Ways that its sources went. Unknown where an older pond summarised it, as is `replaced`. */
  readonly ends?: number;
  /** Rows that are in none of its ends: replaced by another version of their record, or removed. */
  readonly replaced?: number;
}

/** True where all that is stored of a session is in its newest end: nothing else needs to be asked about its rows. */
export function isPlain({ ends, replaced }: Pick<SessionSummary, "ends" | "replaced">): boolean {
  return ends === 1 && replaced === 0;
}

export async function summarise(tables: SessionTables, chosen: Chosen): Promise<SessionSummary[]> {
  const drafts = await readDrafts(tables, chosen);
  const [holdings] = await Promise.all([
    readHoldings(tables, chosen, [...drafts.keys()]),
    countChildren(tables, chosen, drafts),
    readTitles(tables, chosen, drafts),
  ]);
  await readRowState(tables, holdings.doubtful, drafts);
  await countMessages(tables, chosen, { drafts, holdings });
  await readFirstTexts(tables, chosen, drafts);
  // Each draft goes as its summary comes: there may be hundreds of thousands.
  return Array.from(drafts, ([id, draft]) => {
    drafts.delete(id);
    return summaryOf(draft);
  });
}

interface Draft {
  readonly head: Pick<
    SessionSummary,
    "id" | "source_agent" | "project" | "parent_session_id" | "parent_message_id" | "relation" | "created_at"
  >;
  /** Where its rows stand; undefined as long as all of them seem to be current. */
  rowStates: SessionRowStates | undefined;
  counts: Counts;
  ingested: number;
  children: number;
  readonly titles: Title[];
  typed: { readonly place: number; readonly at: number; readonly text: string } | undefined;
}

interface Counts {
  readonly messages: Record<Role, number>;
  first: number;
  last: number;
  texts: number;
  bytes: number;
  replaced: number;
}

const noCounts = (): Counts => ({
  messages: { system: 0, user: 0, assistant: 0, tool: 0 },
  first: Number.POSITIVE_INFINITY,
  last: Number.NEGATIVE_INFINITY,
  texts: 0,
  bytes: 0,
  replaced: 0,
});

interface Title extends RecordedTitle {
  readonly id: string;
}

type Drafts = ReadonlyMap<string, Draft>;

async function readDrafts(tables: SessionTables, chosen: Chosen): Promise<Map<string, Draft>> {
  const labels = new Map<string, string>();
  /** Of equal labels a single text is kept. */
  const label = (text: string): string => {
    const known = labels.get(text);
    if (known === undefined) labels.set(text, text);
    return known ?? text;
  };
  const drafts = new Map<string, Draft>();
  const select = [
    "id",
    "parent_session_id",
    "parent_message_id",
    "relation",
    "source_agent",
    "project",
    "created_at",
    "ingested_at",
  ] as const;
  for await (const rows of sessionsOf(tables, { column: "id", chosen }, select))
    for (let row = 0; row < rows.length; row++) {
      const parent = rows.stringOrNull("parent_session_id", row);
      const cut = rows.stringOrNull("parent_message_id", row);
      const relation = oneOf(relations, rows.stringOrNull("relation", row));
      const id = sessionId(rows.string("id", row));
      drafts.set(id, {
        head: {
          id,
          source_agent: label(rows.string("source_agent", row)),
          project: label(rows.string("project", row)),
          ...(parent === null ? {} : { parent_session_id: parent }),
          ...(cut === null ? {} : { parent_message_id: cut }),
          ...(relation === undefined ? {} : { relation }),
          created_at: instant(rows.timestamp("created_at", row)),
        },
        rowStates: undefined,
        counts: noCounts(),
        ingested: rows.timestamp("ingested_at", row),
        children: 0,
        titles: [],
        typed: undefined,
      });
    }
  return drafts;
}

async function countChildren(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  const select = ["id", "parent_session_id"] as const;
  for await (const rows of sessionsOf(tables, { column: "parent_session_id", chosen }, select))
    for (let row = 0; row < rows.length; row++) {
      const parent = rows.stringOrNull("parent_session_id", row) ?? "";
      const draft = drafts.get(parent);
      // One that names itself is no child of its own.
      if (draft !== undefined && rows.string("id", row) !== parent) draft.children += 1;
    }
}

/** What their sources recorded as titles: which of them counts is known when it is known where they stand. */
async function readTitles(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  for await (const rows of titleCarriersOf(tables, chosen, [
    "session_id",
    "id",
    "seq",
    "timestamp",
    "options",
  ]))
    for (let row = 0; row < rows.length; row++) {
      const draft = drafts.get(rows.string("session_id", row));
      const stored = rows.string("options", row);
      if (draft === undefined || decodeFacts(stored).title === undefined) continue;
      const id = messageId(rows.string("id", row));
      const seq = rows.intOrNull("seq", row);
      const title = titleIn({
        id,
        ...(seq === null ? {} : { seq }),
        timestamp: instant(rows.timestamp("timestamp", row)),
        role: "system",
        options: decodeOptions(stored).options,
      });
      if (title !== undefined) draft.titles.push({ ...title, id, text: titleLine(title.text) });
    }
}

/** Of those that are current. */
function titleOf({ titles, rowStates }: Draft): string | undefined {
  const current = titles.filter(({ id }) => rowStates === undefined || rowStates.of.get(id) === "current");
  return bestTitle(current)?.text;
}

/** Of the sessions whose rows cannot all be current, or need not be. */
async function readRowState(
  tables: SessionTables,
  doubtful: ReadonlySet<string>,
  drafts: Drafts,
): Promise<void> {
  if (doubtful.size === 0) return;
  for (const [id, rowStates] of await readRowStates(tables, [...doubtful])) {
    const draft = drafts.get(id);
    if (draft !== undefined) draft.rowStates = rowStates;
  }
}

async function countMessages(
  tables: SessionTables,
  chosen: Chosen,
  { drafts, holdings }: { readonly drafts: Drafts; readonly holdings: RecordedHoldings },
): Promise<void> {
  const strays = new Set<string>();
  for await (const rows of messagesOf(tables, chosen, { select: COUNTED }))
    for (let row = 0; row < rows.length; row++) {
      const id = rows.string("session_id", row);
      const draft = drafts.get(id);
      if (draft === undefined) continue;
      if (draft.rowStates === undefined && holdings.held.get(id)?.holds(rows, row) === false) strays.add(id);
      countMessage(draft, rows, row);
    }
  if (strays.size === 0) return;
  // Rows that the newest state does not hold: these sessions are counted again, now that it is known what is current.
  await readRowState(tables, strays, drafts);
  for (const id of strays) {
    const draft = drafts.get(id);
    if (draft !== undefined) draft.counts = noCounts();
  }
  for await (const rows of messagesOf(tables, [...strays], { select: COUNTED }))
    for (let row = 0; row < rows.length; row++) {
      const draft = drafts.get(rows.string("session_id", row));
      if (draft !== undefined) countMessage(draft, rows, row);
    }
}

const COUNTED = [
  "session_id",
  "id",
  "role",
  "timestamp",
  "text_bytes",
  "bytes",
  "origin",
  "seq",
  "ingested_at",
] as const;

function countMessage(draft: Draft, rows: Rows<typeof MESSAGES>, row: number): void {
  draft.ingested = Math.max(draft.ingested, rows.timestamp("ingested_at", row));
  const { counts } = draft;
  const status = rowStateIn(draft, rows, row);
  if (status === "superseded" || status === "removed") counts.replaced += 1;
  if (status !== "current") return;
  counts.bytes += rows.intOrNull("bytes", row) ?? 0;
  if (!rows.isNull("text_bytes", row)) counts.texts += 1;
  const role = oneOf(roles, rows.string("role", row));
  if (role !== undefined) counts.messages[role] += 1;
  // Carriers have the times of files and registers, which says nothing about the conversation.
  if (role === "system") return;
  const at = rows.timestamp("timestamp", row);
  counts.first = Math.min(counts.first, at);
  counts.last = Math.max(counts.last, at);
}

function rowStateIn({ rowStates }: Draft, rows: Rows<typeof MESSAGES>, row: number): RowStatus {
  return rowStates?.of.get(rows.string("id", row)) ?? "current";
}

/** For sessions without a recorded title. */
async function readFirstTexts(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  const select = ["session_id", "id", "seq", "timestamp", "search_text"] as const;
  const where = and(eq("role", "user"), not(isNull("text_bytes")));
  const titled = new Set([...drafts].flatMap(([id, draft]) => (titleOf(draft) === undefined ? [] : [id])));
  const untitled = chosen?.filter((id) => !titled.has(id));
  const places = new Map<string, ReadonlyMap<string, number>>();
  for await (const rows of messagesOf(tables, untitled, { select, where }))
    for (let row = 0; row < rows.length; row++) {
      const session = rows.string("session_id", row);
      const draft = drafts.get(session);
      if (draft === undefined || titled.has(session)) continue;
      if (rowStateIn(draft, rows, row) !== "current") continue;
      const known = places.get(session) ?? placesIn(draft);
      places.set(session, known);
      const seq = rows.intOrNull("seq", row) ?? Number.MAX_SAFE_INTEGER;
      const place = known.get(rows.string("id", row)) ?? seq;
      const at = rows.timestamp("timestamp", row);
      const { typed } = draft;
      if (typed !== undefined && (typed.place < place || (typed.place === place && typed.at <= at))) continue;
      const text = titleLine(rows.string("search_text", row));
      if (text !== "") draft.typed = { place, at, text };
    }
}

/** The order of the newest end, where it is not that of first reading. */
function placesIn({ rowStates }: Draft): ReadonlyMap<string, number> {
  return new Map(rowStates?.ends[0]?.rows.map(({ id }, at) => [id, at]));
}

function summaryOf(draft: Draft): SessionSummary {
  const { head, typed, rowStates } = draft;
  const { first, last, ...counts } = draft.counts;
  const title = titleOf(draft) ?? typed?.text;
  const isEmpty = first > last;
  return {
    ...head,
    ...(title === undefined ? {} : { title }),
    first_at: isEmpty ? head.created_at : instant(first),
    last_at: isEmpty ? head.created_at : instant(last),
    ingested_at: instant(draft.ingested),
    ...counts,
    children: draft.children,
    ends: Math.max(1, rowStates?.ends.length ?? 1),
  };
}
