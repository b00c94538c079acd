import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lineagesOf, NOWHERE, readFolder } from "../../../test/support/adapter-run.ts";
import { foreignTargets, restoreInto, smallLineage } from "../../../test/support/restore-lineage.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import type { Adapter, Lineage } from "../../adapters/index.ts";
import { replay } from "../../model/events/index.ts";
import { checkRestored } from "./check.ts";
import { writeFiles } from "./files/files.ts";

const targets = foreignTargets();
const FIXTURES = join(import.meta.dirname, "../../../test/fixtures/adapters");

/** Restores with a change of the staged files, as a serializer that is wrong would write them. */
async function restoreChanged(
  adapter: Adapter,
  lineage: Lineage,
  change: (text: string) => string,
): Promise<void> {
  await using out = await tempDir();
  if (adapter.restore.kind !== "supported") throw new Error("nothing to restore");
  const fidelity = lineage.state.session.source_agent === adapter.name ? "native" : "foreign";
  const options = { fidelity, layout: "client", mapPath: (path: string) => path, now: 0 } as const;
  const restored = await adapter.restore.serialize(lineage, options);
  let changes = 0;
  const writing = writeFiles({
    out: out.path,
    files: restored.files,
    last: undefined,
    signal: new AbortController().signal,
    check: async (staged) => {
      for (const entry of readdirSync(staged, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const before = readFileSync(path, "utf8");
        const after = change(before);
        if (after !== before) changes += 1;
        writeFileSync(path, after);
      }
      await checkRestored(staged, { adapter, machine: NOWHERE, lineage, restored, now: Date.now() });
    },
  });
  try {
    await writing;
  } finally {
    expect(changes).toBeGreaterThan(0);
    expect(readdirSync(out.path)).toEqual([]);
  }
}

describe.each(targets)("a foreign restore into $name", (adapter) => {
  test("comes back as what was handed over", async () => {
    await using out = await tempDir();
    const files = await restoreInto(adapter, smallLineage(), { out: out.path });
    expect(files.length).toBeGreaterThan(2);
  });

  test.each([
    ["a text that became another one", (text: string) => text.replaceAll("Two files.", "Three files.")],
    ["a space that is gone", (text: string) => text.replaceAll("What is in  this", "What is in this")],
    ["a call with another input", (text: string) => text.replaceAll(/(depth\\*":\s*)2/g, "$13")],
    ["a call of another tool", (text: string) => text.replaceAll(/"list"/g, '"lost"')],
    ["a call with another id", (text: string) => text.replaceAll('"c1"', '"c9"')],
    ["another result", (text: string) => text.replaceAll("no such file", "some such file")],
    ["a text of a subagent that is gone", (text: string) => text.replaceAll("Nothing there either.", "")],
    ["a text that nobody said", (text: string) => text.replaceAll("Go on.", "Go on. And on.")],
  ])("%s is refused, and nothing is written", async (_, change) => {
    await expect(restoreChanged(adapter, smallLineage(), change)).rejects.toMatchObject({
      code: "internal",
      reason: "corrupt",
    });
  });

  test("what its reader complains of is refused", async () => {
    const change = (text: string): string => (text.includes("Two files.") ? `${text}{"broken\n` : text);
    await expect(restoreChanged(adapter, smallLineage(), change)).rejects.toMatchObject({
      reason: "corrupt",
    });
  });
});

test.each([
  ["claude-code", /"is_error":true/g, '"is_error":false'],
  ["pi", /"isError":true/g, '"isError":false'],
])("a failure that is none any more in %s is refused", async (name, found, instead) => {
  const adapter = targets.find((target) => target.name === name)!;
  const changed = restoreChanged(adapter, smallLineage(), (text) => text.replaceAll(found, instead));
  await expect(changed).rejects.toThrow(/no longer a failure/);
});

test("whose words they are is compared too", async () => {
  const adapter = targets.find(({ name }) => name === "pi")!;
  const change = (text: string): string =>
    text.replaceAll(/"role":"user"(,"content":\[\{"type":"text","text":"Go on)/g, '"role":"assistant"$1');
  await expect(restoreChanged(adapter, smallLineage(), change)).rejects.toThrow(/read back equal/);
});

describe.each([
  ["claude-code", "projects"],
  ["codex-cli", "home"],
  ["opencode", "data"],
  ["pi", "sessions"],
] as const)("the sessions of %s", (name, place) => {
  const adapter = targets.find((target) => target.name === name)!;
  const read = async (): Promise<readonly Lineage[]> => {
    const runs = await readFolder(adapter, join(FIXTURES, name, place));
    return lineagesOf(replay(runs.flatMap(({ events }) => events)));
  };

  test("come back equal in every client that takes them", { timeout: 60_000 }, async () => {
    let restored = 0;
    for (const lineage of await read())
      for (const target of targets) {
        await using out = await tempDir();
        try {
          restored += (await restoreInto(target, lineage, { out: out.path })).length;
        } catch (error) {
          // A session without a turn cannot be opened anywhere else.
          expect(error).toMatchObject({ reason: "unsupported" });
        }
      }
    expect(restored).toBeGreaterThan(10);
  });

  test("are not restored natively with another text than the stored one", async () => {
    const lineage = (await read()).find(({ state }) => texts(state.messages).length > 2)!;
    const [text = ""] = texts(lineage.state.messages);
    const written = JSON.stringify(text).slice(1, -1);
    const changed = restoreChanged(adapter, lineage, (all) => all.replaceAll(written, `${written}!`));
    await expect(changed).rejects.toThrow(/does not read back equal/);
  });
});

function texts(messages: Lineage["state"]["messages"]): readonly string[] {
  return messages.flatMap(({ message, parts }) =>
    message.seq === undefined ? [] : parts.flatMap((part) => (part.type === "text" ? (part.text ?? []) : [])),
  );
}
