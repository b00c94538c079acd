/**
 * The store and the state folder of the checkout before, synced by this one: at first nothing is read, and when a source
 * of each client grew, only that. The checkout before does the same on a copy; reports and rows must be equal.
 */
import { appendFileSync, readdirSync, readFileSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { compareEnded } from "./documents.ts";
import type { Bench, Ended } from "./homes.ts";
import { copyFolder, pond } from "./homes.ts";
import type { Report } from "./report.ts";
import { compareStores } from "./rows.ts";

const TEXT = "One more question about the lilies";
const TIME = "2026-11-17T12:00:00.000Z";

/** Of the report of `sync --json`, as the checkout before prints it. */
interface SyncReport {
  readonly clients: readonly {
    readonly adapter: string;
    readonly seen: number;
    readonly fresh: number;
    readonly read: number;
    readonly stored: Readonly<Record<"sessions" | "messages" | "parts", { readonly inserted: number }>>;
  }[];
}

/** Returns how many rows were compared. */
export async function compareGrowth(bench: Bench, report: Report): Promise<number> {
  const { folder, before: home, after } = bench;
  const masks = [[folder, "<folder>"]] as const;
  const compare = (command: string, [one, two]: readonly [Ended, Ended]): void => {
    const sides = [
      { ended: one, masks },
      { ended: two, masks },
    ] as const;
    compareEnded({ verb: "sync", command }, sides, report);
  };
  const sync = (checkout: string): Promise<Ended> => pond(home, ["sync", "--json"], checkout);

  // This one first: had it read something, the other one would find nothing to do.
  const unread = await sync(after.checkout);
  const expected = await sync(home.checkout);
  compare("sync of unchanged sources", [expected, unread]);
  for (const { adapter, seen, fresh, read, stored } of clientsOf(expected)) {
    const inserted = Object.values(stored).reduce((sum, rows) => sum + (rows.inserted ?? 0), 0);
    if (seen === 0 || fresh !== seen || read + inserted > 0)
      report.add(`${adapter}: the sync of unchanged sources was none before: ${fresh} of ${seen} fresh`);
  }

  const grown = new Map(bench.clients.map((client) => [client, grow(client, bench)]));
  // At its own path each time: the state folder knows the store by it.
  const [kept, other] = [join(folder, "kept"), join(folder, "grown")];
  copyFolder(home.path, kept);
  const before = await sync(home.checkout);
  renameSync(home.path, other);
  renameSync(kept, home.path);
  compare("sync of grown sources", [before, await sync(after.checkout)]);
  for (const { adapter, seen, fresh, read, stored } of clientsOf(before)) {
    const sources = grown.get(adapter) ?? 0;
    console.log(
      `  ${adapter}: ${seen} sources, ${sources} grown, ${read} read, ${stored.messages.inserted} messages new`,
    );
    if (read !== sources || fresh !== seen - sources || stored.messages.inserted === 0)
      report.add(`${adapter}: ${sources} sources grew, ${read} were read before`);
  }
  const stores = { before: home.store.replace(home.path, other), after: home.store, hasBatches: false };
  return await compareStores(stores, report);
}

const clientsOf = ({ stdout }: Ended): SyncReport["clients"] => (JSON.parse(stdout) as SyncReport).clients;

/** Adds a record to a fixture, and to the largest log among the samples. Returns to how many sources. */
function grow(client: string, { sources, withSamples }: Bench): number {
  const folder = join(sources, client);
  if (client === "opencode") {
    addRow(join(folder, "adapters/data/opencode.db"));
    return 1;
  }
  const fixture = largestLog(join(folder, "handing-over")) ?? largestLog(join(folder, "adapters"));
  const logs = [fixture, withSamples ? largestLog(join(folder, "samples")) : undefined].filter(
    (path) => path !== undefined,
  );
  for (const path of logs) {
    const text = readFileSync(path, "utf8");
    const record = JSON.stringify(nextRecord(client, text));
    appendFileSync(path, `${text.endsWith("\n") ? "" : "\n"}${record}\n`);
    utimesSync(path, 2, 2);
  }
  return logs.length;
}

function largestLog(folder: string): string | undefined {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return undefined;
  }
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((a, b) => statSync(a).size - statSync(b).size)
    .at(-1);
}

/** A prompt after the last record of a log. */
function nextRecord(client: string, log: string): unknown {
  const records = log
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const last = (key: string): unknown => records.findLast((record) => typeof record[key] === "string")?.[key];
  switch (client) {
    case "claude-code":
      return {
        parentUuid: last("uuid"),
        isSidechain: false,
        cwd: last("cwd"),
        sessionId: last("sessionId"),
        type: "user",
        message: { role: "user", content: TEXT },
        uuid: "5a3e0000-0000-4000-8000-000000000001",
        timestamp: TIME,
      };
    case "codex-cli": {
      const content = [{ type: "input_text", text: TEXT }];
      return { timestamp: TIME, type: "response_item", payload: { type: "message", role: "user", content } };
    }
    case "pi": {
      const message = { role: "user", content: [{ type: "text", text: TEXT }], timestamp: Date.parse(TIME) };
      return { type: "message", id: "5a3e0001", parentId: last("id"), timestamp: TIME, message };
    }
    case "qwen-code":
      return {
        uuid: "5a3e0000-0000-4000-8000-000000000002",
        parentUuid: last("uuid"),
        sessionId: last("sessionId"),
        timestamp: TIME,
        type: "user",
        cwd: last("cwd"),
        message: { role: "user", parts: [{ text: TEXT }] },
      };
    default:
      throw new Error(`a new client, ${client}: say here how one of its sources grows`);
  }
}

/** A message with a part behind the last one of a session of opencode's database. */
function addRow(path: string): void {
  using database = new DatabaseSync(path);
  const at = Date.parse(TIME);
  const { session_id: session, data } = database
    .prepare('SELECT session_id, data FROM message WHERE data LIKE \'%"role":"user"%\' ORDER BY id LIMIT 1')
    .get() as { session_id: string; data: string };
  const message = { ...(JSON.parse(data) as object), time: { created: at } };
  database
    .prepare("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)")
    .run("msg_ffffffffffffSameAs00000001", session, at, at, JSON.stringify(message));
  database
    .prepare(
      "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(
      "prt_ffffffffffffSameAs00000001",
      "msg_ffffffffffffSameAs00000001",
      session,
      at,
      at,
      JSON.stringify({ type: "text", text: TEXT }),
    );
}
