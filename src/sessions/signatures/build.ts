/** Makes signatures of rows and writes them with the stretch of ids that they are of (spec.md#search-signatures). */
import { randomUUID } from "node:crypto";
import type { RowOf, Table } from "../../substrate/index.ts";
import type { SIGNATURES } from "../tables/schema.ts";
import { GramCounter, GramSet } from "./grams.ts";
import type { Reach } from "./reach.ts";
import type { SignedRow, SignedTexts } from "./signed-texts.ts";

export type SignatureTable = Table<typeof SIGNATURES>;

/** Text of one signature: of less of it more would be stored, of more of it a match would point at too much. */
const BLOCK_BYTES = 512 << 10;
/** Rows between two commits, from which a building that was cut off goes on. */
const STRETCH_ROWS = 50_000;
/** Runs of unfinished signatures, in all some 16 MB. */
const MOST_GRAMS = 4_000_000;

/**
 * Of all rows behind a reach, until so many bytes of text are done. Rows that are stored meanwhile are left to the next
 * building.
 */
export async function build(
  table: SignatureTable,
  texts: SignedTexts,
  { reach, mostBytes }: { readonly reach: Reach; readonly mostBytes: number },
): Promise<void> {
  const ids = await texts.idsFrom(reach.to);
  await texts.settle();
  let from = reach.to;
  let bytes = 0;
  for (let start = 0; start < ids.length && bytes < mostBytes; start += STRETCH_ROWS) {
    const last = ids[Math.min(start + STRETCH_ROWS, ids.length) - 1] ?? 0;
    bytes += await buildStretch(table, texts, { from, to: last + 1 });
    from = last + 1;
  }
}

async function buildStretch(
  table: SignatureTable,
  texts: SignedTexts,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  const writer = new Writer(table, texts.name);
  const blocks = new Blocks(writer);
  for await (const rows of texts.rows(from, to)) await blocks.add(rows);
  await blocks.finish();
  const last_key = await texts.keyOf(to - 1);
  // Taken out meanwhile, by a repair, perhaps with others: the next building finds what is there.
  if (last_key !== undefined) await writer.finish({ from_row: from, to_row: to, last_key });
  return blocks.bytes;
}

/** Signatures in the making, one a session. A row is in one block: what is looked for is in one text. */
class Blocks {
  readonly #writer: Writer;
  readonly #counter = new GramCounter();
  readonly #open = new Map<string, GramSet>();
  bytes = 0;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** A session at a time: in what grew bit by bit the rows of several sessions alternate. */
  async add(rows: readonly SignedRow[]): Promise<void> {
    for (const [session, own] of Map.groupBy(rows, (row) => row.session))
      for (const { texts } of own) {
        const set = this.#open.get(session) ?? new GramSet();
        this.#open.set(session, set);
        for (const text of texts) {
          this.#counter.add(set, text);
          this.bytes += text.length;
        }
        if (set.bytes >= BLOCK_BYTES) await this.#close(session, set);
      }
    const grams = this.#open.values().reduce((sum, { size }) => sum + size, 0);
    if (grams > MOST_GRAMS) await this.finish();
  }

  async finish(): Promise<void> {
    for (const [session, set] of this.#open) await this.#close(session, set);
  }

  async #close(session: string, set: GramSet): Promise<void> {
    this.#open.delete(session);
    // Only texts that are shorter than any run.
    if (set.size > 0) await this.#writer.add(session, { bits: set.toBitmap() });
  }
}

class Writer {
  readonly #table: SignatureTable;
  readonly #source: string;
  readonly #run = randomUUID();
  #batch;
  #blocks = 0;

  constructor(table: SignatureTable, source: string) {
    this.#table = table;
    this.#source = source;
    this.#batch = table.batch();
  }

  async add(
    session_id: string,
    values: Omit<RowOf<typeof SIGNATURES>, "session_id" | "block" | "source">,
  ): Promise<void> {
    const row = { session_id, block: `${this.#run}.${this.#blocks++}`, source: this.#source, ...values };
    if (this.#batch.add(row) !== "full") return;
    await this.#table.insert(this.#batch.finish());
    this.#batch = this.#table.batch();
    this.#batch.add(row);
  }

  /** The stretch goes with the last batch, so that it never tells of signatures that are not there. */
  async finish(stretch: {
    readonly from_row: number;
    readonly to_row: number;
    readonly last_key: string;
  }): Promise<void> {
    await this.add("", stretch);
    await this.#table.insert(this.#batch.finish());
  }
}
