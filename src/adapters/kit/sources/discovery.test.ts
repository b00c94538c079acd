import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listUnits } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { adapterNamed } from "../../index.ts";
import { walk } from "./discovery.ts";

const named = (folder: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);

// Other systems do not let such names come into being.
describe.runIf(process.platform === "linux")("names that are not UTF-8", () => {
  test("of files and folders that are looked for are faults with their place", async () => {
    await using folder = await tempDir();
    writeFileSync(named(folder.path, "a\xff.jsonl"), "{}\n");
    writeFileSync(named(folder.path, "a\xff.txt"), "");
    mkdirSync(named(folder.path, "b\xff"));
    mkdirSync(named(folder.path, "not\xff"));
    const { files, faults } = await walk(folder.path, {
      accepts: (name) => name.endsWith(".jsonl"),
      enters: (name) => !name.startsWith("not"),
    });
    expect(files).toEqual([]);
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      join(folder.path, "a\uFFFD.jsonl"),
      join(folder.path, "b\uFFFD"),
    ]);
    expect(faults[0]?.message).toMatch(/not UTF-8/);
  });

  test("are not those with a replacement character of their own", async () => {
    await using folder = await tempDir();
    writeFileSync(join(folder.path, "a\uFFFD.jsonl"), "{}\n");
    const { files, faults } = await walk(folder.path, { accepts: () => true });
    expect([files.map(({ path }) => path), faults]).toEqual([[join(folder.path, "a\uFFFD.jsonl")], []]);
  });

  test.each([
    ["claude-code", "s\xff"],
    ["codex-cli", "rollout-\xff.jsonl"],
    ["opencode", "ses_\xff.json"],
    ["pi", "--w--\xff"],
  ])("are issues of %s", async (client, name) => {
    await using folder = await tempDir();
    if (name.includes(".")) writeFileSync(named(folder.path, name), "{}\n");
    else mkdirSync(named(folder.path, name));
    const { issues } = await listUnits(adapterNamed(client)!, folder.path);
    expect(issues).toMatchObject([{ kind: "unreadable", adapter: client }]);
  });
});
