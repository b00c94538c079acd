/**
 * What changes when a row of a session does (spec.md#sync-change-detection): all that its rows say, not their number,
 * lengths and times alone, because whoever edits a row by hand sets no time. Reads the whole table, 3 ms a megabyte.
 */
import type { Hash } from "node:crypto";
import { createHash } from "node:crypto";
import type { SqliteFile } from "./sqlite.ts";

export interface SessionRows {
  readonly table: string;
  readonly columns: Iterable<string>;
  /** The column that holds nearly all of a row. */
  readonly body: string;
  /** Whose row it is, where it is not for the row's own `session_id` to say: an expression, and what it joins. */
  readonly owner?: { readonly session: string; readonly join: string };
}

/** By session, in the order of the table. Rows of no session are left out. */
export function digestRows(
  database: SqliteFile,
  { table, columns, body, owner }: SessionRows,
): ReadonlyMap<string, string> {
  const { session = `"${table}"."session_id"`, join = "" } = owner ?? {};
  const names = [...columns];
  const rest = names.filter((name) => name !== body).map((name) => `quote("${table}"."${name}")`);
  // As bytes: a text with bad ones is another text than one with others.
  const selected = [
    `${session} AS session`,
    `CAST(${rest.join(" || ',' || ")} AS BLOB) AS rest`,
    ...(names.includes(body)
      ? [`typeof("${table}"."${body}") AS kind`, `CAST("${table}"."${body}" AS BLOB) AS body`]
      : []),
  ];
  const hashes = new Map<string, Hash>();
  for (const row of database.iterate(`SELECT ${selected.join(", ")} FROM "${table}" ${join}`)) {
    if (row["session"] === null) continue;
    const id = String(row["session"]);
    const hash = hashes.get(id) ?? createHash("sha1");
    hashes.set(id, hash);
    for (const value of [row["rest"], row["body"]])
      if (value instanceof Uint8Array) hash.update(`${value.length}:`).update(value);
    hash.update(`${String(row["kind"])};`);
  }
  return new Map([...hashes].map(([id, hash]) => [id, hash.digest("base64")]));
}

/** Each session of a database, with what changes when anything of it does: the digests of all its rows. */
export class SessionDigests {
  readonly bySession = new Map<string, string>();

  /** Begins with the table of sessions. */
  constructor(database: SqliteFile, table: string) {
    for (const row of database.iterate(`SELECT * FROM ${table} ORDER BY id`))
      this.add(String(row["id"]), Object.values(row).map(String).join("\u0000"));
  }

  add(session: string, digest: string): void {
    this.bySession.set(session, `${this.bySession.get(session) ?? ""}${digest};`);
  }
}
