/** A machine on which opencode works: its data folder, a store, a clock that stands still, and the client's writes. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, sync, verify } from "../../src/handlers/index.ts";
import type { MessageWithParts } from "../../src/model/events/index.ts";
import { openJson, sessionId } from "../../src/model/index.ts";
import { tempDir } from "./temp-dir.ts";
import type { ClientReport } from "../../src/wire/sync.ts";
import type { VerifyReport } from "../../src/wire/verify.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters/opencode");

/** The session that the client goes on with. */
export const SESSION = "ses_e1dfc4243ffe3ysehNwzhUjiD5";

/** A machine with opencode's data folder, a store, and a clock that stands still. */
export class Machine implements AsyncDisposable {
  now = Date.UTC(2026, 10, 17);
  readonly place: string;
  readonly #folder: string;
  readonly #context: Context;
  readonly #dispose: () => Promise<void>;

  static async start(fixture = "data"): Promise<Machine> {
    const folder = await tempDir();
    cpSync(join(FIXTURES, fixture), join(folder.path, "place"), { recursive: true });
    const environment = {
      env: WITHOUT_VECTORS,
      home: folder.path,
      platform: process.platform,
      cwd: folder.path,
    };
    const config = await loadConfig({ environment });
    const at = { now: () => 0 };
    const clock = { ...systemClock, now: () => at.now() };
    const signal = new AbortController().signal;
    const context = createContext({ config, machine: environment, signal, clock });
    const machine = new Machine(folder.path, context, async () => {
      await context[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    });
    at.now = () => machine.now;
    return machine;
  }

  private constructor(folder: string, context: Context, dispose: () => Promise<void>) {
    this.#folder = folder;
    this.place = join(folder, "place");
    this.#context = context;
    this.#dispose = dispose;
  }

  /** For the handlers that read. */
  get context(): Context {
    return this.#context;
  }

  async sync(options: { readonly verify?: boolean } = {}): Promise<ClientReport> {
    const { clients } = await sync(this.#context, { ...this.#source, stages: ["import"], ...options });
    return clients[0]!;
  }

  async verify(): Promise<VerifyReport["clients"][number]> {
    const { clients } = await verify(this.#context, this.#source);
    return clients[0]!;
  }

  async messages(session = SESSION): Promise<readonly MessageWithParts[]> {
    const store = await this.#context.store();
    return (await store.state(sessionId(session)))?.messages ?? [];
  }

  /** Every row, whatever the source holds now. */
  async everything(session = SESSION): Promise<readonly MessageWithParts[]> {
    const store = await this.#context.store();
    return (await store.everything(sessionId(session)))?.messages ?? [];
  }

  /** The texts of the newest versions, as a reader shows them. */
  async texts(session = SESSION): Promise<string[]> {
    return (await this.messages(session)).flatMap(({ parts }) =>
      parts.flatMap((part) => {
        if (part.type === "text" && part.provenance === "conversational") return [part.text ?? ""];
        return part.type === "tool_result" ? [`${part.name}: ${JSON.stringify(openJson(part.result!))}`] : [];
      }),
    );
  }

  loseCursors(): void {
    const state = readdirSync(this.#folder, { recursive: true, encoding: "utf8" });
    const cursors = state.filter((path) => path.endsWith("cursors"));
    if (cursors.length !== 1) throw new Error("there are no cursors to lose");
    for (const path of cursors) rmSync(join(this.#folder, path), { recursive: true });
  }

  get #source() {
    return { adapters: ["opencode"], paths: [this.place] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispose();
  }
}

/** The client, as far as its database sees it. */
export class Client implements Disposable {
  readonly #database: DatabaseSync;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#database = new DatabaseSync(join(machine.place, "opencode.db"));
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON");
  }

  message(id: string, data: object): void {
    this.#put("message", { id, session_id: SESSION }, data);
  }

  part(id: string, message: string, data: object): void {
    this.#put("part", { id, message_id: message, session_id: SESSION }, data);
  }

  run(sql: string, ...values: readonly (string | number)[]): void {
    this.#database.prepare(sql).run(...values);
  }

  #put(table: string, ids: Readonly<Record<string, string>>, data: object): void {
    const now = this.#machine.now;
    const names = Object.keys(ids);
    this.#database
      .prepare(
        `INSERT INTO ${table} (${names.join(", ")}, time_created, time_updated, data)
         VALUES (${names.map(() => "?").join(", ")}, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET time_updated = excluded.time_updated, data = excluded.data`,
      )
      .run(...Object.values(ids), now, now, JSON.stringify(data));
  }

  /** As a kill does: nothing is folded into the database. */
  [Symbol.dispose](): void {
    this.#database.close();
  }
}
