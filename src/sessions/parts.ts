/**
 * Reads of parts: first their short columns, by the index on the session, then the long ones of the parts that are
 * wanted (spec.md#lance-chokepoints-read).
 */
import type { MessageId, MessageKey, PartKey, PartPlan, PartScope, SessionId } from "../model/index.ts";
import { compareParts, messageId, partId, partTypes, provenances, sessionId } from "../model/index.ts";
import type { Predicate, Rows } from "../substrate/index.ts";
import { and, eq, isIn } from "../substrate/index.ts";
import type { OnFault } from "./read.ts";
import type { PARTS } from "./schema.ts";
import type { SessionTables } from "./tables.ts";

/** A part without its body, and where it is. */
export interface PartRef extends PartPlan {
  /** The engine's row, stable across maintenance. */
  readonly row: bigint;
}

const REF_COLUMNS = [
  "message_id",
  "id",
  "ordinal",
  "type",
  "provenance",
  "tool_name",
  "call_id",
  "is_failure",
] as const;
/** Asking for 20 messages by id costs as much as reading the keys of some 500 (measured). */
const CHEAPER_BY_SESSION = { messages: 500, factor: 4 };
const IDS_PER_SCAN = 500;

/** The parts of some messages, in order, by message; bodies unread. */
export async function readPartRefs(
  tables: SessionTables,
  scope: PartScope,
  onFault: OnFault = () => undefined,
): Promise<Map<MessageId, PartRef[]>> {
  const parts = new Map<MessageId, PartRef[]>(scope.messages.map((id) => [id, []]));
  for (const where of predicatesOf(scope)) {
    const rows = await tables.parts.scan({ select: REF_COLUMNS, where, withRowId: true });
    for (let row = 0; row < rows.length; row++) {
      const key = keyAt(scope.session, rows, row);
      const list = parts.get(key.message_id);
      const ref = list === undefined ? undefined : refAt(key, rows, row);
      if (ref !== undefined) list?.push(ref);
      else if (list !== undefined)
        onFault(key, { kind: "unreadable", message: `it is of type ${rows.string("type", row)}` });
    }
  }
  for (const list of parts.values()) list.sort(compareParts);
  return parts;
}

/** Parts by any filter, in no particular order, at most `limit`; bodies unread. */
export async function findPartRefs(
  tables: SessionTables,
  where: Predicate,
  limit?: number,
): Promise<PartRef[]> {
  const select = ["session_id", ...REF_COLUMNS] as const;
  const most = limit === undefined ? {} : { limit };
  const rows = await tables.parts.scan({ select, where, withRowId: true, ...most });
  const refs: PartRef[] = [];
  for (let row = 0; row < rows.length; row++) {
    const ref = refAt(keyAt(sessionId(rows.string("session_id", row)), rows, row), rows, row);
    if (ref !== undefined) refs.push(ref);
  }
  return refs;
}

/** The parts of messages of any sessions, in the order of the keys given; bodies unread. */
export async function readPartRefsOf(
  tables: SessionTables,
  keys: readonly MessageKey[],
): Promise<PartRef[][]> {
  const refs: PartRef[] = [];
  for (let start = 0; start < keys.length; start += IDS_PER_SCAN) {
    const step = keys.slice(start, start + IDS_PER_SCAN);
    const sessions = new Set(step.map(({ session_id }) => session_id));
    const messages = new Set(step.map(({ id }) => id));
    const where = and(isIn("session_id", [...sessions]), isIn("message_id", [...messages]));
    refs.push(...(await findPartRefs(tables, where)));
  }
  const bySession = Map.groupBy(refs, ({ session_id }) => session_id);
  return keys.map(({ session_id, id }) =>
    (bySession.get(session_id) ?? []).filter(({ message_id }) => message_id === id).toSorted(compareParts),
  );
}

/** Sizes of the payloads of file parts, by row. */
export async function readPayloadSizes(
  tables: SessionTables,
  refs: readonly PartRef[],
): Promise<Map<bigint, number>> {
  const files = refs.filter(({ type }) => type === "file");
  if (files.length === 0) return new Map();
  const rows = await tables.parts.take(
    files.map(({ row }) => row),
    ["data"],
  );
  return new Map(files.map(({ row }, at) => [row, rows.blobSize("data", at) ?? 0]));
}

/** Where the messages are most of their session, its parts are found by the session alone. */
function* predicatesOf({ session, messages, of }: PartScope): Generator<Predicate> {
  const ofSession = eq("session_id", session);
  if (of <= Math.max(CHEAPER_BY_SESSION.messages, messages.length * CHEAPER_BY_SESSION.factor)) {
    if (messages.length > 0) yield ofSession;
    return;
  }
  for (let start = 0; start < messages.length; start += IDS_PER_SCAN)
    yield and(ofSession, isIn("message_id", messages.slice(start, start + IDS_PER_SCAN)));
}

function keyAt(session_id: SessionId, rows: Rows<typeof PARTS>, row: number): PartKey {
  const message_id = messageId(rows.string("message_id", row));
  return { session_id, message_id, id: partId(rows.string("id", row)) };
}

/** Undefined for a part of a kind that nobody wrote. */
function refAt(key: PartKey, rows: Rows<typeof PARTS>, row: number): PartRef | undefined {
  const type = partTypes.find((name) => name === rows.string("type", row));
  const provenance = provenances.find((name) => name === rows.string("provenance", row));
  if (type === undefined || provenance === undefined) return undefined;
  const tool_name = rows.stringOrNull("tool_name", row);
  const call_id = rows.stringOrNull("call_id", row);
  const is_failure = rows.boolOrNull("is_failure", row);
  return {
    ...key,
    ordinal: rows.int("ordinal", row),
    type,
    provenance,
    ...(tool_name === null ? {} : { tool_name }),
    ...(call_id === null ? {} : { call_id }),
    ...(is_failure === null ? {} : { is_failure }),
    row: rows.rowId(row),
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
