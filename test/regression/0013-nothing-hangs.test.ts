/**
 * Nothing that a person gives keeps a command from its end, nor from a signal (spec.md#cli-signals, spec.md#search-literal).
 * A pattern that JavaScript tries in ever more ways kept a search, Ctrl-C and SIGTERM waiting for minutes: its matches are
 * now found by the engine alone. One that the engine takes minutes for ends with its page.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, doctor, get, listSessions, search, status } from "../../src/handlers/index.ts";
import { pathMap } from "../../src/handlers/restore/path-map.ts";
import { parseStorageUrl } from "../../src/substrate/engine/storage-url.ts";
import { story } from "../support/story.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";

/** JavaScript backtracks over the run of x at the start for longer than anybody lives; the engine is done at once. */
const RUN = "x".repeat(60);
const PATTERN = "(x+x+)+y";

test("a pattern that would take JavaScript for ever is found, and shown where it stands", async () => {
  await using temp = await tempContext();
  const filler = "\u{1F600} filler ".repeat(200);
  await temp.ingest(
    story("s")
      .user(`${RUN} ${filler}here: xxy, said ${filler}`)
      .call("Bash", { first: RUN, second: `${RUN} "quoted"\n${filler}here: xxy, called ${filler}` })
      .message("system", [], { content: `${RUN} ${filler}here: xxy, noted ${filler}` })
      .events(),
  );
  const { sessions } = await search(temp.context, {
    query: PATTERN,
    mode: "regex",
    filters: { session_id: "s" },
  });
  const texts = sessions.flatMap(({ matches }) => matches.map(({ text }) => text));
  expect(texts).toEqual([
    expect.stringContaining("here: xxy, noted"),
    expect.stringContaining("here: xxy, called"),
    expect.stringContaining("here: xxy, said"),
  ]);
});

test("what the engine finds in the names of JSON is shown from its start", async () => {
  await using temp = await tempContext();
  await temp.ingest(story("s").call("Bash", { command: "ls" }).events());
  const { sessions } = await search(temp.context, { query: '"command":"l', mode: "regex" });
  expect(sessions[0]?.matches[0]?.text).toBe("ls");
});

/** A clock by hand: who sleeps wakes when `ring` is called. */
function handClock() {
  const sleepers: (() => void)[] = [];
  return {
    clock: { now: () => 0, sleep: () => new Promise<void>((resolve) => sleepers.push(resolve)) },
    ring: (): void => sleepers.splice(0).forEach((wake) => wake()),
  };
}

const manySessions = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    story(`s${i}`, { at: new Date(Date.UTC(2020, 0, 1 + i)).toISOString() })
      .user("the needle")
      .events(),
  ).flat();

test("a scan that does not come back in time ends the page, which says what it did not look through", async () => {
  await using temp = await tempContext();
  await temp.ingest(manySessions(120));
  const { clock, ring } = handClock();
  const { tables } = await temp.context.store();
  const scan = tables.messages.scan.bind(tables.messages);
  const scans = vi.spyOn(tables.messages, "scan");
  // The first stretch is answered, the second never is: time is up in the middle of it.
  scans.mockImplementation((options) => {
    if (scans.mock.calls.length === 1) return scan(options);
    ring();
    return new Promise(() => undefined);
  });
  const first = await search({ ...temp.context, clock }, { query: "needle", mode: "exact", limit: 60 });
  expect(first).toMatchObject({
    matched_total: 50,
    matched_total_exact: false,
    has_more: true,
    sessions_unsearched: 70,
  });
  scans.mockRestore();
  const rest = await search(temp.context, {
    query: "needle",
    mode: "exact",
    limit: 200,
    cursor: first.next_cursor!,
  });
  expect(rest.sessions).toHaveLength(70);
  expect(rest).not.toHaveProperty("sessions_unsearched");
});

test("where not even the first sessions are looked through in time, that is the answer", async () => {
  await using temp = await tempContext();
  await temp.ingest(manySessions(3));
  const { clock, ring } = handClock();
  const { tables } = await temp.context.store();
  vi.spyOn(tables.messages, "scan").mockImplementation(() => {
    ring();
    return new Promise(() => undefined);
  });
  const request = { query: "(x{1,100}){1,20}y", mode: "regex" as const };
  await expect(search({ ...temp.context, clock }, request)).rejects.toMatchObject({
    code: "validation_failed",
    reason: "limit",
    message: expect.stringContaining("the 3 newest sessions"),
    hint: expect.stringContaining("simplify the pattern"),
  });
});

test.each(["words", "exact", "regex"] as const)(
  "Ctrl-C ends a search (%s) while the engine is busy",
  async (mode) => {
    await using temp = await tempContext();
    await temp.ingest(manySessions(1));
    const { tables } = await temp.context.store();
    const controller = new AbortController();
    const interrupted = new Error("interrupted");
    const never = (): Promise<never> => {
      controller.abort(interrupted);
      return new Promise(() => undefined);
    };
    vi.spyOn(tables.messages, "scan").mockImplementation(never);
    vi.spyOn(tables.messages, "search").mockImplementation(never);
    const context = { ...temp.context, signal: controller.signal };
    await expect(search(context, { query: "needle", mode })).rejects.toBe(interrupted);
  },
);

test.each<[string, (context: Context) => Promise<unknown>]>([
  ["get", (context) => get(context, { session_id: "s0" })],
  ["sessions", (context) => listSessions(context, {})],
  ["status", (context) => status(context)],
  ["doctor", (context) => doctor(context)],
])("Ctrl-C ends %s, and what it opened, while the store does not answer", async (_, read) => {
  await using folder = await tempDir();
  const environment = { env: {}, home: folder.path, platform: "linux" as const, cwd: folder.path };
  const config = await loadConfig({ environment });
  const controller = new AbortController();
  const interrupted = new Error("interrupted");
  const context = createContext({ config, machine: environment, signal: controller.signal });
  const silent = {
    ...context,
    existingStore: (): Promise<never> => {
      controller.abort(interrupted);
      return new Promise(() => undefined);
    },
  };
  await expect(read(silent)).rejects.toBe(interrupted);
});

/** Takes connections and never says a word. */
async function silentServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

test("a store that is still being opened after Ctrl-C is not waited for", { timeout: 60_000 }, async () => {
  await using folder = await tempDir();
  const server = await silentServer();
  const env = {
    POND_STORE: "s3://bucket/pond",
    POND_STORAGE_OPTIONS_AWS_ENDPOINT: `http://127.0.0.1:${server.port}`,
    POND_STORAGE_OPTIONS_AWS_ACCESS_KEY_ID: "none",
    POND_STORAGE_OPTIONS_AWS_SECRET_ACCESS_KEY: "none",
    POND_STORAGE_OPTIONS_AWS_REGION: "none",
    POND_STORAGE_OPTIONS_ALLOW_HTTP: "true",
    POND_STORAGE_OPTIONS_CLIENT_MAX_RETRIES: "0",
  };
  const environment = { env, home: folder.path, platform: "linux" as const, cwd: folder.path };
  const config = await loadConfig({ environment });
  const controller = new AbortController();
  const context = createContext({ config, machine: environment, signal: controller.signal });
  let hasEnded = false;
  const opening = context.existingStore().finally(() => (hasEnded = true));
  controller.abort();
  await context[Symbol.asyncDispose]();
  expect(hasEnded).toBe(false);
  await server[Symbol.asyncDispose]();
  await expect(opening).rejects.toMatchObject({ code: "storage_unavailable" });
});

test("doctor tells what is here before it looks for a store that is not, and of that last", async () => {
  await using folder = await tempDir();
  const env = {
    POND_STORE: "s3://bucket/pond",
    POND_STORAGE_OPTIONS_AWS_ENDPOINT: "http://127.0.0.1:9",
    POND_STORAGE_OPTIONS_AWS_ACCESS_KEY_ID: "none",
    POND_STORAGE_OPTIONS_AWS_SECRET_ACCESS_KEY: "none",
    POND_STORAGE_OPTIONS_AWS_REGION: "none",
    POND_STORAGE_OPTIONS_ALLOW_HTTP: "true",
    POND_STORAGE_OPTIONS_CLIENT_MAX_RETRIES: "0",
  };
  const environment = { env, home: folder.path, platform: "linux" as const, cwd: folder.path };
  mkdirSync(join(folder.path, ".claude/projects/-srv"), { recursive: true });
  writeFileSync(join(folder.path, ".claude/projects/-srv/x.jsonl"), "{}\n");
  const { signal } = new AbortController();
  const config = await loadConfig({ environment });
  await using context = createContext({ config, machine: environment, signal });
  const first: string[] = [];
  const findings = await doctor(context, {}, (some) => first.push(...some.map(({ topic }) => topic)));
  expect(first).toEqual(["settings", "retention"]);
  expect(findings.slice(2)).toEqual([
    { topic: "clients", status: "ok", message: expect.stringContaining("only the store knows") },
    expect.objectContaining({
      topic: "store",
      status: "fail",
      message: expect.stringMatching(/cannot reach/),
    }),
  ]);
});

test("a million slashes are trimmed from a rule and an address at once", () => {
  const slashes = "/".repeat(1_000_000);
  const { map } = pathMap([`/old${slashes}x=/new${slashes}`], "/home/me");
  expect(map(`/old${slashes}x/y`)).toBe("/new/y");
  expect(parseStorageUrl(`s3://bucket/a${slashes}b${slashes}`).href).toBe(`s3://bucket/a${slashes}b`);
});

test("a line of blanks in broken settings is told at once", async () => {
  await using folder = await tempDir();
  const file = join(folder.path, "config.toml");
  writeFileSync(file, `${" ".repeat(100_000)}x\n`);
  const environment = { env: {}, home: folder.path, platform: "linux" as const, cwd: folder.path };
  await expect(loadConfig({ environment, file })).rejects.toMatchObject({ code: "validation_failed" });
});
