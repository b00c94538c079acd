/**
 * Reads of the canonical record, all answered by indexes: keys first, from short columns only, then the long columns of
 * the rows that are wanted (spec.md#lance-chokepoints-read).
 */
import { isJsonObject } from "../base/json.ts";
import type {
  Message,
  MessageId,
  MessageKey,
  Part,
  Revision,
  Role,
  Session,
  SessionId,
  Timestamp,
} from "../model/index.ts";
import {
  compareInSession,
  compareParts,
  messageId,
  revisionOf,
  roles as allRoles,
  sessionId,
  timestampFromMicros,
} from "../model/index.ts";
import { and, eq, isIn, MAX_IN_VALUES } from "../substrate/index.ts";
import {
  decodeMessage,
  decodePart,
  decodeSession,
  MESSAGE_COLUMNS,
  PART_COLUMNS,
  SESSION_COLUMNS,
} from "./rows.ts";
import type { SessionTables } from "./tables.ts";

/** A message without its body: enough to order, page and choose. */
export interface MessageRef extends MessageKey {
  readonly seq?: number;
  readonly timestamp: Timestamp;
  readonly role: Role;
  /** The engine's row, stable across maintenance. */
  readonly row: bigint;
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

export async function* readAllSessions(tables: SessionTables): AsyncGenerator<Session> {
  for await (const rows of tables.sessions.scanBatches({ select: SESSION_COLUMNS }))
    for (let row = 0; row < rows.length; row++) yield decodeSession(rows, row);
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

/** Every message of a session in its order, bodies unread. */
export async function readMessageRefs(tables: SessionTables, session: SessionId): Promise<MessageRef[]> {
  const select = ["session_id", "id", "seq", "timestamp", "role"] as const;
  const rows = await tables.messages.scan({ select, where: eq("session_id", session), withRowId: true });
  const refs: MessageRef[] = [];
  for (let row = 0; row < rows.length; row++) {
    const seq = rows.intOrNull("seq", row);
    const role = allRoles.find((candidate) => candidate === rows.string("role", row));
    const timestamp = timestampFromMicros(rows.timestamp("timestamp", row));
    if (role === undefined || timestamp === undefined) continue;
    const id = messageId(rows.string("id", row));
    refs.push({
      session_id: session,
      id,
      ...(seq === null ? {} : { seq }),
      timestamp,
      role,
      row: rows.rowId(row),
    });
  }
  return refs.toSorted(compareInSession);
}

/** What is stored of records that their source rewrites in place: by session and record, every version. */
export async function readRevisions(
  tables: SessionTables,
  sessions: readonly SessionId[],
): Promise<Map<SessionId, Map<string, (Revision & { readonly id: MessageId })[]>>> {
  const found = new Map<SessionId, Map<string, (Revision & { readonly id: MessageId })[]>>();
  for await (const rows of tables.messages.scanIn("session_id", sessions, { select: MESSAGE_COLUMNS }))
    for (let row = 0; row < rows.length; row++) {
      const message = decodeMessage(rows, row);
      const revision = revisionOf(message);
      // The further messages of a split record say nothing that its first one does not.
      const isFirst = revision.version !== message.id && !isSplit(message);
      if (!isFirst) continue;
      const records = found.get(message.session_id) ?? new Map<string, (Revision & { id: MessageId })[]>();
      found.set(message.session_id, records);
      const versions = records.get(revision.record) ?? [];
      records.set(revision.record, [...versions, { ...revision, id: message.id }]);
    }
  return found;
}

function isSplit({ options }: Message): boolean {
  const { pond } = options;
  return isJsonObject(pond) && Object.hasOwn(pond, "record");
}

/** The bodies of some messages, in the order given. */
export async function readMessages(tables: SessionTables, refs: readonly MessageRef[]): Promise<Message[]> {
  if (refs.length === 0) return [];
  const rows = await tables.messages.take(
    refs.map((ref) => ref.row),
    MESSAGE_COLUMNS,
  );
  return Array.from({ length: rows.length }, (_, row) => decodeMessage(rows, row));
}

export interface PartOptions {
  /** Read the payloads of files too; without them a file part has an empty one. */
  readonly payloads: boolean;
}

/** The parts of some messages of one session, in order, by message. */
export async function readParts(
  tables: SessionTables,
  of: { readonly session: SessionId; readonly messages: readonly MessageId[] },
  options: PartOptions,
): Promise<Map<MessageId, Part[]>> {
  const parts = new Map<MessageId, Part[]>(of.messages.map((id) => [id, []]));
  for (let start = 0; start < of.messages.length; start += MAX_IN_VALUES) {
    const ids = of.messages.slice(start, start + MAX_IN_VALUES);
    const where = and(eq("session_id", of.session), isIn("message_id", ids));
    const rows = await tables.parts.scan({ select: PART_COLUMNS, where, withRowId: true });
    const payloads = options.payloads ? await readPayloads(tables, rows) : new Map<number, Uint8Array>();
    for (let row = 0; row < rows.length; row++) {
      const part = decodePart(rows, row, payloads.get(row) ?? null);
      parts.get(part.message_id)?.push(part);
    }
  }
  for (const list of parts.values()) list.sort(compareParts);
  return parts;
}

/** Where a message id occurs; an id is unique only inside its session. */
export async function findMessage(tables: SessionTables, id: string): Promise<MessageKey[]> {
  const rows = await tables.messages.scan({ select: ["session_id", "id"], where: eq("id", id) });
  return Array.from({ length: rows.length }, (_, row) => ({
    session_id: sessionId(rows.string("session_id", row)),
    id: messageId(rows.string("id", row)),
  }));
}

/** Payloads by row of the answer; rows without one are left out. */
async function readPayloads(
  tables: SessionTables,
  rows: Awaited<ReturnType<SessionTables["parts"]["scan"]>>,
): Promise<Map<number, Uint8Array>> {
  const files: number[] = [];
  for (let row = 0; row < rows.length; row++) if (rows.string("type", row) === "file") files.push(row);
  const blobs = await tables.parts.fetchBlobs(
    "data",
    files.map((row) => rows.rowId(row)),
  );
  const payloads = new Map<number, Uint8Array>();
  for (const [index, row] of files.entries()) {
    const blob = blobs[index];
    if (blob !== null && blob !== undefined) payloads.set(row, blob);
  }
  return payloads;
}
