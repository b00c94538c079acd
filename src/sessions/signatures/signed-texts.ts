/** The texts that signatures are of: all that a search for exact text looks at, in the tables that have them. */
import type { ColumnsOf, Rows, Table, TableSpec } from "../../substrate/index.ts";
import { rowIdsIn } from "../../substrate/engine/predicate.ts";
import type { SessionTables } from "../tables/tables.ts";

export type TextTable = "messages" | "parts";

/** A row with its texts as they are stored, in UTF-8. */
export interface SignedRow {
  readonly session: string;
  readonly texts: readonly Uint8Array[];
}

export interface Tail {
  readonly sessions: ReadonlySet<string>;
  readonly keyBefore: string | undefined;
}

export interface SignedTexts {
  readonly name: TextTable;
  version(): Promise<number>;
  /** Of all rows. Ids are given from 0 on, so that it is at most the highest one and one. */
  count(): Promise<number>;
  /** The ids from one on, in ascending order. */
  idsFrom(from: number): Promise<Float64Array>;
  /** The key of a row; undefined where none has that id. */
  keyOf(id: number): Promise<string | undefined>;
  /** The sessions of the rows from an id on, and the key of the row before it. */
  tail(from: number): Promise<Tail>;
  /** Rows by id, from the first to before the last, a batch at a time. */
  rows(from: number, to: number): AsyncIterable<readonly SignedRow[]>;
  /** What was read of it survives a crash: nothing is written of rows that might be gone after one. */
  settle(): Promise<void>;
}

export function signedTexts({ messages, parts }: SessionTables): Readonly<Record<TextTable, SignedTexts>> {
  return {
    messages: textsIn(messages, {
      name: "messages",
      keys: ["session_id", "id"],
      texts: ["search_text", "content"],
    }),
    parts: textsIn(parts, {
      name: "parts",
      keys: ["session_id", "message_id", "id"],
      texts: ["variant_data"],
      // What was said is a text of its message, and is looked for there.
      isLeftOut: (rows, row) =>
        rows.string("type", row) === "text" && rows.string("provenance", row) === "conversational",
      also: ["type", "provenance"],
    }),
  };
}

type TextColumn<S extends TableSpec> = ColumnsOf<S, "utf8">;

interface Columns<S extends TableSpec> {
  readonly name: TextTable;
  /** The primary key; the session leads. */
  readonly keys: readonly [TextColumn<S>, ...TextColumn<S>[]];
  readonly texts: readonly TextColumn<S>[];
  readonly isLeftOut?: (rows: Rows<S>, row: number) => boolean;
  /** Columns that it looks at. */
  readonly also?: readonly TextColumn<S>[];
}

function textsIn<S extends TableSpec>(table: Table<S>, columns: Columns<S>): SignedTexts {
  const { name, keys, texts, isLeftOut, also = [] } = columns;
  const [session] = keys;
  const keyAt = (rows: Rows<S>, row: number): string =>
    JSON.stringify(keys.map((column) => rows.string(column, row)));
  return {
    name,
    version: () => table.version(),
    count: () => table.count(),
    settle: () => table.settle(),
    async idsFrom(from) {
      const ids: number[] = [];
      const where = rowIdsIn(BigInt(from));
      for await (const rows of table.scanBatches({ select: [], where, withRowId: true }))
        for (let row = 0; row < rows.length; row++) ids.push(Number(rows.rowId(row)));
      return Float64Array.from(ids).toSorted();
    },
    async keyOf(id) {
      const rows = await table.scan({ select: keys, where: rowIdsIn(BigInt(id), BigInt(id + 1)) });
      return rows.length === 0 ? undefined : keyAt(rows, 0);
    },
    async tail(from) {
      const sessions = new Set<string>();
      let keyBefore: string | undefined;
      const where = rowIdsIn(BigInt(Math.max(0, from - 1)));
      for await (const rows of table.scanBatches({ select: keys, where, withRowId: true }))
        for (let row = 0; row < rows.length; row++)
          if (Number(rows.rowId(row)) >= from) sessions.add(rows.string(session, row));
          else keyBefore = keyAt(rows, row);
      return { sessions, keyBefore };
    },
    async *rows(from, to) {
      const select = [...keys, ...texts, ...also];
      const where = rowIdsIn(BigInt(from), BigInt(to));
      for await (const rows of table.scanBatches({ select, where }))
        yield Array.from({ length: rows.length }, (_, row): SignedRow => ({
          session: rows.string(session, row),
          texts:
            isLeftOut?.(rows, row) === true ? [] : texts.flatMap((column) => rows.utf8(column, row) ?? []),
        }));
    },
  };
}
