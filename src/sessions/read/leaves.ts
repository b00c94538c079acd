/**
 * The rows behind the leaves of a tree (spec.md#live-staged-tree-hydrate), read in bulk. A row that cannot be decoded is
 * one fault; where the engine cannot read a bulk, it is halved until what is damaged stands alone.
 */
import type {
  BodyAt,
  MessageRowRef,
  MessageRows,
  PartRowRef,
  PartRows,
  RowRef,
  StoredPart,
} from "../states/row-ref.ts";
import type { PondError } from "../../base/errors.ts";
import { toPondError } from "../../base/errors.ts";
import type { Event, Part } from "../../model/index.ts";
import type { Located, MessageOutline, Outcome, PartOutline } from "../../model/tree/index.ts";
import { isMessageKey, isPartKey } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import { readPayloads } from "./parts.ts";
import {
  decodeMessage,
  decodePart,
  decodeSession,
  MESSAGE_BODY_COLUMNS,
  messageBodyAt,
  PART_BODY_COLUMNS,
  SESSION_COLUMNS,
} from "../tables/rows.ts";
import type { SessionTables } from "../tables/tables.ts";

type Leaf = Located<RowRef>;
type Outcomes = readonly Outcome<Event>[];

interface MessageLeaf {
  readonly outline: MessageOutline<RowRef>;
  readonly ref: MessageRowRef;
}

interface PartLeaf {
  readonly outline: PartOutline<RowRef>;
  readonly ref: PartRowRef;
}

const isMessage = (leaf: Leaf): leaf is MessageLeaf =>
  leaf.ref.table === "messages" && isMessageKey(leaf.outline);
const isPart = (leaf: Leaf): leaf is PartLeaf => leaf.ref.table === "parts" && isPartKey(leaf.outline);

export interface BodyOptions {
  /** False: the data of a file part is empty. */
  readonly payloads: boolean;
}

/** The bodies of parts, in the order given; undefined where one cannot be read. */
export async function readPartBodies(
  tables: SessionTables,
  parts: readonly StoredPart[],
  options: BodyOptions,
): Promise<(Part | undefined)[]> {
  const leaves = parts.map((outline) => ({ outline, ref: outline[REF] }));
  const bodies = await readBodies(tables, leaves, options);
  return bodies.map((body) => (body.ok && body.value.kind === "part" ? body.value.part : undefined));
}

/** What the rows hold, in the order given; what came with the outlines is not read again. */
export async function readBodies(
  tables: SessionTables,
  leaves: readonly Leaf[],
  options: BodyOptions,
): Promise<Outcomes> {
  const found = new Map<Leaf, Outcome<Event>>();
  for (const leaf of leaves) {
    const event = eventAtHand(leaf, options);
    if (event !== undefined) found.set(leaf, event);
  }
  const unread = leaves.filter((leaf) => !found.has(leaf));
  await Promise.all([
    collect(
      unread.filter(({ ref }) => ref.table === "sessions"),
      (some) => readSessions(tables, some),
    ),
    collect(unread.filter(isMessage), (some) => readMessages(tables, some)),
    collect(unread.filter(isPart), (some) => readParts(tables, some, options)),
  ]);
  return leaves.map((leaf) => found.get(leaf) ?? GONE);

  async function collect<L extends Leaf>(some: readonly L[], read: Read<L>): Promise<void> {
    if (some.length === 0) return;
    const outcomes = await inHalves(some, { read, left: MAX_EXTRA_READS });
    for (const [at, leaf] of some.entries()) found.set(leaf, outcomes[at] ?? GONE);
  }
}

type Read<L> = (leaves: readonly L[]) => Promise<Outcomes>;

const GONE = { ok: false, fault: { kind: "missing", message: "its row is gone" } } as const;

/** Reads that one bulk may cost on top when it fails: enough to find some damaged rows, not to try a damaged table. */
const MAX_EXTRA_READS = 200;

interface Halving<L> {
  readonly read: Read<L>;
  left: number;
}

async function inHalves<L>(leaves: readonly L[], halving: Halving<L>): Promise<Outcomes> {
  try {
    return await halving.read(leaves);
  } catch (error) {
    const fault = toPondError(error);
    if (!isDamage(fault)) throw fault;
    halving.left -= 2;
    if (leaves.length === 1 || halving.left < 0)
      return leaves.map(() => ({ ok: false, fault: { kind: "unreadable", message: fault.message } }));
    const middle = leaves.length >> 1;
    const first = await inHalves(leaves.slice(0, middle), halving);
    return [...first, ...(await inHalves(leaves.slice(middle), halving))];
  }
}

/** The store can be reached, and what it holds is not right. Anything else leaves nothing to answer. */
export const isDamage = ({ code, reason }: PondError): boolean => reason === "corrupt" || code === "internal";

/** A leaf whose body came with its outline; payloads never do. */
function eventAtHand(leaf: Leaf, { payloads }: BodyOptions): Outcome<Event> | undefined {
  if (isMessage(leaf)) {
    const { body } = leaf.ref;
    return body && decoded(() => messageEvent(leaf, body));
  }
  if (!isPart(leaf) || (payloads && leaf.outline.type === "file")) return undefined;
  const { body } = leaf.ref;
  return body && decoded(() => partEvent(leaf, { ...body, payload: null }));
}

const rowIds = (leaves: readonly Leaf[]): bigint[] => leaves.map(({ ref }) => ref.row);

async function readSessions(tables: SessionTables, leaves: readonly Leaf[]): Promise<Outcomes> {
  const rows = await tables.sessions.take(rowIds(leaves), SESSION_COLUMNS);
  return leaves.map((_, at) => decoded(() => ({ kind: "session", session: decodeSession(rows, at) })));
}

async function readMessages(tables: SessionTables, leaves: readonly MessageLeaf[]): Promise<Outcomes> {
  const rows = await tables.messages.take(rowIds(leaves), MESSAGE_BODY_COLUMNS);
  return leaves.map((leaf, at) => decoded(() => messageEvent(leaf, { rows, at })));
}

function messageEvent({ outline }: MessageLeaf, { rows, at }: BodyAt<MessageRows>): Event {
  return { kind: "message", message: decodeMessage(outline, messageBodyAt(rows, at)) };
}

async function readParts(
  tables: SessionTables,
  leaves: readonly PartLeaf[],
  { payloads }: BodyOptions,
): Promise<Outcomes> {
  const rows = await tables.parts.take(rowIds(leaves), PART_BODY_COLUMNS);
  const files = leaves.filter(({ outline }) => payloads && outline.type === "file");
  const blobs = await readPayloads(tables, rowIds(files));
  return leaves.map((leaf, at) =>
    decoded(() => partEvent(leaf, { rows, at, payload: blobs.get(leaf.ref.row) ?? null })),
  );
}

function partEvent(
  { outline }: PartLeaf,
  { rows, at, payload }: BodyAt<PartRows> & { readonly payload: Uint8Array | null },
): Event {
  const variant_data = rows.string("variant_data", at);
  const body = { variant_data, options: rows.string("options", at), payload };
  return { kind: "part", part: decodePart(outline, body) };
}

function decoded(decode: () => Event): Outcome<Event> {
  try {
    return { ok: true, value: decode() };
  } catch (error) {
    return { ok: false, fault: { kind: "unreadable", message: toPondError(error).message } };
  }
}
