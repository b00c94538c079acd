/**
 * The sessions of a database (docs/adapters/opencode.md#layout), one at a time. Only tables of sessions are read; those
 * of accounts, credentials and shares never are.
 */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { SqlRow, SqliteFile } from "../../kit/database/index.ts";
import { extractString, field, integerField } from "../../kit/extract/index.ts";
import {
  bytesOf,
  digestRows,
  jsonIn,
  jsonOfSql,
  parseColumn,
  SessionDigests,
  tableRecord,
} from "../../kit/database/index.ts";
import { MAX_FILE_BYTES, sideFileRecord, tooLong } from "../../kit/document/index.ts";
import type { SideRecord } from "../../kit/session/index.ts";
import type { SourceFault } from "../../kit/sources/index.ts";
import { stampNow, walk } from "../../kit/sources/index.ts";
import { stemOf } from "../layout.ts";
import { inOrder } from "./tree.ts";
import type { MessageRecord, SourceRecord } from "../records/record.ts";
import { idOf } from "../records/record.ts";
import type { Container, SessionSource } from "../records/source.ts";

/** Tables whose rows belong to a session and are rewritten together. */
export const SESSION_TABLES = ["todo", "session_context_epoch"] as const;

/** Tables whose rows belong to a session and come one by one. */
export const SESSION_LOGS = ["session_message", "session_input"] as const;

/** The parts of a session whose message is not there. */
export const STRAY_PARTS =
  "session_id = ? AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = part.message_id)";

/** A part is its message's, whatever session it names; without a message it has nothing else. */
const PART_OWNER = {
  session: "coalesce(owner.session_id, part.session_id)",
  join: "LEFT JOIN message AS owner ON owner.id = part.message_id",
};

export class DatabaseReader implements Container {
  readonly kind = "database";
  readonly #database: SqliteFile;
  readonly #key: string;
  /** The folder of the diffs that opencode writes beside its database. */
  readonly #diffs: string;
  readonly #tables: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #strays = new Set<string>();
  readonly #isElsewhere: (session: string) => boolean;

  /** `isElsewhere`: whether the diff of a session that the database has not is another container's. */
  constructor(database: SqliteFile, key: string, isElsewhere: (session: string) => boolean = () => true) {
    this.#database = database;
    this.#isElsewhere = isElsewhere;
    this.#key = key;
    this.#diffs = join(dirname(database.path), "storage", "session_diff");
    const names = ["session", "message", "part", "project", ...SESSION_TABLES, ...SESSION_LOGS];
    this.#tables = new Map(names.map((name) => [name, new Set(database.columns(name))]));
  }

  /** True for a database of this client, since 1.2. */
  get isReadable(): boolean {
    return (
      this.#has("session", "id") &&
      this.#has("message", "id", "session_id", "data") &&
      this.#has("part", "id", "message_id", "session_id", "data")
    );
  }

  /** Every session, also one of which only some rows are left, with what changes when anything of it does. */
  async digests(): Promise<ReadonlyMap<string, string>> {
    const digests = new SessionDigests(this.#database, "session");
    const isKnown = (id: string): boolean => digests.bySession.has(id);
    for (const table of ["message", "part", ...SESSION_TABLES, ...SESSION_LOGS]) {
      if (!this.#has(table, "session_id")) continue;
      const columns = this.#tables.get(table) ?? [];
      const rows = { table, columns, body: "data", ...(table === "part" ? { owner: PART_OWNER } : {}) };
      for (const [id, digest] of digestRows(this.#database, rows)) {
        if (table !== "message" && !isKnown(id)) this.#strays.add(id);
        digests.add(id, `${table}:${digest}`);
      }
    }
    const { files } = await walk(this.#diffs, { accepts: (name) => name.endsWith(".json") });
    for (const { path, size, mtime } of files) {
      const id = stemOf(path);
      if (!isKnown(id) && this.#isElsewhere(id)) continue;
      if (!isKnown(id)) this.#strays.add(id);
      digests.add(id, `diff:${size}:${mtime}`);
    }
    return digests.bySession;
  }

  isStray(id: string): boolean {
    return this.#strays.has(id);
  }

  open(id: string): SessionSource {
    const [row] = this.#database.all("SELECT * FROM session WHERE id = ?", id);
    const columns = row && this.#database.exact("session", row, "id");
    const facts = columns === undefined ? {} : factsOf(columns);
    const faults: SourceFault[] = [];
    const messages = this.#messages(id, faults);
    const own = columns === undefined ? 0 : updatedAt(columns);
    const diff = this.#diff(id, faults);
    const { path } = this.#database;
    const isStray = columns === undefined && messages.length === 0;
    const left = isStray ? [...this.#side(id, diff)] : [];
    return {
      id,
      kind: "database",
      key: this.#key,
      container: this.#key,
      path,
      ...(columns === undefined
        ? {}
        : { info: { value: { json: null }, columns, at: own, bytes: bytesOf(columns) } }),
      facts,
      scopes: [this.#worktree(field(facts, "projectID")), field(facts, "projectID") ?? null],
      ...(columns === undefined ? { folder: basename(dirname(path)) } : {}),
      ...(isStray ? { isStray } : {}),
      newest: [...messages, ...left].reduce(
        (at, record) => Math.max(at, record.at),
        Math.max(own, this.#newestPart(id), diff?.at ?? 0),
      ),
      count: messages.length,
      message: (index) => this.#withParts(messages[index], faults),
      side: () => this.#side(id, diff),
      faults: () => faults.splice(0),
    };
  }

  /** The messages of a session without their parts, by the time that the record tells, then by id. */
  #messages(session: string, faults: SourceFault[]): readonly SourceRecord[] {
    const records: SourceRecord[] = [];
    for (const row of this.#database.iterate("SELECT * FROM message WHERE session_id = ?", session))
      records.push(this.#record("message", row, faults));
    return records.toSorted(inOrder);
  }

  #withParts(message: SourceRecord | undefined, faults: SourceFault[]): MessageRecord {
    if (message === undefined) throw new RangeError("no such message");
    const rows = this.#database.all(
      "SELECT * FROM part WHERE message_id = ? ORDER BY id",
      idOf(message) ?? "",
    );
    return { ...message, parts: rows.map((row) => this.#record("part", row, faults)) };
  }

  /** Milliseconds since 1970 of the last change of a part. */
  #newestPart(session: string): number {
    if (!this.#has("part", "time_updated")) return 0;
    const [row] = this.#database.all(
      "SELECT max(time_updated) AS at FROM part WHERE session_id = ?",
      session,
    );
    return Number(row?.["at"] ?? 0);
  }

  #record(table: "message" | "part", row: SqlRow, faults: SourceFault[]): SourceRecord {
    const columns: Record<string, JsonValue> = {};
    for (const column of Object.keys(row))
      if (column !== "data") columns[column] = this.#database.exactValue(table, row, { column, key: "id" });
    const data = this.#database.exactValue(table, row, { column: "data", key: "id" });
    const { value, fault } = parseColumn(data);
    if (fault !== undefined) {
      const message = `${table} ${extractString(columns, "id") ?? ""}: ${fault.message}`;
      if (!faults.some((known) => known.message === message))
        faults.push({ kind: fault.kind, path: this.#database.path, message });
    }
    const bytes = typeof data === "string" ? data.length * 3 : "raw" in value ? value.raw.length : 0;
    const text = typeof data === "string" && "json" in value ? { text: data } : {};
    return { value, ...text, columns, at: updatedAt(columns), bytes };
  }

  *#side(id: string, diff: SideRecord | undefined): Generator<SideRecord> {
    for (const table of SESSION_TABLES) {
      const rows = this.#rowsOf(table, id);
      if (rows.length > 0) yield tableRecord(`table:${table}`, { table, rows }, updatedAt);
    }
    for (const table of SESSION_LOGS)
      for (const row of this.#rowsOf(table, id))
        yield tableRecord(`${table}:${extractString(row, "id") ?? ""}`, { table, rows: [row] }, updatedAt);
    if (diff !== undefined) yield diff;
    const strays = `SELECT * FROM part WHERE ${STRAY_PARTS} ORDER BY id`;
    for (const row of this.#database.all(strays, id)) {
      const part = this.#database.exact("part", row, "id");
      const name = `part:${extractString(part, "id") ?? ""}`;
      yield { ...tableRecord(name, { table: "part", rows: [part] }, updatedAt), isStray: true };
    }
  }

  #rowsOf(table: string, session: string): readonly JsonObject[] {
    if (!this.#has(table, "session_id")) return [];
    const rows = this.#database.all(`SELECT * FROM "${table}" WHERE session_id = ? ORDER BY rowid`, session);
    return rows.map((row) => this.#database.exact(table, row, "session_id"));
  }

  /** opencode keeps a session's diffs in a file, also where everything else is in the database. */
  #diff(id: string, faults: SourceFault[]): SideRecord | undefined {
    if (/[/\\]/.test(id)) return undefined;
    const path = join(this.#diffs, `${id}.json`);
    const stamp = stampNow(path);
    if (stamp === undefined) return undefined;
    if (stamp.size > MAX_FILE_BYTES) {
      faults.push({ kind: "too_long", path, message: tooLong(stamp.size) });
      return undefined;
    }
    return sideFileRecord(`storage/session_diff/${id}.json`, readFileSync(path), Math.floor(stamp.mtime));
  }

  #worktree(project: JsonValue | undefined): JsonValue {
    if (typeof project !== "string" || !this.#has("project", "id", "worktree")) return null;
    const [row] = this.#database.all("SELECT worktree FROM project WHERE id = ?", project);
    return jsonOfSql(row?.["worktree"] ?? null);
  }

  #has(table: string, ...columns: readonly string[]): boolean {
    const known = this.#tables.get(table);
    return known !== undefined && columns.every((column) => known.has(column));
  }
}

/** A session's row in the names of the client's session record. */
function factsOf(row: JsonObject): JsonObject {
  const data = jsonIn(field(row, "data"));
  const revert = jsonIn(field(row, "revert"));
  const created = integerField(row, "time_created");
  const updated = integerField(row, "time_updated");
  const named: readonly (readonly [string, JsonValue | undefined])[] = [
    ["directory", field(row, "directory")],
    ["parentID", field(row, "parent_id")],
    ["projectID", field(row, "project_id")],
    ["agent", field(row, "agent")],
    ["title", field(row, "title")],
    ["revert", revert],
    ["permission", jsonIn(field(row, "permission"))],
    ["metadata", jsonIn(field(row, "metadata"))],
    ["time", created === undefined ? undefined : { created, updated: updated ?? created }],
  ];
  return {
    ...(isJsonObject(data) ? data : {}),
    ...Object.fromEntries(named.filter((pair): pair is [string, JsonValue] => pair[1] !== undefined)),
  };
}

function updatedAt(row: JsonObject): number {
  return integerField(row, "time_updated") ?? integerField(row, "time_created") ?? 0;
}
