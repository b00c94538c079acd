/**
 * The rows behind the leaves of a tree (spec.md#live-staged-tree-hydrate), read in bulk. A row that cannot be decoded is
 * one fault; where the engine cannot read a bulk, it is halved until what is damaged stands alone.
 */
import type { PondError } from "../base/errors.ts";
import { toPondError } from "../base/errors.ts";
import type { Event, MessageOutline, Outcome, Part, PartPlan } from "../model/index.ts";
import type { PartRef, PartRows } from "./parts.ts";
import { PART_PLAN_COLUMNS, partPlanAt, readPayloads } from "./parts.ts";
import type { MessageRows } from "./read.ts";
import {
  corrupt,
  decodeMessage,
  decodeMessageRow,
  decodePart,
  decodeSession,
  MESSAGE_BODY_COLUMNS,
  MESSAGE_COLUMNS,
  messageBodyAt,
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

/** The bodies of parts, in the order given; undefined where one cannot be read. */
export async function readPartBodies(
  tables: SessionTables,
  refs: readonly PartRef[],
  options: { readonly payloads: boolean },
): Promise<(Part | undefined)[]> {
  const parts = new Map(refs.map((ref) => [ref.row, { plan: ref }]));
  const rows = refs.map(({ row }) => ({ table: "parts", row }) as const);
  const leaves = await readLeaves(tables, rows, { ...options, parts, messages: new Map() });
  return leaves.map((leaf) => (leaf.ok && leaf.value.kind === "part" ? leaf.value.part : undefined));
}

type Read = (rows: readonly bigint[]) => Promise<readonly Outcome<Event>[]>;

/** What a plan has told of a row: all but its body, or that too. */
export interface Planned<P, R> {
  readonly plan: P;
  /** Where its body was read with the plan. */
  readonly body?: { readonly rows: R; readonly at: number } | undefined;
}

export interface LeafOptions {
  readonly payloads: boolean;
  /** By row. */
  readonly messages: ReadonlyMap<bigint, Planned<MessageOutline, MessageRows>>;
  readonly parts: ReadonlyMap<bigint, Planned<PartPlan, PartRows>>;
}

/** What stands in the rows, in the order given. */
export async function readLeaves(
  tables: SessionTables,
  refs: readonly Pick<RowRef, "table" | "row">[],
  options: LeafOptions,
): Promise<readonly Outcome<Event>[]> {
  const readers: Readonly<Record<RowRef["table"], Read>> = {
    sessions: (rows) => readSessions(tables, rows),
    messages: (rows) => readMessages(tables, rows, options),
    parts: (rows) => readParts(tables, rows, options),
  };
  const found = new Map<Pick<RowRef, "table" | "row">, Outcome<Event>>();
  for (const ref of refs) {
    const leaf = leafAtHand(ref, options);
    if (leaf !== undefined) found.set(ref, leaf);
  }
  const unread = refs.filter((ref) => !found.has(ref));
  const groups = Map.groupBy(unread, ({ table }) => table);
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
export const isDamage = ({ code, reason }: PondError): boolean => reason === "corrupt" || code === "internal";

async function readSessions(
  tables: SessionTables,
  ids: readonly bigint[],
): Promise<readonly Outcome<Event>[]> {
  const rows = await tables.sessions.take(ids, SESSION_COLUMNS);
  return ids.map((_, row) => decoded(() => ({ kind: "session", session: decodeSession(rows, row) })));
}

/** A leaf whose body came with its plan. */
function leafAtHand(
  { table, row }: Pick<RowRef, "table" | "row">,
  { payloads, messages, parts }: LeafOptions,
): Outcome<Event> | undefined {
  if (table === "messages") {
    const { plan, body } = messages.get(row) ?? {};
    if (plan === undefined || body === undefined) return undefined;
    return decoded(() => messageEvent(plan, body));
  }
  if (table !== "parts") return undefined;
  const { plan, body } = parts.get(row) ?? {};
  if (plan === undefined || body === undefined || (payloads && plan.type === "file")) return undefined;
  return decoded(() => partEvent(plan, { ...body, payload: null }));
}

async function readMessages(
  tables: SessionTables,
  ids: readonly bigint[],
  { messages }: LeafOptions,
): Promise<readonly Outcome<Event>[]> {
  const isPlanned = ids.every((id) => messages.has(id));
  const rows = await tables.messages.take(ids, isPlanned ? MESSAGE_BODY_COLUMNS : MESSAGE_COLUMNS);
  return ids.map((id, at) =>
    decoded(() => {
      const plan = messages.get(id)?.plan;
      return plan === undefined
        ? { kind: "message", message: decodeMessageRow(rows, at) }
        : messageEvent(plan, { rows, at });
    }),
  );
}

function messageEvent(
  plan: MessageOutline,
  { rows, at }: { readonly rows: MessageRows; readonly at: number },
): Event {
  return { kind: "message", message: decodeMessage(plan, messageBodyAt(rows, at)) };
}

async function readParts(
  tables: SessionTables,
  ids: readonly bigint[],
  { payloads, parts }: LeafOptions,
): Promise<readonly Outcome<Event>[]> {
  const isPlanned = ids.every((id) => parts.has(id));
  const columns = isPlanned ? PART_BODY_COLUMNS : [...PART_PLAN_COLUMNS, ...PART_BODY_COLUMNS];
  const rows = await tables.parts.take(ids, columns);
  const plans = ids.map((id, at) => parts.get(id)?.plan ?? partPlanAt(rows, at));
  const files = ids.filter((_, at) => payloads && plans[at]?.type === "file");
  const blobs = await readPayloads(tables, files);
  return ids.map((id, at) =>
    decoded(() => {
      const plan = plans[at];
      if (plan === undefined)
        throw corrupt(`part ${rows.string("id", at)} is of type ${rows.string("type", at)}`);
      return partEvent(plan, { rows, at, payload: blobs.get(id) ?? null });
    }),
  );
}

function partEvent(
  plan: PartPlan,
  {
    rows,
    at,
    payload,
  }: { readonly rows: PartRows; readonly at: number; readonly payload: Uint8Array | null },
): Event {
  const body = {
    variant_data: rows.string("variant_data", at),
    options: rows.string("options", at),
    payload,
  };
  return { kind: "part", part: decodePart(plan, body) };
}

function decoded(decode: () => Event): Outcome<Event> {
  try {
    return { ok: true, value: decode() };
  } catch (error) {
    return { ok: false, fault: { kind: "unreadable", message: toPondError(error).message } };
  }
}
