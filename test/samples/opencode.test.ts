/** opencode: the proof over its samples, of databases, trees of files and exports. */
import { readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { compareAll, readFolder, restoreNative } from "../support/adapter-run.ts";
import { NO_SAMPLES, samplesOf } from "../support/samples.ts";
import { samples } from "./suite.ts";

const root = samplesOf("opencode") ?? "";
const adapter = adapterNamed("opencode")!;

samples({ client: "opencode", atLeast: { records: 17_000, sessions: 180 }, grows: false });

describe.skipIf(root === "")(`opencode containers${root === "" ? ` (${NO_SAMPLES})` : ""}`, () => {
  test("every file of the real trees comes back", async () => {
    for (const place of ["jwp23+dotfiles", "@derived-from-exports/home-legacy-tree"]) {
      const folder = join(root, place);
      const runs = await readFolder(adapter, folder);
      const restored = (await Promise.all(runs.map(({ events }) => restoreNative(adapter, events)))).flat();
      const comparisons = await compareAll(restored, folder);
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
        path.endsWith(".json"),
      );
      expect(new Set(comparisons.map(({ path }) => path))).toEqual(new Set(files));
    }
  });

  test("the change that only the write-ahead log holds is read, and nothing beside the databases changes", async () => {
    const wal = join(root, "@derived-from-exports/home-wal/.local/share/opencode");
    const list = () =>
      readdirSync(wal).map((name) => `${name} ${statSync(join(wal, name)).mtimeMs} ${relative(root, wal)}`);
    const before = list();
    const runs = await readFolder(adapter, wal);
    expect(list()).toEqual(before);
    const texts = runs.flatMap(({ events }) => events).map((event) => JSON.stringify(event));
    const archived = texts.filter((text) => /"time_archived":\d/.test(text));
    expect(archived).toHaveLength(1);
    expect(archived[0]).toContain("ses_2bef25635ffe8EzID0I1Oeymal");
    // The column of that message was moved by 120 days; the record tells when it was.
    const moved = texts.find((text) => text.includes('"id":"msg_d410da9cd001nQgN5gLHofd7Vc"')) ?? "";
    const { message } = JSON.parse(moved) as {
      message: { timestamp: number; options: { source: { columns: { time_created: number } } } };
    };
    const column = message.options.source.columns.time_created;
    expect(Math.round((column - message.timestamp / 1000) / 86_400_000)).toBe(120);
  });
});
