/**
 * Killed work leaves nothing behind and causes no work (spec.md#storage-no-garbage): imports, maintenance, long work over
 * what is stored and restores are killed by kill -9 at random moments. After the next commands and the time that old versions
 * stay, nothing is left in the home that no version needs, everything is stored once, nobody had to repair anything, and a
 * sync of one message rewrites nothing. POND_TEST_KILLS says how many kills of each; 100 are the proof.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { openSessionStore } from "../../src/sessions/index.ts";
import type { Table } from "../../src/substrate/index.ts";
import { KillHome, killOften, type Command } from "../support/kill-home.ts";

const KILLS = Number(process.env["POND_TEST_KILLS"] ?? 1);
const TIMEOUT = { timeout: 120_000 + KILLS * 60_000 };
const SESSIONS = 8;
const SYNC: Command = ["pond", "sync", "--json"];
const IMPORT: Command = ["pond", "sync", "--skip", "update-indexes"];
const MAINTAIN: Command = ["pond", "sync", "--only", "update-indexes"];

/** Logs of a client that grow. */
class Logs {
  readonly #home: KillHome;
  #messages = 0;

  constructor(home: KillHome) {
    this.#home = home;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Adds messages to each of some sessions, a picture to the first. */
  grow({ sessions = SESSIONS, messages = 10 } = {}): void {
    for (let session = 0; session < sessions; session++) {
      const content = (n: number): unknown =>
        session === 0 && n === 0 && messages > 1 ? [text(n), picture()] : text(n).text;
      this.#write(
        idOf(session),
        Array.from({ length: messages }, (_, n) => content(n)),
      );
    }
  }

  /** A session with files of its own for each of its subagents. */
  addLineage(session: number, subagents: number): void {
    const id = idOf(session);
    this.#write(
      id,
      Array.from({ length: 30 }, (_, n) => text(n).text),
    );
    for (let agent = 0; agent < subagents; agent++)
      this.#write(
        `${id}/subagents/agent-a${agent}`,
        Array.from({ length: 30 }, (_, n) => text(n).text),
        { sessionId: id, agentId: `a${agent}`, isSidechain: true },
      );
  }

  #write(name: string, contents: readonly unknown[], more: object = {}): void {
    const path = join(this.#home.path, ".claude/projects/-srv-app", `${name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const lines = contents.map((content) => {
      const n = this.#messages++;
      return JSON.stringify({
        ...(typeof content === "string" && n % 2 === 1
          ? answer(n, content)
          : { type: "user", message: { role: "user", content } }),
        uuid: `message-${n}`,
        parentUuid: null,
        sessionId: name,
        cwd: "/srv/app",
        timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
        ...more,
      });
    });
    appendFileSync(path, lines.map((line) => `${line}\n`).join(""));
  }
}

const idOf = (n: number): string => `${String(n).padStart(8, "0")}-1111-4111-8111-111111111111`;
const text = (n: number): { readonly type: "text"; readonly text: string } => ({
  type: "text",
  text: `message ${n} ${Array.from({ length: 30 }, () => randomBytes(5).toString("hex")).join(" ")}`,
});
const answer = (n: number, said: string): object => ({
  type: "assistant",
  message: { id: `answer-${n}`, role: "assistant", model: "m", content: [{ type: "text", text: said }] },
});
/** Large enough for a file of its own. */
const picture = (): object => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: randomBytes(150_000).toString("base64") },
});

/** What people would run, without a word of complaint. */
async function works(home: KillHome, command: Command, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await home.run(command, env);
  expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" });
  return stdout;
}

interface SyncReport {
  readonly indexes: { readonly tables: readonly { readonly done: readonly object[] }[] };
}

/** Two syncs, each long after what was before it, and nothing is left; then one message more, which rewrites nothing. */
async function leavesNothing(home: KillHome, logs: Logs, namespaces: Iterable<string> = ["default"]) {
  for (let sync = 0; sync < 2; sync++) {
    home.passTime();
    logs.grow({ sessions: 1, messages: 1 });
    for (const namespace of namespaces) await works(home, SYNC, { POND_STORAGE_NAMESPACE: namespace });
  }
  expect(await home.left()).toEqual([]);
  const before = home.sizes();
  const bytes = home.bytes();
  logs.grow({ sessions: 1, messages: 1 });
  const report = JSON.parse(await works(home, SYNC)) as SyncReport;
  expect(report.indexes.tables.flatMap(({ done }) => done)).toEqual([]);
  const changed = [...home.sizes()].filter(([path, size]) => before.get(path) !== size);
  const written = changed.reduce((sum, [, size]) => sum + size, 0);
  expect(written).toBeLessThan(bytes / 4);
  return { bytes, written };
}

/** Proven against its sources and by its own digests, and no row is there twice. */
async function isWhole(home: KillHome, logs: Logs, namespace = "default") {
  const env = { POND_STORAGE_NAMESPACE: namespace };
  await works(home, ["pond", "verify"], env);
  await works(home, ["pond", "verify", "--stored"], env);
  const address = { url: home.store, namespace, options: {} };
  await using store = await openSessionStore(address, { create: true });
  const { sessions, messages, parts, sources } = store.tables;
  expect(await messages.count()).toBe(logs.messages);
  for (const table of [sessions, messages, parts, sources!] as unknown as readonly Table[]) {
    const key = table.spec.primaryKey;
    const rows = await table.scan({ select: key as never });
    const keys = Array.from({ length: rows.length }, (_, row) =>
      key.map((column) => rows.string(column as never, row)).join("\0"),
    );
    expect(new Set(keys).size).toBe(keys.length);
  }
}

/** For whoever runs the hundred. */
function tell(what: string, started: number, figures: object): void {
  const seconds = Math.round((performance.now() - started) / 1000);
  if (process.env["POND_TEST_KILLS"] !== undefined)
    console.log(what, JSON.stringify({ kills: KILLS, seconds, ...figures }));
}

test("killed imports leave nothing behind, in a new store neither", TIMEOUT, async () => {
  using home = new KillHome();
  const logs = new Logs(home);
  const started = performance.now();
  const namespaces = new Set(["default"]);
  logs.grow();
  await works(home, SYNC);
  const before = home.bytes();
  const runs = await killOften({
    home,
    kills: KILLS,
    work: async (landed) => {
      logs.grow();
      // Every fourth is killed while it makes its tables, or soon after.
      const namespace = landed % 4 === 1 ? `new-${landed}` : "default";
      namespaces.add(namespace);
      return { command: SYNC, env: { POND_STORAGE_NAMESPACE: namespace } };
    },
  });
  const killed = home.bytes();
  for (const namespace of namespaces) await works(home, SYNC, { POND_STORAGE_NAMESPACE: namespace });
  const after = await leavesNothing(home, logs, namespaces);
  for (const namespace of namespaces) await works(home, SYNC, { POND_STORAGE_NAMESPACE: namespace });
  for (const namespace of namespaces) await isWhole(home, logs, namespace);
  tell("import", started, { runs, before, killed, ...after });
});

test("killed maintenance leaves nothing behind", TIMEOUT, async () => {
  using home = new KillHome();
  const logs = new Logs(home);
  const started = performance.now();
  logs.grow({ messages: 150 });
  await works(home, SYNC);
  const before = home.bytes();
  const runs = await killOften({
    home,
    kills: KILLS,
    work: async () => {
      logs.grow({ messages: 3 });
      await works(home, IMPORT);
      return { command: MAINTAIN };
    },
  });
  const killed = home.bytes();
  const after = await leavesNothing(home, logs);
  await isWhole(home, logs);
  tell("maintenance", started, { runs, before, killed, ...after });
});

test("killed long work that fills a derived table leaves nothing behind", TIMEOUT, async () => {
  using home = new KillHome();
  const logs = new Logs(home);
  const started = performance.now();
  logs.grow({ messages: 150 });
  await works(home, SYNC);
  const before = home.bytes();
  const derive = (model: number): Command => [
    "derive-child.ts",
    JSON.stringify({ store: home.store, model: `model-${model}` }),
  ];
  // It is gone on with twice, then all is made anew, so that there is always something left to do.
  let model = 0;
  let tries = 0;
  const runs = await killOften({
    home,
    kills: KILLS,
    work: async () => ({ command: derive((model = Math.floor(tries++ / 3))) }),
  });
  const killed = home.bytes();
  await works(home, derive(model));
  await works(home, SYNC);
  home.passTime();
  logs.grow({ sessions: 1, messages: 1 });
  await works(home, SYNC);
  expect(await works(home, derive(model))).toBe(`${logs.messages} of ${logs.messages}\n`);
  const after = await leavesNothing(home, logs);
  await isWhole(home, logs);
  tell("long work", started, { runs, before, killed, ...after });
});

test("killed restores leave nothing behind, and the next one completes them", TIMEOUT, async () => {
  using home = new KillHome();
  const logs = new Logs(home);
  const started = performance.now();
  logs.grow();
  logs.addLineage(100, 8);
  await works(home, SYNC);
  const before = home.bytes();
  const clients = ["claude-code", "codex-cli", "opencode", "pi"];
  const restore = (to: string, name: string): Command => [
    "pond",
    "restore",
    idOf(100),
    "--to",
    to,
    "--out",
    join(home.targets, to, name),
  ];
  for (const client of clients) await works(home, restore(client, "whole"));
  const targets: [client: string, name: string][] = [];
  let tries = 0;
  const runs = await killOften({
    home,
    kills: KILLS,
    work: async () => {
      const target: [string, string] = [clients[tries % clients.length]!, `target-${tries}`];
      targets.push(target);
      tries += 1;
      return { command: restore(...target) };
    },
  });
  let refused = 0;
  for (const [client, name] of targets) {
    const { code, stderr } = await home.run(restore(client, name));
    // One that was killed after its last step is there, and is never written over.
    if (code !== 0) {
      expect(stderr).toMatch(/already exists, and pond never overwrites a file/);
      refused += 1;
    }
    expect(treeOf(join(home.targets, client, name))).toEqual(treeOf(join(home.targets, client, "whole")));
  }
  const after = await leavesNothing(home, logs);
  await isWhole(home, logs);
  tell("restore", started, { runs, refused, before, ...after });
});

/** Every file and folder below one, with its text. */
function treeOf(root: string): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(root, path), entry.isFile() ? readFileSync(path, "utf8") : ""];
    }),
  );
}
