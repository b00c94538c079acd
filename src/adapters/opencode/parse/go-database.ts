/**
 * The sessions of the first opencode, written in Go, whose database stood in the project: `.opencode/opencode.db` with
 * the tables of its descendant Crush (docs/adapters/opencode.md#go).
 */
import { basename, dirname } from "node:path";
import type { JsonObject } from "../../../base/json/json.ts";
import type { SqliteFile } from "../../kit/database/index.ts";
import { digestRows, SessionDigests } from "../../kit/database/index.ts";
import { parseText } from "../../kit/document/index.ts";
import type { SideRecord } from "../../kit/session/index.ts";
import type { SourceFault } from "../../kit/sources/index.ts";
import { extractString, extractTimestamp, field, without } from "../../kit/extract/index.ts";
import type { CallNames } from "../records/go-messages.ts";
import { goEntry } from "../records/go-messages.ts";
import { byText } from "./tree.ts";
import type { MessageRecord } from "../records/record.ts";
import type { Container, SessionSource } from "../records/source.ts";

const PARTS: ReadonlySet<string> = new Set(["parts"]);

export class GoReader implements Container {
  readonly kind = "go";
  readonly isReadable: boolean;
  readonly #database: SqliteFile;
  readonly #key: string;
  readonly #hasFiles: boolean;

  constructor(database: SqliteFile, key: string) {
    this.#database = database;
    this.#key = key;
    const messages = database.columns("messages");
    this.isReadable =
      database.columns("sessions").includes("id") &&
      ["id", "session_id", "role", "parts", "created_at"].every((column) => messages.includes(column));
    this.#hasFiles = database.columns("files").includes("session_id");
  }

  async digests(): Promise<ReadonlyMap<string, string>> {
    const digests = new SessionDigests(this.#database, "sessions");
    for (const [table, body] of this.#tables()) {
      const rows = { table, body, columns: this.#database.columns(table) };
      for (const [id, digest] of digestRows(this.#database, rows)) digests.add(id, `${table}:${digest}`);
    }
    return digests.bySession;
  }

  /** Its tables are few, and each row of one makes a session. */
  isStray(): boolean {
    return false;
  }

  open(id: string): SessionSource {
    const [row] = this.#database.all("SELECT * FROM sessions WHERE id = ?", id);
    const columns = row && this.#database.exact("sessions", row, "id");
    const rows = this.#database.all(
      "SELECT id, created_at, updated_at FROM messages WHERE session_id = ?",
      id,
    );
    const ids = rows
      .map((message) => ({ id: String(message["id"]), created: String(message["created_at"]), row: message }))
      .toSorted((a, b) => byText(a.created, b.created) || byText(a.id, b.id));
    const faults: SourceFault[] = [];
    const calls: CallNames = new Map();
    return {
      id,
      kind: "go",
      key: this.#key,
      container: this.#key,
      path: this.#database.path,
      ...(columns === undefined
        ? {}
        : { info: { value: { json: null }, columns, at: changedAt(columns), bytes: 4096 } }),
      facts: columns === undefined ? {} : factsOf(columns),
      scopes: [projectOf(this.#database.path)],
      newest: Math.max(
        columns === undefined ? 0 : changedAt(columns),
        ...ids.map(({ row: message }) => changedAt(this.#database.exact("messages", message, "id"))),
      ),
      count: ids.length,
      message: (index) => this.#message(ids[index]?.id ?? "", faults),
      entry: (message, context) => goEntry(message, { ...context, calls }),
      side: () => this.#files(id),
      faults: () => faults.splice(0),
    };
  }

  #message(id: string, faults: SourceFault[]): MessageRecord {
    const [row = {}] = this.#database.all("SELECT * FROM messages WHERE id = ?", id);
    const exact = this.#database.exact("messages", row, "id");
    const columns = without(exact, PARTS);
    const text = extractString(exact, "parts") ?? "";
    const base = { columns, parts: [], at: changedAt(columns), bytes: text.length * 3 };
    const { value, fault } = parseText(text);
    const message = `message ${id}: its parts are not JSON`;
    if (fault !== undefined && !faults.some((known) => known.message === message))
      faults.push({ kind: fault.kind, path: this.#database.path, message });
    return { value, ...base };
  }

  /** The versions of the files that the session edited. */
  *#files(id: string): Generator<SideRecord> {
    if (!this.#hasFiles) return;
    for (const row of this.#database.all("SELECT * FROM files WHERE session_id = ? ORDER BY rowid", id)) {
      const exact = this.#database.exact("files", row, "id");
      const content = extractString(exact, "content") ?? "";
      yield {
        name: `files:${extractString(exact, "id") ?? ""}`,
        source: { table: "files", rows: [exact] },
        at: changedAt(exact),
        bytes: content.length * 3 + 1024,
      };
    }
  }

  #tables(): readonly (readonly [string, string])[] {
    return [["messages", "parts"] as const, ...(this.#hasFiles ? [["files", "content"] as const] : [])];
  }
}

function factsOf(row: JsonObject): JsonObject {
  const pairs = [
    ["parentID", field(row, "parent_session_id")],
    ["title", field(row, "title")],
    ["time", { created: field(row, "created_at") ?? null, updated: field(row, "updated_at") ?? null }],
  ] as const;
  return Object.fromEntries(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** The database stands in `<project>/.opencode`; one that was moved out of there has its folder's name. */
function projectOf(path: string): string {
  const folder = dirname(path);
  return basename(folder) === ".opencode" ? dirname(folder) : basename(folder);
}

/** Milliseconds since 1970: some versions write text, others numbers. */
function changedAt(row: JsonObject): number {
  const at = extractTimestamp(row, "updated_at") ?? extractTimestamp(row, "created_at");
  return at === undefined ? 0 : Math.floor(at / 1000);
}
