/**
 * One line of turns, whichever client a session is restored into (spec.md#adapter-restore): a rewritten record counts
 * once, and a fork of a fork begins with what stood before each cut.
 */
import { describe, expect, test } from "vitest";
import type { Adapter, Lineage } from "../../src/adapters/index.ts";
import { adapters, printFile } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/index.ts";
import { lineagesOf } from "../support/adapter-run.ts";
import type { Story } from "../support/story.ts";
import { story } from "../support/story.ts";

const agent = "elsewhere";

describe.each(adapters().filter(({ restore }) => restore.kind === "supported"))("into $name", (adapter) => {
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

/** Each session's file, the parent first. */
async function restoredTexts({ restore }: Adapter, stories: readonly Story[]): Promise<string[]> {
  const [lineage]: readonly Lineage[] = lineagesOf(replay(stories.flatMap((one) => one.events())));
  if (lineage === undefined || restore.kind !== "supported") throw new Error("nothing to restore");
  const options = {
    fidelity: "foreign",
    layout: "client",
    mapPath: (path: string) => path,
    now: Date.UTC(2027, 0, 1),
  } as const;
  const { files } = await restore.serialize(lineage, options);
  expect(files).toHaveLength(stories.length);
  return files.map((file) => Buffer.from(printFile(file)).toString());
}

/** What was said, in order; some clients write it twice. */
function linesOf(text: string): string[] {
  return [...new Set(text.match(/\b(?:the|a) [a-z ]*(?:question|answer)[a-z ]*/g))];
}

function timesIn(text: string, what: string): number {
  return text.split(what).length - 1;
}
