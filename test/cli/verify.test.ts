/** `pond verify` as people run it: what it says and its exit codes (spec.md#keep-verify). */
import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { changeRow } from "../support/changed-row.ts";
import { TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";

const logOf = (home: TempHome, id: string): string =>
  join(home.path, `.claude/projects/-srv-app/${id}.jsonl`);

function record(id: string, text: string): string {
  const timestamp = "2026-01-01T00:00:00.000Z";
  const message = { role: "user", content: text };
  return `${JSON.stringify({ type: "user", uuid: `${id}-${text}`, sessionId: id, cwd: "/srv/app", timestamp, message })}\n`;
}

function write(home: TempHome, id: string): void {
  const path = logOf(home, id);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, record(id, "one") + record(id, "two"));
  utimesSync(path, 1, 1);
}

async function syncedHome(): Promise<TempHome> {
  const home = new TempHome();
  write(home, ID);
  expect(await home.pond(["sync", "--quiet"])).toMatchObject({ code: 0 });
  return home;
}

test("what is stored as it is on disk is exit 0; what is on disk and not stored is exit 1 and named", async () => {
  using home = await syncedHome();
  const proven = await home.pond(["verify"]);
  expect(proven).toMatchObject({ code: 0 });
  expect(proven.stdout).toMatch(/claude-code\t1\t0\t1\t2\t2\t0/);
  write(home, OTHER);
  const missed = await home.pond(["verify"]);
  expect(missed.code).toBe(1);
  expect(missed.stdout).toContain(`${logOf(home, OTHER)}: session ${OTHER}: not stored`);
  expect(missed.stdout).toContain("1 on disk and not stored: pond sync");
});

test("a log that went on and one that is gone are counted, exit 0", async () => {
  using home = await syncedHome();
  appendFileSync(logOf(home, ID), record(ID, "three"));
  const grown = await home.pond(["verify"]);
  expect(grown).toMatchObject({ code: 0 });
  expect(grown.stdout).toContain("1 session has grown since the last sync");
  rmSync(logOf(home, ID));
  const gone = await home.pond(["verify", "--json"]);
  expect(gone.code).toBe(0);
  expect(JSON.parse(gone.stdout)).toMatchObject({ clients: [{ gone: 1, unstored: 0, unequal: 0 }] });
});

test.each([["verify"], ["repair"], ["verify", "--stored"]])(
  "%s %s of a path where nothing is says to check it",
  async (...args) => {
    using home = new TempHome();
    const ended = await home.pond([...args, "--store", join(home.path, "nope/x")]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(
      /there is no store at .*nope\/x, the address given by --store\n +fix: check the path/,
    );
  },
);

test("what is stored and not equal is counted in records that add up, and its fix is told", async () => {
  using home = await syncedHome();
  const url = join(home.path, ".local/share/pond/store");
  const changed = { table: "parts", session: ID, column: "variant_data", from: "two", to: "2wo" } as const;
  await changeRow({ config: { values: { storage: { url } } } } as Context, changed);
  const { code, stdout } = await home.pond(["verify"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/RECORDS\tEQUAL\tUNEQUAL\tFAILED\nclaude-code\t1\t0\t1\t2\t1\t1\t1\n/);
  expect(stdout).toMatch(/^1 stored file or session is not as on disk: pond repair reads it again/m);
});

test("where there is nothing to compare, that is said, and no empty table", async () => {
  using home = await syncedHome();
  const ended = await home.pond(["verify", "--adapter", "pi"]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing was compared: .*\n$/) });
});

test("--stored proves without any source, and has nothing to say of a path", async () => {
  using home = await syncedHome();
  rmSync(join(home.path, ".claude"), { recursive: true });
  const { code, stdout } = await home.pond(["verify", "--stored", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    clients: [{ adapter: "claude-code", sessions: 1, states: 1, proven: 1, unequal: 0 }],
  });
  const refused = await home.pond(["verify", "--stored", "--adapter", "claude-code", "--path", home.path]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
});
