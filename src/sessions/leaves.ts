/**
 * The rows behind the leaves of a tree (spec.md#live-staged-tree-hydrate), read in bulk. A row that cannot be decoded is
 * one fault; where the engine cannot read a bulk, it is halved until what is damaged stands alone.
 */
import type { PondError } from "../base/errors.ts";
import { toPondError } from "../base/errors.ts";
import type { Event, Outcome, PartPlan } from "../model/index.ts";
import { PART_PLAN_COLUMNS, partPlanAt, readPayloads } from "./parts.ts";
import {
  corrupt,
  decodeMessage,
  decodePart,
  decodeSession,
  MESSAGE_COLUMNS,
  PART_BODY_COLUMNS,
  SESSION_COLUMNS,
} from "./rows.ts";
import type { SessionTables } from "./tables.ts";

/** Where an entity is. Rows never change and keep their numbers, so a later version of the table has it too. */
export interface RowRef {
  readonly table: "sessions" | "messages" | "parts";
  readonly row: bigint;
  /** The table's version when it was resolved. */
  readonly version: number;
}

type Read = (rows: readonly bigint[]) => Promise<readonly Outcome<Event>[]>;

export interface LeafOptions {
  readonly payloads: boolean;
  /** Parts that were planned, by row: of these only the bodies are read. */
  readonly plans: ReadonlyMap<bigint, PartPlan>;
}

/** What stands in the rows, in the order given. */
export async function readLeaves(
  tables: SessionTables,
  refs: readonly Pick<RowRef, "table" | "row">[],
  options: LeafOptions,
): Promise<readonly Outcome<Event>[]> {
  const readers: Readonly<Record<RowRef["table"], Read>> = {
    sessions: (rows) => readSessions(tables, rows),
    messages: (rows) => readMessages(tables, rows),
    parts: (rows) => readParts(tables, rows, options),
  };
  const groups = Map.groupBy(refs, ({ table }) => table);
  const found = new Map<Pick<RowRef, "table" | "row">, Outcome<Event>>();
  await Promise.all(
    [...groups].map(async ([table, group]) => {
      const outcomes = await inHalves(
        group.map(({ row }) => row),
        { read: readers[table], left: MAX_EXTRA_READS },
      );
      for (const [at, ref] of group.entries()) found.set(ref, outcomes[at] ?? GONE);
    }),
  );
  return refs.map((ref) => found.get(ref) ?? GONE);
}

const GONE = { ok: false, fault: { kind: "missing", message: "its row is gone" } } as const;

/** Reads that one bulk may cost on top when it fails: enough to find some damaged rows, not to try a damaged table. */
const MAX_EXTRA_READS = 200;

interface Halving {
  readonly read: Read;
  left: number;
}

async function inHalves(rows: readonly bigint[], halving: Halving): Promise<readonly Outcome<Event>[]> {
  try {
    return await halving.read(rows);
  } catch (error) {
    const fault = toPondError(error);
    if (!isDamage(fault)) throw fault;
    halving.left -= 2;
    if (rows.length === 1 || halving.left < 0)
      return rows.map(() => ({ ok: false, fault: { kind: "unreadable", message: fault.message } }));
    const middle = rows.length >> 1;
    const first = await inHalves(rows.slice(0, middle), halving);
    return [...first, ...(await inHalves(rows.slice(middle), halving))];
  }
}

/** The store can be reached, and what it holds is not right. Anything else leaves nothing to answer. */
const isDamage = ({ code, reason }: PondError): boolean => reason === "corrupt" || code === "internal";

async function readSessions(
  tables: SessionTables,
  ids: readonly bigint[],
): Promise<readonly Outcome<Event>[]> {
  const rows = await tables.sessions.take(ids, SESSION_COLUMNS);
  return ids.map((_, row) => decoded(() => ({ kind: "session", session: decodeSession(rows, row) })));
}

async function readMessages(
  tables: SessionTables,
  ids: readonly bigint[],
): Promise<readonly Outcome<Event>[]> {
  const rows = await tables.messages.take(ids, MESSAGE_COLUMNS);
  return ids.map((_, row) => decoded(() => ({ kind: "message", message: decodeMessage(rows, row) })));
}

async function readParts(
  tables: SessionTables,
  ids: readonly bigint[],
  { payloads, plans: known }: LeafOptions,
): Promise<readonly Outcome<Event>[]> {
  const isPlanned = ids.every((id) => known.has(id));
  const columns = isPlanned ? PART_BODY_COLUMNS : [...PART_PLAN_COLUMNS, ...PART_BODY_COLUMNS];
  const rows = await tables.parts.take(ids, columns);
  const plans = ids.map((id, row) => (isPlanned ? known.get(id) : partPlanAt(rows, row)));
  const files = ids.filter((_, row) => payloads && plans[row]?.type === "file");
  const blobs = await readPayloads(tables, files);
  return ids.map((id, row) =>
    decoded(() => {
      const plan = plans[row];
      if (plan === undefined)
        throw corrupt(`part ${rows.string("id", row)} is of type ${rows.string("type", row)}`);
      const body = {
        variant_data: rows.string("variant_data", row),
        options: rows.string("options", row),
        payload: blobs.get(id) ?? null,
      };
      return { kind: "part", part: decodePart(plan, body) };
    }),
  );
}

function decoded(decode: () => Event): Outcome<Event> {
  try {
    return { ok: true, value: decode() };
  } catch (error) {
    return { ok: false, fault: { kind: "unreadable", message: toPondError(error).message } };
  }
}
