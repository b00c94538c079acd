/**
 * References of the store's trees (spec.md#live-staged-tree-resolve): each outline keeps the row that it was read from, so
 * that nobody looks it up a second time.
 */
import type { EntityKey } from "../../model/index.ts";
import type { MessageOutline, PartOutline } from "../../model/tree/index.ts";
import { REF } from "../../model/tree/index.ts";
import type { Rows } from "../../substrate/index.ts";
import type { PlacedRow } from "./history.ts";
import type { MESSAGES, PARTS } from "../tables/schema.ts";

/** Rows of messages: short columns, and the long ones that were asked for. */
export type MessageRows = Rows<typeof MESSAGES>;

/** Rows of parts: short columns, and the bodies where they were asked for. */
export type PartRows = Rows<typeof PARTS>;

/** Where an entity is. Rows never change and keep their numbers, so a later version of the table has it too. */
export type RowRef = SessionRowRef | MessageRowRef | PartRowRef;

interface AnyRowRef {
  readonly key: EntityKey;
  readonly row: bigint;
  /** The table's version when it was outlined; absent where nobody asked for it. */
  readonly version?: number | undefined;
}

export interface SessionRowRef extends AnyRowRef {
  readonly table: "sessions";
}

export interface MessageRowRef extends AnyRowRef, Pick<PlacedRow, "record" | "origin"> {
  readonly table: "messages";
  /** Its position in the read that stored it. */
  readonly seq: number | null;
  /** How many parts it should have; null where an older pond stored it. */
  readonly parts: number | null;
  /** Set where its body was read with its outline. */
  readonly body?: BodyAt<MessageRows> | undefined;
}

export interface PartRowRef extends AnyRowRef {
  readonly table: "parts";
  /** Set where its body was read with its outline; never its payload. */
  readonly body?: BodyAt<PartRows> | undefined;
}

/** Rows of an answer, and which of them. */
export interface BodyAt<R> {
  readonly rows: R;
  readonly at: number;
}

/** A message without its body, as the store outlines it. */
export interface StoredMessage extends MessageOutline<MessageRowRef> {
  readonly [REF]: MessageRowRef;
}

/** A part without its body, as the store outlines it. */
export interface StoredPart extends PartOutline<PartRowRef> {
  readonly [REF]: PartRowRef;
}

/** The rows of some outlines, in the order given. */
export const rowsOf = (outlines: readonly { readonly [REF]: Pick<RowRef, "row"> }[]): readonly bigint[] =>
  outlines.map(({ [REF]: { row } }) => row);

/** What decides its place in the states of its sources. */
export function placeOf({
  id,
  timestamp,
  [REF]: { record, origin, seq },
}: Pick<StoredMessage, "id" | "timestamp" | typeof REF>): PlacedRow {
  return { id, record, origin, seq, timestamp };
}
