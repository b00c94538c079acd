/**
 * A search answers the same with the map of texts that a long-lived process keeps as without it (spec.md#search-row-map), over
 * forks, copies, subagents, two ends, rewritten records, rows of an older pond, and after every kind of change of the table.
 */
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { SearchResponse } from "../../src/wire/index.ts";
import type { SearchRequest } from "../../src/wire/index.ts";
import { search, sync } from "../../src/handlers/index.ts";
import { keptOf } from "../../src/search/kept/kept.ts";
import { writeLog } from "../support/aged-files.ts";
import { story, textPart } from "../support/story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

const WORDS =
  "export pool driver timeout retryBudget parse_http quince marmot stoat caf\u00e9 cache the of".split(" ");

/** Some of the words, the same for the same number. */
const textOf = (seed: number): string =>
  Array.from({ length: 3 + (seed % 9) }, (_, at) => WORDS[(seed * 7 + at * at * 3 + 1) % WORDS.length]).join(
    " ",
  );

const REQUESTS: readonly SearchRequest[] = [
  ...["quince", "marmot", "stoat", "export", "budget"].map((query) => ({ query })),
  { query: "export pool driver" },
  { query: "retries of parseHttp caching" },
  { query: "quince marmot", include_superseded: true },
  { query: "quince", filters: { role: "user" } },
  { query: "marmot timeout", filters: { project: "web", include_subagents: true } },
  { query: "driver", filters: { from_date: "2026-01-02T03:10:00Z" } },
  { query: "pool cache", filters: { session_id: "long" }, limit: 20 },
  { query: "export timeout", limit: 2 },
  { query: "stoat driver pool", filters: { min_score: 0.5 } },
];

/** Every request with all of its pages. */
async function answers({ context }: TempContext): Promise<readonly SearchResponse[]> {
  const all: SearchResponse[] = [];
  for (const request of REQUESTS) {
    let page = await search(context, request);
    all.push(page);
    while (page.next_cursor !== undefined) {
      page = await search(context, { ...request, cursor: page.next_cursor });
      all.push(page);
    }
  }
  return all;
}

async function expectSame(temp: TempContext): Promise<void> {
  const store = await temp.context.store();
  const kept = keptOf(store);
  await kept.useMap(false);
  const without = await answers(temp);
  expect(without.flatMap(({ sessions }) => sessions).length).toBeGreaterThan(REQUESTS.length);
  await kept.useMap(true);
  // Finds out that the map cannot follow, where rows are gone: it is then read anew.
  await search(temp.context, { query: "pool" });
  await kept.useMap(true);
  const asked = vi.spyOn(store.tables.messages, "search");
  expect(await answers(temp)).toEqual(without);
  // The map answered: the engine was asked for rows alone.
  expect(new Set(asked.mock.calls.map(([{ select }]) => select.length))).toEqual(new Set([0]));
  asked.mockRestore();
}

const file = (file_name: string) => ({
  type: "file" as const,
  provenance: "conversational" as const,
  media_type: "image/png",
  file_name,
  data: { kind: "bytes", value: new Uint8Array(4) },
});

const instant = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString();

/** A log of Claude Code in a project of its own, as it is after these prompts. */
function log(home: string, project: string, words: readonly string[]): void {
  const id = "11111111-1111-4111-8111-111111111111";
  const records = words.map((content, at) => ({
    type: "user",
    uuid: `u-${content}`,
    parentUuid: at === 0 ? null : `u-${words[at - 1]}`,
    sessionId: id,
    cwd: "/srv/app",
    timestamp: instant(at),
    message: { role: "user", content },
  }));
  writeLog(join(home, `.claude/projects/${project}/${id}.jsonl`), records);
}

async function fill(temp: TempContext): Promise<void> {
  for (let session = 0; session < 12; session++) {
    const facts = {
      project: session % 3 === 0 ? "/srv/web" : "/srv/api",
      at: `2026-01-0${1 + (session % 5)}T03:04:05Z`,
    };
    const told = story(`s${session}`, facts);
    for (let at = 0; at < 14; at++)
      if (at % 3 === 1) told.call("Bash", { command: "ls" }).result("Bash", "done");
      else if (at % 2 === 0) told.user(textOf(session * 31 + at));
      else told.assistant(textOf(session * 17 + at));
    await temp.ingest(told.events());
  }
  const long = story("long");
  for (let at = 0; at < 60; at++) long.assistant(textOf(at));
  await temp.ingest(long.events());
  await temp.ingest(
    story("child", {
      parent: "s0",
      relation: "spawn",
      agent: "claude-code/general-purpose",
      project: "/srv/web",
    })
      .user("a marmot with a timeout")
      .assistant("no driver")
      .events(),
  );
  const origin = { session_id: "s1", message_id: "s1-0" };
  const copies = story("fork", { parent: "s1", relation: "fork" });
  copies.user(textOf(31), { id: "x", pond: { replays: origin } }).assistant("the cache then");
  await temp.ingest(copies.user(textOf(62), { id: "s2-0", pond: { replays: true } }).events());
  await temp.ingest(
    story("fork-of-fork", { parent: "fork", relation: "fork" })
      .user(textOf(31), { id: "y", pond: { replays: { session_id: "fork", message_id: "x" } } })
      .message("user", [textPart("quince"), textPart("marmot", "injected")])
      .message("user", [file("stoat.png")])
      .message("user", [textPart("a stoat"), file("quince.png")])
      .message("system", [], { content: "the driver of the pool" })
      .events(),
  );
  await temp.ingest(
    story("rewritten")
      .user("an export of quince", { id: "a" })
      .assistant("the driver", { id: "b" })
      .user("pool driver quince", { id: "c", pond: { at: 1 } })
      .assistant("marmot and stoat", { id: "d" })
      .user("roses", { id: "c@2", pond: { revises: "c", at: 2 } })
      .events(),
  );
  const older = { source_agent: "claude-code", project: "/srv/api", ingested_at: 1, role: "user" };
  await (
    await temp.context.store()
  ).tables.messages.insertRows([
    {
      session_id: "s3",
      id: "old",
      timestamp: 1,
      search_text: "the marmot",
      text_bytes: 10,
      options: "{}",
      ...older,
    },
  ]);
  const words = ["quince of the pool", "marmot", "driver"];
  log(temp.home, "a", [...words, "left timeout export"]);
  log(temp.home, "b", [...words, "right timeout export", "stoat"]);
  await sync(temp.context, { adapters: ["claude-code"], stages: ["import"] });
}

test("every answer is the same with the map and without it, whatever becomes of the table", async () => {
  await using temp = await tempContext();
  await fill(temp);
  await expectSame(temp);
  const store = await temp.context.store();
  expect((await store.summaries()).values().some(({ ends = 1 }) => ends > 1)).toBe(true);

  // More of a session, before and after what is there, and a new one: the map follows.
  const scanned = vi.spyOn(store.tables.messages, "scanBatches");
  const first = { id: "first", at: "2026-01-01T00:00:00Z", positioned: false };
  await temp.ingest(story("long").user("an export before all others", first).events());
  await temp.ingest(
    story("new")
      .message("user", [file("marmot.png")])
      .user("a zebra with a driver")
      .assistant("the quince cache")
      .events(),
  );
  await expectSame(temp);
  const found = await search(temp.context, { query: "zebra" });
  expect(found.sessions.map(({ session_id }) => session_id)).toEqual(["new"]);
  const wholeScans = scanned.mock.calls.filter(
    ([{ select, where }]) => select.includes("text_bytes") && where?.kind === "not",
  );
  expect(wholeScans).toEqual([]);
  scanned.mockRestore();

  await store.maintain({ force: true, retentionMs: 0 });
  await expectSame(temp);

  // A repair takes rows out, and their source is read again.
  const told = story("gone").user("a gnu with a driver", { id: "m" }).assistant("the gnu cache").events();
  await temp.ingest(told);
  await expectSame(temp);
  await store.tables.messages.takeOutKeys({ firsts: ["gone"], seconds: ["m"] });
  await expectSame(temp);
  await temp.ingest(told);
  await expectSame(temp);
});
