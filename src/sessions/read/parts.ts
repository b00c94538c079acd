/**
 * Reads of parts: first their short columns, by the index on the session, then the long ones of the parts that are
 * wanted (spec.md#lance-chokepoints-read).
 */
import type { MessageId, MessageKey, PartKey, SessionId } from "../../model/index.ts";
import type { PartOutline, PartScope } from "../../model/tree/index.ts";
import { compareParts, messageId, partId, partTypes, provenances, sessionId } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { and, eq, isIn, not } from "../../substrate/engine/predicate.ts";
import type { OutlineOptions } from "../states/message-outlines.ts";
import type { PartRows, RowRef, StoredPart } from "../states/row-ref.ts";
import { oneOf, PART_BODY_COLUMNS } from "../tables/rows.ts";
import type { PARTS } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";

/** What tells of a part of a known session without its body. */
const OWN_COLUMNS = [
  "message_id",
  "id",
  "ordinal",
  "type",
  "provenance",
  "tool_name",
  "call_id",
  "is_failure",
] as const;
/** The same of a part of any session. */
const OUTLINE_COLUMNS = ["session_id", ...OWN_COLUMNS] as const;
/** Asking for 20 messages by id costs as much as reading the keys of some 500 (measured). */
const CHEAPER_BY_SESSION = { messages: 500, factor: 4 };
const IDS_PER_SCAN = 500;

/** Whether a session has so few messages that all of its parts are read, whichever are wanted. */
export const isReadWhole = (messages: number): boolean => messages <= CHEAPER_BY_SESSION.messages;

/** All parts of a session, in no particular order, with their bodies or without. */
export function scanParts(tables: SessionTables, session: SessionId, bodies = false): Promise<PartRows> {
  const select = bodies ? [...OWN_COLUMNS, ...PART_BODY_COLUMNS] : OWN_COLUMNS;
  return tables.parts.scan({ select, where: eq("session_id", session), withRowId: true, few: true });
}

interface PartOptions extends Pick<OutlineOptions, "onFault"> {
  readonly version?: Promise<number>;
  /** All parts of their session, where they were read already. */
  readonly ahead?: PartRows | undefined;
}

/** The parts of some messages, in order, by message; bodies unread but where they came ahead. */
export async function readPartOutlines(
  tables: SessionTables,
  scope: PartScope,
  { version, onFault, ahead }: PartOptions = {},
): Promise<Map<MessageId, StoredPart[]>> {
  const parts = new Map<MessageId, StoredPart[]>(scope.messages.map(({ id }) => [id, []]));
  for await (const rows of ahead === undefined ? scansOf(tables, scope) : [ahead]) {
    const at = { session: scope.session, version: await version };
    for (let row = 0; row < rows.length; row++) {
      const list = parts.get(messageId(rows.string("message_id", row)));
      if (list === undefined) continue;
      const part = partOutlineAt(rows, row, at);
      if (part !== undefined) list.push(part);
      else
        onFault?.(keyAt(rows, row, scope.session), {
          kind: "unreadable",
          message: `it is of type ${rows.string("type", row)}`,
        });
    }
  }
  for (const list of parts.values()) list.sort(compareParts);
  return parts;
}

/** Parts by any filter, in no particular order, at most `limit`; bodies unread. */
export async function findPartOutlines(
  tables: SessionTables,
  where: Predicate<typeof PARTS>,
  limit?: number,
): Promise<StoredPart[]> {
  const rows = await tables.parts.scan({
    select: OUTLINE_COLUMNS,
    where,
    withRowId: true,
    few: true,
    ...(limit === undefined ? {} : { limit }),
  });
  return outlinesIn(rows);
}

function outlinesIn(rows: PartRows): StoredPart[] {
  const parts: StoredPart[] = [];
  for (let row = 0; row < rows.length; row++) {
    const part = partOutlineAt(rows, row);
    if (part !== undefined) parts.push(part);
  }
  return parts;
}

/** The parts of messages of any sessions, in the order of the keys given; bodies unread. */
export const readPartOutlinesOf = (
  tables: SessionTables,
  keys: readonly MessageKey[],
): Promise<StoredPart[][]> => byMessage(keys, (where) => findPartOutlines(tables, where));

/** Parts that are nothing but text. */
const SPOKEN = ["text", "reasoning"] as const;

/**
 * The same of those that are not merely text, with their bodies. Most messages have none, which is known before any column of
 * a part is read: it takes a third of the time.
 */
export const readOtherPartOutlines = (
  tables: SessionTables,
  keys: readonly MessageKey[],
): Promise<StoredPart[][]> =>
  byMessage(keys, async (ofMessages) => {
    const where = and(ofMessages, not(isIn("type", SPOKEN)));
    const found = await tables.parts.scan({ select: [], where, withRowId: true });
    if (found.length === 0) return [];
    return outlinesIn(await tables.parts.take(found.rowIds(), [...OUTLINE_COLUMNS, ...PART_BODY_COLUMNS]));
  });

async function byMessage(
  keys: readonly MessageKey[],
  read: (where: Predicate<typeof PARTS>) => Promise<StoredPart[]>,
): Promise<StoredPart[][]> {
  const parts: StoredPart[] = [];
  for (let start = 0; start < keys.length; start += IDS_PER_SCAN) {
    const step = keys.slice(start, start + IDS_PER_SCAN);
    const sessions = new Set(step.map(({ session_id }) => session_id));
    const messages = new Set(step.map(({ id }) => id));
    parts.push(...(await read(and(isIn("session_id", [...sessions]), isIn("message_id", [...messages])))));
  }
  const bySession = Map.groupBy(parts, ({ session_id }) => session_id);
  return keys.map(({ session_id, id }) =>
    (bySession.get(session_id) ?? []).filter(({ message_id }) => message_id === id).toSorted(compareParts),
  );
}

/** Sizes of the payloads of file parts, by row. */
export async function readPayloadSizes(
  tables: SessionTables,
  parts: readonly PartOutline<RowRef>[],
): Promise<Map<bigint, number>> {
  const files = parts.flatMap(({ type, [REF]: ref }) => (type === "file" && ref ? [ref.row] : []));
  if (files.length === 0) return new Map();
  const rows = await tables.parts.take(files, ["data"]);
  return new Map(files.map((row, at) => [row, rows.blobSize("data", at) ?? 0]));
}

/** Where the messages are most of their session, its parts are found by the session alone. */
async function* scansOf(
  tables: SessionTables,
  { session, messages, of }: PartScope,
): AsyncGenerator<PartRows> {
  if (of <= Math.max(CHEAPER_BY_SESSION.messages, messages.length * CHEAPER_BY_SESSION.factor)) {
    if (messages.length > 0) yield await scanParts(tables, session);
    return;
  }
  for (let start = 0; start < messages.length; start += IDS_PER_SCAN) {
    const ids = messages.slice(start, start + IDS_PER_SCAN).map(({ id }) => id);
    const some = isIn("message_id", ids);
    const where = and(eq("session_id", session), some);
    yield await tables.parts.scan({ select: OWN_COLUMNS, where, withRowId: true, few: true });
  }
}

function keyAt(rows: PartRows, row: number, session: SessionId): PartKey {
  return {
    session_id: session,
    message_id: messageId(rows.string("message_id", row)),
    id: partId(rows.string("id", row)),
  };
}

interface PartAt {
  /** Of a known session its column is not needed. */
  readonly session?: SessionId;
  readonly version?: number | undefined;
}

/** Undefined for a part of a kind that nobody wrote. */
function partOutlineAt(
  rows: PartRows,
  at: number,
  { session, version }: PartAt = {},
): StoredPart | undefined {
  const type = oneOf(partTypes, rows.string("type", at));
  const provenance = oneOf(provenances, rows.string("provenance", at));
  if (type === undefined || provenance === undefined) return undefined;
  const tool_name = rows.stringOrNull("tool_name", at);
  const call_id = rows.stringOrNull("call_id", at);
  const is_failure = rows.boolOrNull("is_failure", at);
  const key = keyAt(rows, at, session ?? sessionId(rows.string("session_id", at)));
  const body = rows.has("options") ? { rows, at } : undefined;
  return {
    ...key,
    ordinal: rows.int("ordinal", at),
    type,
    provenance,
    ...(tool_name === null ? {} : { tool_name }),
    ...(call_id === null ? {} : { call_id }),
    ...(is_failure === null ? {} : { is_failure }),
    [REF]: { table: "parts", key, row: rows.rowId(at), version, body },
  };
}

/** The payloads of file parts, by row; rows without one are left out. */
export async function readPayloads(
  tables: SessionTables,
  files: readonly bigint[],
): Promise<Map<bigint, Uint8Array>> {
  const blobs = await tables.parts.fetchBlobs("data", files);
  const payloads = new Map<bigint, Uint8Array>();
  for (const [index, row] of files.entries()) {
    const blob = blobs[index];
    if (blob !== null && blob !== undefined) payloads.set(row, blob);
  }
  return payloads;
}
