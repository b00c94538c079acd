/** Sessions of a store that commands are tried on: of every client some that differ in what is hard to read. */
import { connect } from "@lancedb/lancedb";
import type { Bench } from "./homes.ts";

export interface Pick {
  readonly id: string;
  readonly client: string;
  readonly ends: number;
  /** Some of its messages, in their order. */
  readonly messages: readonly string[];
}

interface Summary {
  readonly session_id: string;
  readonly as_of: string;
  readonly source_agent: string;
  readonly children: number;
  readonly ends: number | null;
  readonly replaced: number | null;
  readonly bytes: bigint;
}

/** In the ids of the fixtures with a story for every client. */
const HANDING_OVER = "5e551000";

/** Larger ones only cost time. */
const MOST_BYTES = 3_000_000n;

export async function pickSessions({ before, withSamples }: Bench): Promise<readonly Pick[]> {
  const db = await connect(before.store);
  const rows = (await (await db.openTable("summaries")).query().toArray()) as Summary[];
  const newest = new Map<string, Summary>();
  for (const row of rows.toSorted((a, b) => compare(a.as_of, b.as_of)))
    if (row.session_id !== "" && row.bytes <= MOST_BYTES) newest.set(row.session_id, row);
  const byClient = Map.groupBy(newest.values(), brandOf);
  const messages = await db.openTable("messages");
  const picks = [...byClient.values()].flatMap((all) => {
    const sorted = all.toSorted((a, b) => compare(a.session_id, b.session_id));
    const most = (of: (row: Summary) => number | bigint): Summary =>
      sorted.reduce((best, row) => (of(row) > of(best) ? row : best));
    const picked = [
      most((row) => Number(row.session_id.includes(HANDING_OVER))),
      most((row) => row.children),
      most((row) => (row.ends ?? 0) * 1000 + (row.replaced ?? 0)),
    ];
    const more = (): Summary[] => [
      most((row) => row.replaced ?? 0),
      most((row) => row.bytes),
      most((row) => Number(row.source_agent.includes("/"))),
    ];
    return [...new Set([...picked, ...(withSamples ? more() : [])])];
  });
  return await Promise.all(
    picks.map(async (row) => {
      const found = (await messages
        .query()
        .where(`session_id = '${row.session_id.replaceAll("'", "''")}'`)
        .select(["id", "seq", "search_text"])
        .toArray()) as { id: string; seq: bigint | null; search_text: string | null }[];
      const ids = found
        .filter((message) => message.search_text !== null)
        .toSorted((a, b) => Number((a.seq ?? 0n) - (b.seq ?? 0n)) || compare(a.id, b.id))
        .map(({ id }) => id);
      return { id: row.session_id, client: brandOf(row), ends: row.ends ?? 1, messages: ids };
    }),
  );
}

const brandOf = ({ source_agent: agent }: Summary): string => agent.split("/")[0]!;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
