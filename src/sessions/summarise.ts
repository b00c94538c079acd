/**
 * Summaries of sessions from the canonical tables (spec.md#session-summary): titles, counts, spans and sizes. One pass
 * over short columns, one over the first typed texts, one over the rows that say something about others; of some
 * sessions by the index, of most of them by a stream.
 */
import type { JsonObject } from "../base/json.ts";
import type { Relation, Role, SessionId, Timestamp } from "../model/index.ts";
import {
  messageId,
  newestRevisions,
  pondFacts,
  relations,
  revisionOf,
  roles,
  sessionId,
  valueAt,
} from "../model/index.ts";
import type { Rows, ScanOptions } from "../substrate/index.ts";
import { and, contains, eq, isNull, not, or } from "../substrate/index.ts";
import { decodeOptions, decodePond, instant, oneOf } from "./rows.ts";
import type { MESSAGES, SESSIONS } from "./schema.ts";
import type { SessionTables } from "./tables.ts";

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
}

/** Which sessions; undefined for all of them. */
export type Chosen = readonly string[] | undefined;

export async function summarise(tables: SessionTables, chosen: Chosen): Promise<SessionSummary[]> {
  const drafts = await readDrafts(tables, chosen);
  await Promise.all([countChildren(tables, chosen, drafts), readRemarks(tables, chosen, drafts)]);
  const counting = countMessages(tables, chosen, drafts);
  // Of all sessions one pass at a time: each keeps the engine busy, and their memory adds up.
  if (chosen === undefined) await counting;
  await Promise.all([counting, readFirstTexts(tables, chosen, drafts)]);
  return [...drafts.values()].map(summaryOf);
}

interface Draft {
  readonly head: Omit<
    SessionSummary,
    "title" | "first_at" | "last_at" | "ingested_at" | "messages" | "texts" | "bytes" | "children"
  >;
  readonly messages: Record<Role, number>;
  superseded: ReadonlySet<string>;
  first: number;
  last: number;
  ingested: number;
  texts: number;
  bytes: number;
  children: number;
  recorded: { readonly rank: number; readonly at: number; readonly text: string } | undefined;
  typed: { readonly seq: number; readonly at: number; readonly text: string } | undefined;
}

type Drafts = ReadonlyMap<string, Draft>;

async function readDrafts(tables: SessionTables, chosen: Chosen): Promise<Drafts> {
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
          source_agent: rows.string("source_agent", row),
          project: rows.string("project", row),
          ...(parent === null ? {} : { parent_session_id: parent }),
          ...(cut === null ? {} : { parent_message_id: cut }),
          ...(relation === undefined ? {} : { relation }),
          created_at: instant(rows.timestamp("created_at", row)),
        },
        messages: { system: 0, user: 0, assistant: 0, tool: 0 },
        superseded: new Set(),
        first: Number.POSITIVE_INFINITY,
        last: Number.NEGATIVE_INFINITY,
        ingested: rows.timestamp("ingested_at", row),
        texts: 0,
        bytes: 0,
        children: 0,
        recorded: undefined,
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

/** Titles, and which sessions have records that were rewritten. */
async function readRemarks(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  const select = ["session_id", "timestamp", "options"] as const;
  const where = or(contains("options", '"title":{'), contains("options", '"revises":'));
  const revised = new Set<string>();
  for await (const rows of messagesOf(tables, chosen, { select, where }))
    for (let row = 0; row < rows.length; row++) {
      const id = rows.string("session_id", row);
      const draft = drafts.get(id);
      if (draft === undefined) continue;
      const { options } = decodeOptions(rows.string("options", row));
      const { title, revises } = pondFacts(options);
      if (title !== undefined) {
        const message = { id: messageId(""), timestamp: instant(rows.timestamp("timestamp", row)), options };
        takeTitle(draft, options, { ...title, given: revisionOf(message).at });
      }
      if (revises !== undefined) revised.add(id);
    }
  await findSuperseded(tables, [...revised], drafts);
}

/** Messages that a newer revision of their record replaced, or that their client removed. */
async function findSuperseded(
  tables: SessionTables,
  revised: readonly string[],
  drafts: Drafts,
): Promise<void> {
  const select = ["session_id", "id", "timestamp", "options"] as const;
  const messages = new Map<string, Revisable[]>();
  for await (const rows of messagesOf(tables, revised, { select }))
    for (let row = 0; row < rows.length; row++) {
      const session = rows.string("session_id", row);
      const pond = decodePond(rows.string("options", row));
      const id = messageId(rows.string("id", row));
      const timestamp = instant(rows.timestamp("timestamp", row));
      const known = messages.get(session) ?? [];
      known.push({ message: { id, timestamp, options: { pond } } });
      messages.set(session, known);
    }
  for (const [session, all] of messages) {
    const newest = new Set(newestRevisions(all));
    const draft = drafts.get(session);
    const superseded = all.filter((each) => !newest.has(each)).map(({ message }) => message.id);
    if (draft !== undefined) draft.superseded = new Set(superseded);
  }
}

type Revisable = Parameters<typeof newestRevisions>[0][number];

function takeTitle(
  draft: Draft,
  options: JsonObject,
  title: { readonly at: string; readonly rank: number; readonly given: number },
): void {
  const best = draft.recorded;
  if (best !== undefined && (best.rank > title.rank || (best.rank === title.rank && best.at > title.given)))
    return;
  const value = valueAt(options, title.at);
  const text = typeof value === "string" ? titleLine(value) : "";
  if (text !== "") draft.recorded = { rank: title.rank, at: title.given, text };
}

async function countMessages(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  const select = ["session_id", "id", "role", "timestamp", "text_bytes", "bytes", "ingested_at"] as const;
  for await (const rows of messagesOf(tables, chosen, { select }))
    for (let row = 0; row < rows.length; row++) {
      const draft = drafts.get(rows.string("session_id", row));
      if (draft !== undefined) countMessage(draft, rows, row);
    }
}

function countMessage(draft: Draft, rows: Rows<typeof MESSAGES>, row: number): void {
  draft.ingested = Math.max(draft.ingested, rows.timestamp("ingested_at", row));
  draft.bytes += rows.intOrNull("bytes", row) ?? 0;
  if (draft.superseded.size > 0 && draft.superseded.has(rows.string("id", row))) return;
  if (!rows.isNull("text_bytes", row)) draft.texts += 1;
  const role = oneOf(roles, rows.string("role", row));
  if (role !== undefined) draft.messages[role] += 1;
  // Carriers have the times of files and registers, which says nothing about the conversation.
  if (role === "system") return;
  const at = rows.timestamp("timestamp", row);
  draft.first = Math.min(draft.first, at);
  draft.last = Math.max(draft.last, at);
}

/** For sessions without a recorded title. */
async function readFirstTexts(tables: SessionTables, chosen: Chosen, drafts: Drafts): Promise<void> {
  const select = ["session_id", "seq", "timestamp", "search_text"] as const;
  const where = and(eq("role", "user"), not(isNull("text_bytes")));
  const untitled = chosen?.filter((id) => drafts.get(id)?.recorded === undefined);
  for await (const rows of messagesOf(tables, untitled, { select, where }))
    for (let row = 0; row < rows.length; row++) {
      const draft = drafts.get(rows.string("session_id", row));
      if (draft === undefined || draft.recorded !== undefined) continue;
      const seq = rows.intOrNull("seq", row) ?? Number.MAX_SAFE_INTEGER;
      const at = rows.timestamp("timestamp", row);
      const { typed } = draft;
      if (typed !== undefined && (typed.seq < seq || (typed.seq === seq && typed.at <= at))) continue;
      const text = titleLine(rows.string("search_text", row));
      if (text !== "") draft.typed = { seq, at, text };
    }
}

function sessionsOf(
  tables: SessionTables,
  of: { readonly column: "id" | "parent_session_id"; readonly chosen: Chosen },
  select: ScanOptions<typeof SESSIONS>["select"],
): AsyncIterable<Rows<typeof SESSIONS>> {
  if (of.chosen === undefined) return tables.sessions.scanBatches({ select });
  return tables.sessions.scanIn(of.column, of.chosen, { select });
}

function messagesOf(
  tables: SessionTables,
  chosen: Chosen,
  options: ScanOptions<typeof MESSAGES>,
): AsyncIterable<Rows<typeof MESSAGES>> {
  if (chosen === undefined) return tables.messages.scanBatches(options);
  return tables.messages.scanIn("session_id", chosen, options);
}

function summaryOf(draft: Draft): SessionSummary {
  const { head, recorded, typed } = draft;
  const title = recorded?.text ?? typed?.text;
  const isEmpty = draft.first > draft.last;
  return {
    ...head,
    ...(title === undefined ? {} : { title }),
    first_at: isEmpty ? head.created_at : instant(draft.first),
    last_at: isEmpty ? head.created_at : instant(draft.last),
    ingested_at: instant(draft.ingested),
    messages: draft.messages,
    texts: draft.texts,
    bytes: draft.bytes,
    children: draft.children,
  };
}

const MAX_TITLE = 200;

/** One line of bounded length, never cut inside a surrogate pair. */
function titleLine(text: string): string {
  const line = text
    .slice(0, MAX_TITLE * 20)
    .replaceAll(/\s+/gu, " ")
    .trim();
  if (line.length <= MAX_TITLE) return line.toWellFormed();
  const head = line.slice(0, MAX_TITLE - 3);
  return `${(/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head).trimEnd()}...`.toWellFormed();
}
