/**
 * Every row of two stores, read straight from their tables and not by pond's code. A row is kept as its hash, so that
 * memory holds keys only; rows that differ are read again to name their columns.
 */
import { hash } from "node:crypto";
import type { Connection, Table } from "@lancedb/lancedb";
import { connect } from "@lancedb/lancedb";
import type { Report } from "./report.ts";

/** What is not compared: when and by whom, and the version of a table that a summary was computed from. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  sources: ["read_at", "reader", "path"],
  summaries: ["as_of"],
};
const LEFT_OUT_ANYWHERE = ["ingested_at"];

const KEYS: Readonly<Record<string, readonly string[]>> = {
  sessions: ["id"],
  messages: ["session_id", "id"],
  parts: ["session_id", "message_id", "id"],
  sources: ["session_id", "source", "state"],
  summaries: ["session_id"],
};

/** Holds no rows: what stands in its metadata is of one store. */
const NOT_COMPARED = ["pond_store"];

type Row = Record<string, unknown>;

interface Stores {
  readonly before: string;
  readonly after: string;
  /**
   * Several batches were written. Where two sources tell the same record, the one that is read second names the other's
   * read only if that was committed by then, so that which read is named is a matter of time.
   */
  readonly hasBatches: boolean;
}

/** Returns how many rows were compared. */
export async function compareStores({ before, after, hasBatches }: Stores, report: Report): Promise<number> {
  const [one, two] = [await connect(before), await connect(after)];
  const names = (await one.tableNames()).filter((name) => !NOT_COMPARED.includes(name));
  const others = (await two.tableNames()).filter((name) => !NOT_COMPARED.includes(name));
  if (names.join() !== others.join()) report.add(`tables: ${names.join(" ")} / ${others.join(" ")}`);
  const clients = await brands(await one.openTable("sessions"));
  const reads = [await namesOfReads(one, hasBatches), await namesOfReads(two, hasBatches)] as const;
  let compared = 0;
  for (const name of names.filter((table) => others.includes(table))) {
    const tables = [
      { table: await one.openTable(name), reads: reads[0] },
      { table: await two.openTable(name), reads: reads[1] },
    ] as const;
    compared += await compareTable(tables, { name, clients, report });
  }
  return compared;
}

/** A table, and a name for each read that its rows were stored by. */
interface Side {
  readonly table: Table;
  readonly reads: ReadonlyMap<string, string>;
}

/** The name of every read of a session whose rows may be of any of its sources. */
const ANY = "any read";

interface Comparison {
  readonly name: string;
  /** The client of each session. */
  readonly clients: ReadonlyMap<string, string>;
  readonly report: Report;
}

async function compareTable(
  [before, after]: readonly [Side, Side],
  { name, clients, report }: Comparison,
): Promise<number> {
  const schemas = [await schemaText(before.table), await schemaText(after.table)];
  if (schemas[0] !== schemas[1]) report.add(`${name}: columns ${schemas[0]} / ${schemas[1]}`, name);
  const expected = await hashes(before, name);
  const found = await hashes(after, name);
  const counts = new Map<string, number>();
  for (const [key, value] of expected) {
    const client = clients.get(sessionOf(key)) ?? "?";
    counts.set(client, (counts.get(client) ?? 0) + 1);
    const other = found.get(key);
    if (other === undefined) report.add(`${name} ${key}: missing`, name);
    else if (other !== value)
      report.add(`${name} ${key}: ${await columnsOf([before, after], name, key)}`, name);
  }
  for (const key of found.keys())
    if (!expected.has(key)) report.add(`${name} ${key}: was not there before`, name);
  const by = [...counts].map(([client, count]) => `${client} ${count}`).toSorted();
  console.log(`  ${name}: ${expected.size} rows (${by.join(", ")})`);
  return expected.size;
}

async function brands(sessions: Table): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const batch of sessions.query().select(["id", "source_agent"]))
    for (const row of batch.toArray() as Row[])
      found.set(String(row["id"]), String(row["source_agent"]).split("/")[0]!);
  return found;
}

/** A read has a random id: here it is named by the first state of a source that tells of it. */
async function namesOfReads(store: Connection, hasBatches: boolean): Promise<Map<string, string>> {
  const rows = (await (
    await store.openTable("sources")
  )
    .query()
    .select(["session_id", "source", "state", "content"])
    .toArray()) as Record<"session_id" | "source" | "state" | "content", string>[];
  const states = rows
    .map(({ content, session_id: session, source, state }) => ({
      key: JSON.stringify([session, source, state]),
      session,
      source,
      content,
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const sources = Map.groupBy(states, ({ session }) => session);
  const names = new Map<string, string>();
  for (const { key, session, content } of states) {
    const isAny = hasBatches && new Set(sources.get(session)?.map(({ source }) => source)).size > 1;
    const { runs } = JSON.parse(content) as { readonly runs?: readonly (readonly [string, ...unknown[]])[] };
    for (const [i, [read]] of (runs ?? []).entries())
      if (!names.has(read)) names.set(read, isAny ? ANY : `read ${i} of ${key}`);
  }
  return names;
}

async function schemaText(table: Table): Promise<string> {
  const { fields } = await table.schema();
  return fields.map((field) => `${field.name}:${field.type}${field.nullable ? "?" : ""}`).join(" ");
}

/** The hash of every row by its key. */
async function hashes(side: Side, name: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const newest = new Map<string, string>();
  for await (const row of rowsOf(side)) {
    const key = JSON.stringify(keyColumns(name).map((column) => row[column]));
    if (name === "summaries") {
      // One row a state of the tables, the newest counts; the one without a session is no summary.
      const asOf = String(row["as_of"]);
      if (row["session_id"] === "" || (newest.get(key) ?? "") > asOf) continue;
      newest.set(key, asOf);
    } else if (found.has(key)) throw new Error(`${name} ${key} is stored twice`);
    found.set(key, hash("sha256", valuesOf(row, name), "base64"));
  }
  return found;
}

const keyColumns = (name: string): readonly string[] => {
  const columns = KEYS[name];
  if (columns === undefined) throw new Error(`a new table, ${name}: name its key in KEYS`);
  return columns;
};

const sessionOf = (key: string): string => String((JSON.parse(key) as unknown[])[0]);

function valuesOf(row: Row, name: string): string {
  const left = [...LEFT_OUT_ANYWHERE, ...(LEFT_OUT[name] ?? [])];
  return JSON.stringify(
    Object.entries(row).filter(([column]) => !left.includes(column)),
    (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value),
  );
}

/** Rows with plain values: times as microseconds, blobs as their hash, reads by their names. */
async function* rowsOf({ table, reads }: Side, where?: string): AsyncGenerator<Row> {
  const { fields } = await table.schema();
  const blobs = fields.filter(({ metadata }) => metadata.get("ARROW:extension:name") === "lance.blob.v2");
  const columns = new Map<string, string>();
  for (const field of fields) {
    if (blobs.includes(field)) continue;
    const isTime = String(field.type).startsWith("Timestamp");
    columns.set(field.name, isTime ? `CAST(${field.name} AS BIGINT)` : field.name);
  }
  const query = table.query().select(columns).withRowId();
  for await (const batch of where === undefined ? query : query.where(where)) {
    const rows = (batch.toArray() as { toJSON(): Row }[]).map((row) => row.toJSON());
    const ids = rows.map((row) => row["_rowid"] as bigint);
    const payloads = new Map<string, (Uint8Array | null)[]>();
    for (const { name } of blobs) payloads.set(name, await table.fetchBlobs(name, ids));
    for (const [i, { _rowid: _, ...row }] of rows.entries()) {
      for (const [name, values] of payloads) {
        const bytes = values[i];
        row[name] = bytes instanceof Uint8Array ? `${bytes.length} ${hash("sha256", bytes)}` : null;
      }
      if ("origin" in row) row["origin"] = reads.get(String(row["origin"])) ?? null;
      if ("content" in row && "digest" in row) row["content"] = withNames(String(row["content"]), reads);
      yield row;
    }
  }
}

/** Digest and count of the records are compared in any case. */
function withNames(content: string, reads: Side["reads"]): string {
  const named = content.replaceAll(/"([\w-]{12})"/g, (text, read: string) =>
    reads.has(read) ? JSON.stringify(reads.get(read)) : text,
  );
  if (!named.includes(`"${ANY}"`)) return named;
  return JSON.stringify({ ...(JSON.parse(named) as object), runs: ANY });
}

/** Which columns differ, and how, cut to what can be read. */
async function columnsOf(sides: readonly [Side, Side], name: string, key: string): Promise<string> {
  const values = JSON.parse(key) as string[];
  const where = keyColumns(name)
    .map((column, i) => `${column} = '${values[i]!.replaceAll("'", "''")}'`)
    .join(" AND ");
  const [before, after] = await Promise.all(
    sides.map(async (side) => {
      const rows = await Array.fromAsync(rowsOf(side, where));
      const newest = rows.toSorted((a, b) => String(a["as_of"]).localeCompare(String(b["as_of"]))).at(-1);
      return new Map(JSON.parse(valuesOf(newest ?? {}, name)) as [string, unknown][]);
    }),
  );
  return [...new Set([...before!.keys(), ...after!.keys()])]
    .map(
      (column) => [column, JSON.stringify(before!.get(column)), JSON.stringify(after!.get(column))] as const,
    )
    .filter(([, one, two]) => one !== two)
    .map(([column, one, two]) => `${column}: ${firstDifference(one ?? "none", two ?? "none")}`)
    .join("; ");
}

/** The surroundings of the first character that differs. */
export function firstDifference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const start = Math.max(0, at - 40);
  const cut = (text: string): string => `${start > 0 ? "..." : ""}${text.slice(start, at + 80)}`;
  return `${cut(before)} -> ${cut(after)}`;
}
