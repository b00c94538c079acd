/**
 * One line of turns, whichever client a session is restored into (spec.md#adapter-restore): a rewritten record counts
 * once, and a fork of a fork begins with what stood before each cut.
 */
import { describe, expect, test } from "vitest";
import type { Adapter, Lineage } from "../../src/adapters/index.ts";
import type { Loss } from "../../src/adapters/restore.ts";
import { printFile } from "../../src/adapters/restore.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf } from "../support/adapter-run.ts";
import { foreignTargets } from "../support/restore-lineage.ts";
import type { Story } from "../support/story.ts";
import { story } from "../support/story.ts";

const agent = "elsewhere";

describe.each(foreignTargets())("into $name", (adapter) => {
  test("a record that was rewritten is written once, as it is now", async () => {
    const parent = story("p", { agent })
      .user("the kept question", { id: "a" })
      .assistant("the old answer", { id: "b", pond: { value: "1", at: 1 } })
      .user("a gone question", { id: "c", pond: { value: "1", at: 1 } })
      .assistant("the kept answer", { id: "d" })
      .assistant("the new answer", { id: "b@2", pond: { revises: "b", value: "2", at: 2 } })
      .carrier({ id: "c@gone", pond: { revises: "c", removed: true, at: 2 } });
    const fork = story("f", { agent, parent: "p", relation: "fork", cut: "b" }).user("the forked question");
    const texts = await restoredTexts(adapter, [parent, fork]);
    expect(texts.map(linesOf)).toEqual([
      ["the kept question", "the new answer", "the kept answer"],
      ["the kept question", "the new answer", "the forked question"],
    ]);
    const [text = ""] = texts;
    expect(timesIn(text, "the new answer")).toBe(timesIn(text, "the kept answer"));
  });

  test("a fork of a fork begins with what stood before each cut", async () => {
    const fork = { agent, relation: "fork" } as const;
    const parent = story("p", { agent }).user("the first question").assistant("the first answer");
    const child = story("c", { ...fork, parent: "p", cut: "p-1" });
    const grandchild = story("g", { ...fork, parent: "c", cut: "c-1" });
    const texts = await restoredTexts(adapter, [
      parent.user("a question on another way"),
      child.user("the second question").assistant("the second answer").user("a question that was left"),
      grandchild.user("the third question"),
    ]);
    expect(linesOf(texts[2] ?? "")).toEqual([
      "the first question",
      "the first answer",
      "the second question",
      "the second answer",
      "the third question",
    ]);
  });
});

/** Where each client keeps the name that its own list shows; Codex has it in a file of its own, so it is a loss there. */
const TITLED: Readonly<Record<string, RegExp>> = {
  "claude-code": /^{"type":"custom-title","customTitle":"A name of its own"/m,
  opencode: /"title":"A name of its own"/,
  pi: /"type":"session_info".*"name":"A name of its own"/,
};

describe.each(foreignTargets())("into $name", (adapter) => {
  test("the title goes along, also one that was given on a branch that was left", async () => {
    const named = story("p", { agent })
      .user("the first question", { id: "a", pond: { parent: null } })
      .carrier({
        id: "b",
        options: { source: { record: { name: "A name of its own" } } },
        pond: { parent: "a", title: { at: "/source/record/name", rank: 1 } },
      })
      .assistant("the answer", { id: "c", pond: { parent: "a" } });
    const { losses, texts } = await restoredFrom(adapter, [named]);
    const pattern = TITLED[adapter.name];
    if (pattern !== undefined) expect(texts[0]).toMatch(pattern);
    const lost = losses.filter(({ what }) => what === "title");
    expect(lost.map(({ affects, count }) => [affects, count])).toEqual(
      pattern === undefined ? [["record", 1]] : [],
    );
  });
});

/** Each session's file, the parent first. */
async function restoredTexts(adapter: Adapter, stories: readonly Story[]): Promise<readonly string[]> {
  return (await restoredFrom(adapter, stories)).texts;
}

async function restoredFrom(
  { restore }: Adapter,
  stories: readonly Story[],
): Promise<{ readonly texts: readonly string[]; readonly losses: readonly Loss[] }> {
  const [lineage]: readonly Lineage[] = lineagesOf(replay(stories.flatMap((one) => one.events())));
  if (lineage === undefined || restore.kind !== "supported") throw new Error("nothing to restore");
  const options = {
    fidelity: "foreign",
    layout: "client",
    mapPath: (path: string) => path,
    now: Date.UTC(2027, 0, 1),
  } as const;
  const { files, losses } = await restore.serialize(lineage, options);
  expect(files).toHaveLength(stories.length);
  return { texts: files.map((file) => Buffer.from(printFile(file)).toString()), losses };
}

/** What was said, in order; some clients write it twice. */
function linesOf(text: string): string[] {
  return [...new Set(text.match(/\b(?:the|a) [a-z ]*(?:question|answer)[a-z ]*/g))];
}

function timesIn(text: string, what: string): number {
  return text.split(what).length - 1;
}
