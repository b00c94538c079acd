/** A large log that grew is read on from where it was committed, and stored as if it had been read at once. */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { sync } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { ClientReport } from "../../src/wire/sync.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";
const instant = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

interface Client {
  readonly name: string;
  readonly key: string;
  readonly header?: object;
  readonly record: (n: number, text: string) => object;
}

const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    key: `-home-me-app/${SESSION}.jsonl`,
    record: (n, text) => ({
      type: n % 2 === 0 ? "user" : "assistant",
      uuid: `u${n}`,
      parentUuid: n === 0 ? null : `u${n - 1}`,
      sessionId: SESSION,
      cwd: "/home/me/app",
      timestamp: instant(n),
      message: { role: n % 2 === 0 ? "user" : "assistant", content: text },
    }),
  },
  {
    name: "codex-cli",
    key: `sessions/2026/01/01/rollout-2026-01-01T00-00-00-${SESSION}.jsonl`,
    header: {
      timestamp: instant(0),
      type: "session_meta",
      payload: { id: SESSION, timestamp: instant(0), cwd: "/home/me/app" },
    },
    record: (n, text) => ({
      timestamp: instant(n),
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    }),
  },
  {
    name: "pi",
    key: `--home-me-app--/2026-01-01T00-00-00-000Z_${SESSION}.jsonl`,
    header: { type: "session", version: 3, id: SESSION, cwd: "/home/me/app", timestamp: instant(0) },
    record: (n, text) => ({
      type: "message",
      id: `e${n}`,
      parentId: n === 0 ? null : `e${n - 1}`,
      timestamp: instant(n),
      message: { role: "user", content: text },
    }),
  },
];

const RECORDS = 130;
const TEXT = "some words that make a log large ".repeat(1100);

class Log {
  readonly path: string;
  readonly #client: Client;
  #records = 0;

  constructor(root: string, client: Client) {
    this.path = join(root, client.key);
    this.#client = client;
    mkdirSync(dirname(this.path), { recursive: true });
    if (client.header !== undefined) writeFileSync(this.path, `${JSON.stringify(client.header)}\n`);
    this.append(RECORDS);
  }

  append(records: number): void {
    const lines = Array.from({ length: records }, (_, n) =>
      JSON.stringify(this.#client.record(this.#records + n, `${this.#records + n} ${TEXT}`)),
    );
    this.#records += records;
    appendFileSync(this.path, `${lines.join("\n")}\n`);
  }
}

const importAll = async (context: Context, { name }: Client, root: string): Promise<ClientReport> =>
  (await sync(context, { adapters: [name], paths: [root], stages: ["import"] })).clients[0]!;

const prefixesOf = ({ config }: Context): string[] => {
  try {
    return readdirSync(join(config.paths.state, "prefixes"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
};

async function rowsOf(context: Context): Promise<readonly string[]> {
  const { messages, parts } = (await context.store()).tables;
  const select = ["session_id", "id", "project", "search_text", "options"] as const;
  const rows = await messages.scan({ select });
  const found = await parts.scan({ select: ["session_id", "message_id", "id", "variant_data", "options"] });
  return [
    ...Array.from({ length: rows.length }, (_, row) =>
      select.map((column) => rows.stringOrNull(column, row)).join("\t"),
    ),
    ...Array.from({ length: found.length }, (_, row) =>
      [found.stringOrNull("message_id", row), found.stringOrNull("variant_data", row)].join("\t"),
    ),
  ].toSorted();
}

/** The rows of a store that has never seen the log before. */
async function rowsAnew(client: Client, root: string): Promise<readonly string[]> {
  await using anew = await tempContext();
  await importAll(anew.context, client, root);
  return await rowsOf(anew.context);
}

describe.each(CLIENTS)("a large log of $name", (client) => {
  test("that grew is stored as if it had been read at once, and a change before its end is seen", async () => {
    await using folder = await tempDir();
    await using temp = await tempContext();
    const log = new Log(folder.path, client);
    await importAll(temp.context, client, folder.path);
    expect(prefixesOf(temp.context)).toHaveLength(1);
    log.append(1);
    expect((await importAll(temp.context, client, folder.path)).stored.messages).toMatchObject({
      inserted: 1,
    });
    log.append(2);
    expect((await importAll(temp.context, client, folder.path)).stored.messages).toMatchObject({
      inserted: 2,
    });
    expect(await rowsOf(temp.context)).toEqual(await rowsAnew(client, folder.path));

    // In the committed part, away from the head and from the end.
    const file = openSync(log.path, "r+");
    writeSync(file, '\n{"not json\n', 1_000_000);
    closeSync(file);
    log.append(1);
    const report = await importAll(temp.context, client, folder.path);
    expect(report.issues).toEqual({ not_json: 3 });
    // The new record, and three lines in the place of one.
    expect(report.stored.messages.inserted).toBe(4);
  });

  test("is read from its start where what was kept of it is damaged or gone", async () => {
    await using folder = await tempDir();
    await using temp = await tempContext();
    const log = new Log(folder.path, client);
    await importAll(temp.context, client, folder.path);
    const spoilers = [
      (path: string) => truncateSync(path, 1000),
      (path: string) => writeFileSync(path, "{}"),
      (path: string) => rmSync(path),
    ];
    for (const spoil of spoilers) {
      spoil(prefixesOf(temp.context)[0]!);
      log.append(1);
      const { stored, issues } = await importAll(temp.context, client, folder.path);
      expect([stored.messages.inserted, issues, prefixesOf(temp.context).length]).toEqual([1, {}, 1]);
    }
    expect(await rowsOf(temp.context)).toEqual(await rowsAnew(client, folder.path));
  });

  test("that was rewritten smaller leaves nothing behind, and starts over", async () => {
    await using folder = await tempDir();
    await using temp = await tempContext();
    const log = new Log(folder.path, client);
    await importAll(temp.context, client, folder.path);
    const head = client.header === undefined ? "" : `${JSON.stringify(client.header)}\n`;
    writeFileSync(log.path, `${head}${JSON.stringify(client.record(5, "other"))}\n`);
    const { issues } = await importAll(temp.context, client, folder.path);
    expect([issues, prefixesOf(temp.context)]).toEqual([{}, []]);
  });
});

test("threads hand prefixes on, and a full read takes none", async () => {
  const client = CLIENTS[0]!;
  await using folder = await tempDir();
  await using temp = await tempContext({ env: { POND_SYNC_THREADS: "2" } });
  const second = { ...client, key: client.key.replace("0001.jsonl", "0002.jsonl") };
  const logs = [new Log(folder.path, client), new Log(folder.path, second)];
  // Two threads are worth it from 16 MB on.
  for (const log of logs) log.append(180);
  await importAll(temp.context, client, folder.path);
  expect(prefixesOf(temp.context)).toHaveLength(2);
  for (const log of logs) log.append(1);
  const { stored, issues } = await importAll(temp.context, client, folder.path);
  expect([stored.messages, issues]).toEqual([{ inserted: 2, matched: 0 }, {}]);

  const file = openSync(logs[0]!.path, "r+");
  writeSync(file, '\n{"not json\n', 1_000_000);
  closeSync(file);
  for (const log of logs) log.append(1);
  expect((await importAll(temp.context, client, folder.path)).issues).toEqual({ not_json: 3 });
  const request = {
    adapters: ["claude-code"],
    paths: [folder.path],
    verify: true,
    stages: ["import"] as const,
  };
  expect((await sync(temp.context, request)).clients[0]!.issues).toMatchObject({ not_json: 3 });
});
