/** A machine with a few short logs of one client and a store of them, for tests of what becomes of the store. */
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, doctor, sync } from "../../src/handlers/index.ts";
import { worded } from "../../src/cli/terminal/next-step.ts";
import type { Finding } from "../../src/wire/health.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

export const ID = {
  first: "11111111-1111-4111-8111-111111111111",
  second: "22222222-2222-4222-8222-222222222222",
  third: "33333333-3333-4333-8333-333333333333",
};

export class Machine {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(folder: string, env: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    this.#env = env;
    mkdirSync(this.logs, { recursive: true });
  }

  get logs(): string {
    return join(this.folder, "home/.claude/projects/-srv-app");
  }

  get store(): string {
    return join(this.folder, "store");
  }

  /** The folder of a table. */
  table(name: string): string {
    return join(this.store, "default", `${name}.lance`);
  }

  /** The log of a session with this many messages. */
  write(session: string, messages = 2): void {
    const lines = Array.from({ length: messages }, (_, at) => ({
      type: "user",
      uuid: `${session}-${at}`,
      parentUuid: at === 0 ? null : `${session}-${at - 1}`,
      sessionId: session,
      cwd: "/srv/app",
      timestamp: `2026-01-02T03:04:0${at}.000Z`,
      message: { role: "user", content: `message ${at} of ${session}` },
    }));
    writeFileSync(this.logOf(session), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  logOf(session: string): string {
    return join(this.logs, `${session}.jsonl`);
  }

  remove(...ids: readonly string[]): void {
    for (const session of ids) rmSync(this.logOf(session));
  }

  /** Nothing of any client is left. */
  removeClient(): void {
    rmSync(join(this.folder, "home/.claude"), { recursive: true });
  }

  keep(name: string): void {
    cpSync(this.store, join(this.folder, name), { recursive: true, preserveTimestamps: true });
  }

  /** Another folder is in the store's place; the store is kept under another name. */
  putInPlace(name: string, kept = "away"): void {
    renameSync(this.store, join(this.folder, kept));
    renameSync(join(this.folder, name), this.store);
  }

  async run<T>(command: (context: Context) => Promise<T>): Promise<T> {
    const home = join(this.folder, "home");
    const env = { ...WITHOUT_VECTORS, POND_STORE: this.store, ...this.#env };
    const environment = { env, home, platform: "linux" as const, cwd: home };
    const { signal } = new AbortController();
    const config = await loadConfig({ environment });
    await using context = createContext({ config, machine: environment, signal });
    return await command(context);
  }

  sync(): Promise<{ readonly inserted: number; readonly fresh: number; readonly notes: readonly string[] }> {
    return this.run(async (context) => {
      const { clients, notes } = await sync(context, { stages: ["import"] });
      const [client] = clients;
      return {
        inserted: client?.stored.messages.inserted ?? 0,
        fresh: client?.fresh ?? 0,
        notes: notes.map(worded),
      };
    });
  }

  /** What doctor says of the store that is not well. */
  /** As the command words them. */
  async troubles(): Promise<readonly (Finding & { readonly fix: string })[]> {
    const findings = await this.run((context) => doctor(context));
    return findings
      .filter((finding) => finding.topic === "store" && finding.status !== "ok")
      .map((finding) => ({ ...finding, fix: worded(finding.fix ?? "") }));
  }
}
