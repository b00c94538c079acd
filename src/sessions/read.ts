/**
 * Reads of the canonical record, all answered by indexes: keys first, from short columns only, then the long columns of
 * the rows that are wanted (spec.md#lance-chokepoints-read).
 */
import { toPondError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type {
  EntityKey,
  Fault,
  MessageKey,
  MessageOutline,
  Session,
  SessionId,
  SessionKey,
} from "../model/index.ts";
import {
  compareInSession,
  decodeRepeats,
  messageId,
  roles as allRoles,
  sessionId,
  timestampFromMicros,
} from "../model/index.ts";
import type { Rows } from "../substrate/index.ts";
import { eq, joinKey } from "../substrate/index.ts";
import type { StoredVersion } from "./claim.ts";
import type { PlacedRow } from "./history.ts";
import { incompleteMessages, keyOf } from "./part-counts.ts";
import { decodePond, decodeSession, oneOf, revisesAt, SESSION_COLUMNS } from "./rows.ts";
import type { MESSAGES } from "./schema.ts";
import type { SessionTables } from "./tables.ts";
import { readStates, readVersions } from "./versions.ts";

/** What is told of a row that is left out; nothing where nobody asks. */
export type OnFault = (key: EntityKey, fault: Fault) => void;

/** A message without its body, and where it is. */
export interface MessageRef extends MessageOutline {
  /** The engine's row, stable across maintenance. */
  readonly row: bigint;
  /** What tells its place in the states of its sources, and how many parts it should have. */
  readonly placed?: PlacedRow & { readonly parts: number | null };
}

export async function readSessions(
  tables: SessionTables,
  ids: Iterable<string>,
): Promise<Map<SessionId, Session>> {
  const sessions = new Map<SessionId, Session>();
  for await (const rows of tables.sessions.scanIn("id", ids, { select: SESSION_COLUMNS }))
    for (let row = 0; row < rows.length; row++) {
      const session = decodeSession(rows, row);
      sessions.set(session.id, session);
    }
  return sessions;
}

/** A session whose row cannot be read, by what is left of it. */
export interface DamagedSession extends SessionKey {
  readonly source_agent: string;
  readonly message: string;
}

export async function* readAllSessions(
  tables: SessionTables,
  onDamage: (session: DamagedSession) => void,
): AsyncGenerator<Session> {
  for await (const rows of tables.sessions.scanBatches({ select: SESSION_COLUMNS }))
    for (let row = 0; row < rows.length; row++) {
      let session: Session;
      try {
        session = decodeSession(rows, row);
      } catch (error) {
        const { message } = toPondError(error);
        onDamage({
          id: sessionId(rows.string("id", row)),
          source_agent: rows.string("source_agent", row),
          message,
        });
        continue;
      }
      yield session;
    }
}

/** The sessions that name this one as their parent, oldest first. */
export async function readChildren(tables: SessionTables, parent: SessionId): Promise<Session[]> {
  const rows = await tables.sessions.scan({
    select: SESSION_COLUMNS,
    where: eq("parent_session_id", parent),
  });
  const children = Array.from({ length: rows.length }, (_, row) => decodeSession(rows, row));
  return children.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/** Rows of messages: short columns, and the long ones that were asked for. */
export type MessageRows = Rows<typeof MESSAGES>;

const OUTLINE_COLUMNS = [
  "id",
  "seq",
  "timestamp",
  "role",
  "text_bytes",
  "bytes",
  "repeats",
  "origin",
  "parts",
] as const;

/** All messages of a session, in no particular order; bodies unread but for the columns named. */
export function scanMessages(
  tables: SessionTables,
  session: SessionId,
  long: readonly (typeof SAID_COLUMNS)[number][] = [],
): Promise<MessageRows> {
  const select = [...OUTLINE_COLUMNS, ...long];
  return tables.messages.scan({ select, where: eq("session_id", session), withRowId: true, few: true });
}

/** Every message of a session in its order, bodies unread. */
export async function readMessageRefs(tables: SessionTables, session: SessionId): Promise<MessageRef[]> {
  return messageRefsIn(await scanMessages(tables, session), session);
}

/** The messages of a session in its order. */
export function messageRefsIn(rows: MessageRows, session: SessionId, onFault?: OnFault): MessageRef[] {
  const refs: MessageRef[] = [];
  let origin: string | null = null;
  for (let row = 0; row < rows.length; row++) {
    const id = messageId(rows.string("id", row));
    // Of one read all rows share it: one text is kept, and not as many as there are rows.
    const own = rows.stringOrNull("origin", row);
    if (own !== origin) origin = own;
    const seq = rows.intOrNull("seq", row);
    const role = oneOf(allRoles, rows.string("role", row));
    const micros = rows.timestamp("timestamp", row);
    const timestamp = timestampFromMicros(micros);
    if (role === undefined || timestamp === undefined) {
      const message = `it is of role ${rows.string("role", row)}, at ${micros} microseconds`;
      onFault?.({ session_id: session, id }, { kind: "unreadable", message });
      continue;
    }
    const textBytes = rows.intOrNull("text_bytes", row);
    refs.push({
      session_id: session,
      id,
      ...(seq === null ? {} : { seq }),
      timestamp,
      role,
      ...(textBytes === null ? {} : { text_bytes: textBytes }),
      bytes: rows.intOrNull("bytes", row) ?? 0,
      ...revisesAt(rows, row),
      row: rows.rowId(row),
      placed: placedAt(rows, row, { id, seq, origin }),
    });
  }
  return refs.toSorted(compareInSession);
}

function placedAt(
  rows: MessageRows,
  row: number,
  { id, seq, origin }: { readonly id: string; readonly seq: number | null; readonly origin: string | null },
): Exclude<MessageRef["placed"], undefined> {
  return {
    id,
    record: decodeRepeats(rows.stringOrNull("repeats", row) ?? "", id).record,
    origin,
    seq,
    parts: rows.intOrNull("parts", row),
  };
}

/**
 * The hashes that are stored of records, by session and record; none of rows that an older pond stored, nor of those that a
 * crash left without their parts.
 */
export async function readHashes(
  tables: SessionTables,
  sessions: readonly SessionId[],
  isDoubtful = false,
): Promise<Map<SessionId, Map<string, number[]>>> {
  const found = new Map<SessionId, Map<string, number[]>>();
  const [versions, states] = await Promise.all([
    readVersions(tables, { sessions }),
    readStates(tables, sessions),
  ]);
  const incomplete = await incompleteMessages(tables.parts, versions, isDoubtful ? [] : states);
  const nameOf = ({ session_id, record, hash }: StoredVersion): string =>
    joinKey([session_id, record, `${hash}`]);
  // A record may be split over several messages.
  const cut = new Set(versions.filter((version) => incomplete.messages.has(keyOf(version))).map(nameOf));
  for (const version of versions) {
    const { session_id, record, hash } = version;
    const session = sessionId(session_id);
    const records = found.get(session) ?? new Map<string, number[]>();
    found.set(session, records);
    const hashes = records.get(record) ?? [];
    const isWhole = hash !== null && !cut.has(nameOf(version));
    records.set(record, isWhole ? [...hashes, hash] : hashes);
  }
  return found;
}

/** Where a message id occurs; an id is unique only inside its session. */
export async function findMessage(tables: SessionTables, id: string): Promise<MessageKey[]> {
  const select = ["session_id", "id"] as const;
  const rows = await tables.messages.scan({ select, where: eq("id", id), few: true });
  return Array.from({ length: rows.length }, (_, row) => ({
    session_id: sessionId(rows.string("session_id", row)),
    id: messageId(rows.string("id", row)),
  }));
}

/** What a message says: its indexed text, or the content of a system message. */
export interface MessageText {
  readonly text: string | null;
  readonly content: string | null;
}

/** The texts of some messages, in the order given. Only system messages have content. */
export async function readTexts(
  tables: SessionTables,
  refs: readonly Pick<MessageRef, "row" | "role">[],
): Promise<readonly MessageText[]> {
  if (refs.length === 0) return [];
  const hasContent = refs.some(({ role }) => role === "system");
  const rows = refs.map(({ row }) => row);
  const found = await tables.messages.take(rows, hasContent ? ["search_text", "content"] : ["search_text"]);
  return rows.map((_, row) => textAt(found, row));
}

/** The same with the facts that pond keeps about the message: one read for both. */
export interface Said extends MessageText {
  readonly pond: JsonObject;
}

/** What holds it. */
export const SAID_COLUMNS = ["content", "options", "search_text"] as const;

export async function readSaid(tables: SessionTables, rows: readonly bigint[]): Promise<readonly Said[]> {
  if (rows.length === 0) return [];
  const found = await tables.messages.take(rows, SAID_COLUMNS);
  return rows.map((_, row) => saidAt(found, row));
}

export function saidAt(rows: MessageRows, row: number): Said {
  return { ...textAt(rows, row), pond: pondSpaceIn(rows.string("options", row)) };
}

function textAt(rows: MessageRows, row: number): MessageText {
  const content = rows.has("content") ? rows.stringOrNull("content", row) : null;
  return { text: rows.stringOrNull("search_text", row), content };
}

/** Rows of one take whose options are held at a time: only their `pond` space is kept. */
const OPTIONS_PER_TAKE = 2000;

/** The `pond` space of the options of some messages, in the order given. */
export async function readPondSpaces(
  tables: SessionTables,
  rows: readonly bigint[],
): Promise<readonly JsonObject[]> {
  const spaces: JsonObject[] = [];
  for (let start = 0; start < rows.length; start += OPTIONS_PER_TAKE) {
    const step = rows.slice(start, start + OPTIONS_PER_TAKE);
    const found = await tables.messages.take(step, ["options"]);
    for (const row of step.keys()) spaces.push(pondSpaceIn(found.string("options", row)));
  }
  return spaces;
}

/** Of a row that cannot be read nothing is known; who reads its body says so. */
function pondSpaceIn(options: string): JsonObject {
  try {
    return decodePond(options);
  } catch {
    return {};
  }
}
