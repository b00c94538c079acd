/** Exports as shells and disks leave them: in other encodings, with other keys first, damaged. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { compareAll, listUnits, readUnit, restoreNative } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { opencode } from "../index.ts";

const ID = "ses_one";
const PATH = `exports/${ID}.json`;
const INFO = { id: ID, projectID: "p", directory: "/w", title: "t", time: { created: 1_700_000_000_000 } };
const MESSAGES = [
  {
    info: { id: "msg_1", sessionID: ID, role: "user", time: { created: 1_700_000_000_000 } },
    parts: [
      { id: "prt_1", sessionID: ID, messageID: "msg_1", type: "text", text: "h\u00e9llo \ud83d\ude00" },
    ],
  },
];
const TEXT = JSON.stringify({ info: INFO, messages: MESSAGES });

const HOUR = 3_600_000;
const WRITTEN = Date.UTC(2026, 10, 16);

async function exported(content: string | Uint8Array, { path = PATH, now = WRITTEN + 2 * HOUR } = {}) {
  await using folder = await tempDir();
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, WRITTEN / 1000, WRITTEN / 1000);
  const { units } = await listUnits(opencode, folder.path);
  const run = await readUnit(opencode, units[0]!, { root: folder.path, now });
  const comparisons = await compareAll(await restoreNative(opencode, run.events), folder.path);
  const sessions = run.events.flatMap((event) => (event.kind === "session" ? [event.session] : []));
  const texts = run.events.flatMap(({ ...event }) =>
    event.kind === "part" && event.part.type === "text" ? [event.part.text] : [],
  );
  return { ...run, kinds: run.issues.map(({ kind }) => kind), comparisons, sessions, texts };
}

const utf16 = (text: string, isBig: boolean): Buffer =>
  isBig ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le");

describe("an export is stored and restores by value", () => {
  test.each([
    ["with a byte order mark", `\ufeff${TEXT}`],
    ["in UTF-16, little end first", utf16(`\ufeff${TEXT}`, false)],
    ["in UTF-16, big end first", utf16(`\ufeff${TEXT}`, true)],
    ["in UTF-16 without a mark", utf16(TEXT, false)],
    ["in UTF-16 without a mark, big end first", utf16(TEXT, true)],
    ["with another key first", JSON.stringify({ version: 1, info: INFO, messages: MESSAGES })],
    ["with much before its keys", `${" ".repeat(5000)}${TEXT}`],
  ])("%s", async (_how, content) => {
    const run = await exported(content);
    expect([run.kinds, run.texts]).toEqual([[], ["h\u00e9llo \ud83d\ude00"]]);
    expect(run.sessions).toMatchObject([{ id: ID, project: "/w" }]);
    expect(run.comparisons).toEqual([{ path: PATH, records: 1, equal: 1 }]);
  });
});

describe("an export that is no exact JSON is kept as its bytes, told by what can be read of it", () => {
  const bad = Buffer.from(TEXT);
  bad[bad.indexOf("h\u00e9") + 1] = 0xff;
  test.each([
    ["a bad byte", bad, "invalid_utf8"],
    ["a repeated key", TEXT.replace('"role"', '"role":"user","role"'), "duplicate_keys"],
    ["a cut", TEXT.slice(0, -5), "not_json"],
    ["half a character of UTF-16", utf16(`\ufeff${TEXT}`, false).subarray(0, -1), "invalid_utf8"],
  ])("%s", async (_what, content, kind) => {
    const run = await exported(content);
    expect(run.kinds).toEqual([kind]);
    expect(run.sessions).toMatchObject([{ id: ID, project: "/w", created_at: 1_700_000_000_000_000 }]);
    expect(run.comparisons).toEqual([{ path: PATH, records: 1, equal: 1 }]);
  });

  test("a repeated key in what tells the session", async () => {
    const run = await exported(TEXT.replace('"id"', '"id":"ses_one","id"'));
    expect(run.sessions).toMatchObject([{ id: ID, project: "/w" }]);
    expect(run.comparisons).toEqual([{ path: PATH, records: 1, equal: 1 }]);
  });

  test("nothing can be read: the file's name, its folder's and its time do", async () => {
    const run = await exported('{"messages": [{"info": {"id": "msg_1"');
    expect(run.kinds).toEqual(["not_json"]);
    expect(run.sessions).toMatchObject([{ id: ID, project: "exports", created_at: WRITTEN * 1000 }]);
    expect(run.comparisons).toEqual([{ path: PATH, records: 1, equal: 1 }]);
  });

  test("while it may still be written, it waits", async () => {
    const run = await exported(TEXT.slice(0, -5), { now: WRITTEN + HOUR / 2 });
    expect([run.events, run.issues, run.waiting.length, run.cursor?.files]).toEqual([[], [], 1, {}]);
  });
});

describe("what is no export although its name says so is an issue", () => {
  test.each([
    ["without messages", JSON.stringify({ info: INFO })],
    ["of another shape", '{"version":1}'],
    ["no object", "[1]"],
    ["no JSON", "hello"],
    ["empty", ""],
  ])("%s", async (_what, content) => {
    const run = await exported(content, { path: "my-export.json" });
    expect([run.kinds, run.events]).toEqual([["unexpected_shape"], []]);
  });

  test("but not the client's own settings", async () => {
    const run = await exported('{"$schema":"x"}', { path: "opencode.json" });
    expect([run.kinds, run.events]).toEqual([[], []]);
  });
});
