import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listUnits, NOWHERE } from "../../../test/support/adapter-run.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import type { AdapterEnv } from "../kit/sources/index.ts";
import { placesThatExist } from "../kit/sources/index.ts";
import { defaultPlaces } from "./places.ts";
import { claudeCode } from "./index.ts";

const A = "11111111-1111-4111-8111-111111111111";
const B = "22222222-2222-4222-8222-222222222222";

const places = (machine: AdapterEnv) => placesThatExist(defaultPlaces(machine));

async function place(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), "{}\n");
  }
}

async function unitsIn(paths: readonly string[]): Promise<Record<string, string[]>> {
  await using folder = await tempDir();
  await place(folder.path, paths);
  const { units } = await listUnits(claudeCode, folder.path);
  return Object.fromEntries(
    units.map(({ key, files }) => [key, files.map(({ path }) => path.slice(folder.path.length + 1))]),
  );
}

describe("places", () => {
  test("are the two default folders that exist", async () => {
    await using home = await tempDir();
    expect(await places({ ...NOWHERE, home: home.path })).toEqual([]);
    await place(home.path, [".claude/projects/x/y.jsonl", ".config/claude/projects/x/z.jsonl"]);
    expect(await places({ ...NOWHERE, home: home.path })).toEqual([
      { path: join(home.path, ".claude/projects"), origin: "default" },
      { path: join(home.path, ".config/claude/projects"), origin: "default" },
    ]);
  });

  test("are only the configured one where CLAUDE_CONFIG_DIR is set", async () => {
    await using home = await tempDir();
    await place(home.path, [".claude/projects/x/y.jsonl", "work/projects/x/z.jsonl"]);
    const env = { CLAUDE_CONFIG_DIR: join(home.path, "work") };
    expect(await places({ ...NOWHERE, home: home.path, env })).toEqual([
      { path: join(home.path, "work/projects"), origin: "environment", variable: "CLAUDE_CONFIG_DIR" },
    ]);
  });
});

describe("units", () => {
  test("are logs with the files beside them; subagents are units with their meta file", async () => {
    expect(
      await unitsIn([
        `s/${A}.jsonl`,
        `s/${A}/tool-results/x.txt`,
        `s/${A}/session-memory/notes.md`,
        `s/${A}/extra.jsonl`,
        `s/${A}/subagents/agent-1.jsonl`,
        `s/${A}/subagents/agent-1.meta.json`,
        `s/${A}/subagents/workflows/w/agent-2.jsonl`,
        `s/${A}/subagents/workflows/w/journal.jsonl`,
        "s/agent-3.jsonl",
        "s/sessions-index.json",
        "s/memory/MEMORY.md",
      ]),
    ).toEqual({
      [`s/${A}.jsonl`]: [
        `s/${A}.jsonl`,
        `s/${A}/extra.jsonl`,
        `s/${A}/session-memory/notes.md`,
        `s/${A}/subagents/workflows/w/journal.jsonl`,
        `s/${A}/tool-results/x.txt`,
      ],
      [`s/${A}/subagents/agent-1.jsonl`]: [
        `s/${A}/subagents/agent-1.jsonl`,
        `s/${A}/subagents/agent-1.meta.json`,
      ],
      [`s/${A}/subagents/workflows/w/agent-2.jsonl`]: [`s/${A}/subagents/workflows/w/agent-2.jsonl`],
      "s/agent-3.jsonl": ["s/agent-3.jsonl"],
    });
  });

  test("keep the side files of a session whose log is gone under the log's key", async () => {
    expect(await unitsIn([`s/${A}/tool-results/x.txt`, `s/${A}/subagents/agent-1.meta.json`])).toEqual({
      [`s/${A}.jsonl`]: [`s/${A}/subagents/agent-1.meta.json`, `s/${A}/tool-results/x.txt`],
    });
  });

  test("keep every other file in the folder of a session whose log is gone too", async () => {
    expect(
      await unitsIn([
        `s/${A}/session-memory/notes.md`,
        `s/${A}/plan.txt`,
        `s/${A}/extra.jsonl`,
        "s/memory/MEMORY.md",
      ]),
    ).toEqual({
      [`s/${A}.jsonl`]: [`s/${A}/plan.txt`, `s/${A}/session-memory/notes.md`],
      [`s/${A}/extra.jsonl`]: [`s/${A}/extra.jsonl`],
    });
  });

  test("take a folder with folders of logs for no session's, whatever it is called", async () => {
    expect(
      await unitsIn([
        `backups/${A}/settings.json`,
        `backups/${A}/projects/s/${B}.jsonl`,
        `backups/${A}/projects/s/${B}/x.txt`,
      ]),
    ).toEqual({
      [`backups/${A}/projects/s/${B}.jsonl`]: [
        `backups/${A}/projects/s/${B}.jsonl`,
        `backups/${A}/projects/s/${B}/x.txt`,
      ],
    });
  });

  test("are every log of any folder that is pointed at", async () => {
    expect(Object.keys(await unitsIn(["deep/down/projects/s/a.jsonl", "b.jsonl", `${B}/c.jsonl`]))).toEqual([
      `${B}/c.jsonl`,
      "b.jsonl",
      "deep/down/projects/s/a.jsonl",
    ]);
  });
});
