import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listUnits } from "../../../test/support/adapter-run.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import type { AdapterEnv } from "../kit/sources/index.ts";
import { placesThatExist } from "../kit/sources/index.ts";
import { codexCli } from "./index.ts";

const ID = "01a1e1d6-0000-7000-8000-000000000001";

function touch(root: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "");
  }
}

const places = (machine: AdapterEnv) => placesThatExist(codexCli.defaultPlaces(machine));

const keysIn = async (root: string) => (await listUnits(codexCli, root)).units.map(({ key }) => key);

test("CODEX_HOME replaces the default folder, and a place that is not there is none", async () => {
  await using folder = await tempDir();
  const machine = { env: {}, home: folder.path, platform: process.platform, scratch: folder.path };
  expect(await places(machine)).toEqual([]);
  mkdirSync(join(folder.path, ".codex"));
  mkdirSync(join(folder.path, "elsewhere"));
  expect(await places(machine)).toEqual([{ path: join(folder.path, ".codex"), origin: "default" }]);
  const elsewhere = join(folder.path, "elsewhere");
  const configured = { ...machine, env: { CODEX_HOME: elsewhere } };
  expect(await places(configured)).toEqual([
    { path: elsewhere, origin: "environment", variable: "CODEX_HOME" },
  ]);
  expect(await places({ ...machine, env: { CODEX_HOME: "" } })).toHaveLength(1);
  expect(await places({ ...machine, env: { CODEX_HOME: join(elsewhere, "none") } })).toEqual([]);
});

test("a home is its sessions, archived ones and the names of threads, and nothing else in it", async () => {
  await using folder = await tempDir();
  const rollout = `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${ID}.jsonl`;
  const archived = `archived_sessions/rollout-2026-11-15T00-00-00-${ID.replace(/1$/, "2")}.jsonl.zst`;
  touch(folder.path, rollout, archived, "session_index.jsonl", "history.jsonl", "log/x.jsonl", "auth.json");
  touch(
    folder.path,
    "sessions/2026/11/16/readme.md",
    "sessions/rollout-2025-04-17-x.json",
    "sessions/other.json",
  );
  expect(await keysIn(folder.path)).toEqual([
    "session_index.jsonl",
    rollout,
    "sessions/rollout-2025-04-17-x.json",
    archived.replace(".zst", ""),
  ]);
});

test("any other folder is searched as a whole", async () => {
  await using folder = await tempDir();
  touch(folder.path, "a/b/one.jsonl", "two.jsonl", "c/history.jsonl");
  expect(await keysIn(folder.path)).toEqual(["a/b/one.jsonl", "two.jsonl"]);
});

test("of both forms of a rollout the plain one is read", async () => {
  await using folder = await tempDir();
  touch(folder.path, "sessions/a.jsonl.zst", "sessions/a.jsonl", "sessions/b.jsonl.zst");
  const { units } = await listUnits(codexCli, folder.path);
  expect(
    units.map(({ key, files }) => [key, files.map(({ path }) => path.slice(folder.path.length + 1))]),
  ).toEqual([
    ["sessions/a.jsonl", ["sessions/a.jsonl"]],
    ["sessions/b.jsonl", ["sessions/b.jsonl.zst"]],
  ]);
});
