/**
 * Signatures of the stored texts (spec.md#search-signatures), kept in a derived table: they say which sessions cannot contain
 * what is looked for. What they do not reach is always looked through; losing them costs time only.
 */
import type { MaintainOptions, Store } from "../../substrate/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import { SIGNATURES } from "../tables/schema.ts";
import type { SessionTables } from "../tables/tables.ts";
import { isDamaged, isUnavailable } from "../tables/unavailable.ts";
import type { SignatureTable } from "./build.ts";
import { build } from "./build.ts";
import { cellsOf, mayContain } from "./grams.ts";
import type { Reach, Stretch } from "./reach.ts";
import { reachOf } from "./reach.ts";
import type { SignedTexts, TextTable } from "./signed-texts.ts";
import { signedTexts } from "./signed-texts.ts";

/** A text contains one of these, and of that one all pieces; UTF-8. */
export type Needles = readonly (readonly Uint8Array[])[];

/** Whether a session has to be looked through. */
export type MayHold = (session: string) => boolean;

/** Rows without a signature that are not worth one yet. */
const LEAST_ROWS = 1000;
/** Text of one building: some three seconds of an older store, which the next ones go on with. */
const MOST_BYTES = 256_000_000;
/** What a process keeps of them; beyond that they are read for each search. */
const MOST_KEPT_BYTES = 128_000_000;
/** Rows behind their reach up to which it is asked whose they are, where it is most of the table. */
const MOST_TAIL_ROWS = 50_000;

interface Block {
  readonly session: string;
  readonly source: string;
  /** Undefined of a stretch. */
  readonly bits: Uint8Array | undefined;
  readonly stretch: Stretch | undefined;
}

export class Signatures {
  readonly #store: Store;
  readonly #texts: Readonly<Record<TextTable, SignedTexts>>;
  #kept: { readonly version: number; readonly blocks: readonly (readonly Block[])[] } | undefined;
  readonly #tails = new Map<TextTable, { readonly key: string; readonly sessions: ReadonlySet<string> }>();

  constructor(store: Store, tables: SessionTables) {
    this.#store = store;
    this.#texts = signedTexts(tables);
  }

  /** Which sessions may hold what is looked for in a table, by their signatures; undefined where nothing is known of it. */
  async mayHold(source: TextTable, needles: Needles): Promise<MayHold | undefined> {
    const sought = cellsOfAll(needles);
    if (sought === undefined) return undefined;
    try {
      return await this.#again(() => this.#mayHold(source, sought));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return undefined;
    }
  }

  /** Makes signatures of what has none, where it is worth it, or `all` of it. */
  async refresh({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    try {
      await this.#again(() => this.#refresh(all));
    } catch (error) {
      if (!isDamaged(error)) throw error;
      await this.drop();
      await this.#again(() => this.#refresh(all));
    }
  }

  /** They are made anew by the next maintenance. */
  async drop(): Promise<void> {
    this.#kept = undefined;
    if ((await this.#existing()) !== undefined) await this.#store.drop(SIGNATURES);
  }

  async maintain(options: MaintainOptions): Promise<void> {
    await this.#again(async () => (await this.#existing())?.maintain(options)).catch((error: unknown) => {
      // The refresh that follows makes it anew.
      if (!isDamaged(error)) throw error;
    });
  }

  async #mayHold(
    source: TextTable,
    sought: readonly (readonly Uint32Array[])[],
  ): Promise<MayHold | undefined> {
    const table = await this.#existing();
    if (table === undefined) return undefined;
    const found = new Set<string>();
    const stretches: Stretch[] = [];
    for await (const blocks of this.#blocks(table))
      for (const block of blocks) {
        if (block.source !== source) continue;
        const { session, bits, stretch } = block;
        if (stretch !== undefined) stretches.push(stretch);
        else if (bits !== undefined && !found.has(session) && sought.some(isIn(bits))) found.add(session);
      }
    const tail = await this.#tail(this.#texts[source], reachOf(stretches));
    return tail === undefined ? undefined : (session) => found.has(session) || tail.has(session);
  }

  /** Sessions with rows behind the reach; undefined where the signatures are of little, or of other rows. */
  async #tail(texts: SignedTexts, reach: Reach): Promise<ReadonlySet<string> | undefined> {
    const [version, count] = await Promise.all([texts.version(), texts.count()]);
    if (count - reach.to > Math.max(MOST_TAIL_ROWS, reach.to)) return undefined;
    const key = `${version} ${reach.to} ${reach.lastKey}`;
    const known = this.#tails.get(texts.name);
    if (known?.key === key) return known.sessions;
    const { sessions, keyBefore } = await texts.tail(reach.to);
    if (!isOf(reach, keyBefore)) return undefined;
    this.#tails.set(texts.name, { key, sessions });
    return sessions;
  }

  async *#blocks(table: SignatureTable): AsyncGenerator<readonly Block[]> {
    const version = await table.version();
    if (this.#kept?.version === version) return yield* this.#kept.blocks;
    this.#kept = undefined;
    let blocks: (readonly Block[])[] | undefined = [];
    let bytes = 0;
    for await (const batch of readBlocks(table)) {
      bytes += batch.reduce((sum, { bits }) => sum + (bits?.length ?? 0), 0);
      if (bytes > MOST_KEPT_BYTES) blocks = undefined;
      blocks?.push(batch);
      yield batch;
    }
    if (blocks !== undefined) this.#kept = { version, blocks };
  }

  async #refresh(all: boolean): Promise<void> {
    const stretches = await this.#stretches();
    for (const texts of Object.values(this.#texts)) {
      const reach = reachOf(stretches.get(texts.name) ?? []);
      if (!all && (await texts.count()) - reach.to < LEAST_ROWS) continue;
      if (!isOf(reach, reach.to === 0 ? undefined : await texts.keyOf(reach.to - 1))) {
        // The rows that they are of are not there any more.
        await this.drop();
        return this.#refresh(all);
      }
      const mostBytes = all ? Number.POSITIVE_INFINITY : MOST_BYTES;
      await build(await this.#store.table(SIGNATURES), texts, { reach, mostBytes });
    }
  }

  async #stretches(): Promise<Map<string, Stretch[]>> {
    const found = new Map<string, Stretch[]>();
    const table = await this.#existing();
    if (table === undefined) return found;
    for await (const blocks of readBlocks(table, eq("session_id", "")))
      for (const { source, stretch } of blocks)
        if (stretch !== undefined) found.set(source, [...(found.get(source) ?? []), stretch]);
    return found;
  }

  /** Once more when the table is gone: another process made it anew, or is about to. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#kept = undefined;
      this.#store.forget(SIGNATURES);
      return work();
    }
  }

  /** Undefined where there is none; it is made with the first signatures. */
  async #existing(): Promise<SignatureTable | undefined> {
    const names = await this.#store.tables();
    return names.includes(SIGNATURES.name) ? this.#store.table(SIGNATURES) : undefined;
  }
}

/** The last row within the reach is still the one that it was written of. */
const isOf = ({ to, lastKey }: Reach, key: string | undefined): boolean => to === 0 || key === lastKey;

const SELECTED = ["session_id", "source", "bits", "from_row", "to_row", "last_key"] as const;

/** What is looked for as a bitmap is asked of it; undefined where one of the needles could be anywhere. */
function cellsOfAll(needles: Needles): readonly (readonly Uint32Array[])[] | undefined {
  const sought = needles.map((pieces) => pieces.flatMap((piece) => cellsOf(piece) ?? []));
  return sought.length === 0 || sought.some((pieces) => pieces.length === 0) ? undefined : sought;
}

const isIn =
  (bits: Uint8Array) =>
  (pieces: readonly Uint32Array[]): boolean =>
    pieces.every((cells) => mayContain(bits, cells));

async function* readBlocks(
  table: SignatureTable,
  where?: Parameters<SignatureTable["count"]>[0],
): AsyncGenerator<readonly Block[]> {
  const options = { select: SELECTED, ...(where === undefined ? {} : { where }) };
  for await (const rows of table.scanBatches(options))
    yield Array.from({ length: rows.length }, (_, row): Block => {
      const session = rows.string("session_id", row);
      const [from, to] = [rows.intOrNull("from_row", row), rows.intOrNull("to_row", row)];
      const lastKey = rows.stringOrNull("last_key", row);
      const stretch = from === null || to === null || lastKey === null ? undefined : { from, to, lastKey };
      return {
        session,
        source: rows.string("source", row),
        bits: rows.bytes("bits", row) ?? undefined,
        stretch,
      };
    });
}
