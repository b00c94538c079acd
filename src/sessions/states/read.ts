/** Reads of session rows, of stored hashes, and of where a message id occurs, all answered by indexes. */
import { toPondError } from "../../base/errors.ts";
import type { MessageKey, Session, SessionId, SessionKey } from "../../model/index.ts";
import { compareOldestFirst, messageId, sessionId } from "../../model/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import { joinKey } from "../../substrate/index.ts";
import type { StoredVersion } from "../tables/claim.ts";
import { incompleteMessages, messageKeyText } from "../tables/part-counts.ts";
import { decodeSession, SESSION_COLUMNS } from "../tables/rows.ts";
import type { SessionTables } from "../tables/tables.ts";
import { readStates, readVersions } from "../tables/versions.ts";

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
  return children.toSorted(compareOldestFirst);
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
  const cut = new Set(
    versions.filter((version) => incomplete.messages.has(messageKeyText(version))).map(nameOf),
  );
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
