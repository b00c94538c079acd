/**
 * Reads of parts: first their short columns, by the index on the session, then the long ones of the parts that are
 * wanted (spec.md#lance-chokepoints-read).
 */
import type { MessageId, MessageKey, PartKey, PartPlan, PartScope, SessionId } from "../model/index.ts";
import { compareParts, messageId, partId, partTypes, provenances, sessionId } from "../model/index.ts";
import type { Predicate, Rows } from "../substrate/index.ts";
import { and, eq, isIn } from "../substrate/index.ts";
import type { OnFault } from "./read.ts";
import { oneOf, PART_BODY_COLUMNS } from "./rows.ts";
import type { PARTS } from "./schema.ts";
import type { SessionTables } from "./tables.ts";

/** A part without its body, and where it is. */
export interface PartRef extends PartPlan {
  /** The engine's row, stable across maintenance. */
  readonly row: bigint;
}

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
export const PART_PLAN_COLUMNS = ["session_id", ...OWN_COLUMNS] as const;
/** Asking for 20 messages by id costs as much as reading the keys of some 500 (measured). */
const CHEAPER_BY_SESSION = { messages: 500, factor: 4 };
const IDS_PER_SCAN = 500;

/** Rows of parts: short columns, and the bodies where they were asked for. */
export type PartRows = Rows<typeof PARTS>;

/** Whether a session has so few messages that all of its parts are read, whichever are wanted. */
export const isReadWhole = (messages: number): boolean => messages <= CHEAPER_BY_SESSION.messages;

/** All parts of a session, in no particular order, with their bodies or without. */
export function scanParts(tables: SessionTables, session: SessionId, bodies = false): Promise<PartRows> {
  const select = bodies ? [...OWN_COLUMNS, ...PART_BODY_COLUMNS] : OWN_COLUMNS;
  return tables.parts.scan({ select, where: eq("session_id", session), withRowId: true, few: true });
}

/** The parts of some messages, in order, by message; bodies unread. `ahead` are all parts of their session. */
export async function readPartRefs(
  tables: SessionTables,
  scope: PartScope,
  {
    onFault = () => undefined,
    ahead,
  }: { readonly onFault?: OnFault; readonly ahead?: PartRows | undefined } = {},
): Promise<Map<MessageId, PartRef[]>> {
  const parts = new Map<MessageId, PartRef[]>(scope.messages.map((id) => [id, []]));
  for await (const rows of ahead === undefined ? scansOf(tables, scope) : [ahead])
    for (let row = 0; row < rows.length; row++) {
      const list = parts.get(messageId(rows.string("message_id", row)));
      if (list === undefined) continue;
      const plan = partPlanAt(rows, row, scope.session);
      if (plan !== undefined) list.push({ ...plan, row: rows.rowId(row) });
      else
        onFault(keyAt(rows, row, scope.session), {
          kind: "unreadable",
          message: `it is of type ${rows.string("type", row)}`,
        });
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
  const rows = await tables.parts.scan({
    select: PART_PLAN_COLUMNS,
    where,
    withRowId: true,
    few: true,
    ...(limit === undefined ? {} : { limit }),
  });
  const refs: PartRef[] = [];
  for (let row = 0; row < rows.length; row++) {
    const plan = partPlanAt(rows, row);
    if (plan !== undefined) refs.push({ ...plan, row: rows.rowId(row) });
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
async function* scansOf(
  tables: SessionTables,
  { session, messages, of }: PartScope,
): AsyncGenerator<PartRows> {
  if (of <= Math.max(CHEAPER_BY_SESSION.messages, messages.length * CHEAPER_BY_SESSION.factor)) {
    if (messages.length > 0) yield await scanParts(tables, session);
    return;
  }
  for (let start = 0; start < messages.length; start += IDS_PER_SCAN) {
    const some = isIn("message_id", messages.slice(start, start + IDS_PER_SCAN));
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

/** Undefined for a part of a kind that nobody wrote. Of a known session its column is not needed. */
export function partPlanAt(rows: PartRows, row: number, session?: SessionId): PartPlan | undefined {
  const type = oneOf(partTypes, rows.string("type", row));
  const provenance = oneOf(provenances, rows.string("provenance", row));
  if (type === undefined || provenance === undefined) return undefined;
  const tool_name = rows.stringOrNull("tool_name", row);
  const call_id = rows.stringOrNull("call_id", row);
  const is_failure = rows.boolOrNull("is_failure", row);
  return {
    ...keyAt(rows, row, session ?? sessionId(rows.string("session_id", row))),
    ordinal: rows.int("ordinal", row),
    type,
    provenance,
    ...(tool_name === null ? {} : { tool_name }),
    ...(call_id === null ? {} : { call_id }),
    ...(is_failure === null ? {} : { is_failure }),
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
