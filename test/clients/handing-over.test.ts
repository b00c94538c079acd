/**
 * What another model is sent is what the first one had (spec.md#adapter-restore-context): sessions of every client that were
 * compacted, that have results before their calls, and that know of background agents, gone on with in the real clients.
 */
import { describe, expect, test } from "vitest";
import type { Lineage } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { story, textPart } from "../support/story.ts";
import type { Story } from "../support/story.ts";
import { tempDir } from "../support/temp-dir.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import { claudeCode, codexCli, goOn, isMissing, opencode, pi } from "./real-clients.ts";

const injected = (text: string, kind: string) => ({
  ...textPart(text, "injected"),
  options: { pond: { injected: kind } },
});

/** Of pi: two turns that only the summary stands for, two that were kept behind it, and one after. */
function compacted(): Story {
  return story("compacted", { agent: "pi", project: "/srv/demo.app" })
    .user("Dropped question", { pond: { parent: null } })
    .assistant("Dropped answer", { pond: { parent: "compacted-0" } })
    .user("Kept question", { pond: { parent: "compacted-1" } })
    .call("bash", { command: "ls" }, { call: "call_kept", pond: { parent: "compacted-2" } })
    .result("bash", "kept files", { call: "call_kept", pond: { parent: "compacted-3" } })
    .assistant("Kept answer", { pond: { parent: "compacted-4" } })
    .message("user", [injected("The summary of it all.", "compaction-summary")], {
      options: { source: { record: { firstKeptEntryId: "compacted-2" } } },
      pond: { parent: "compacted-5", compaction: "summary" },
    })
    .user("Later question", { pond: { parent: "compacted-6" } })
    .assistant("Later answer", { pond: { parent: "compacted-7" } });
}

/** Of Claude Code: a result on the line before its call, a report of a background agent, what a command expanded to. */
function outOfOrder(): Story {
  return story("order", { agent: "claude-code", project: "/srv/demo.app" })
    .user("First question", { pond: { parent: null } })
    .result("Bash", "early result", { call: "call_early", pond: { parent: "order-2" } })
    .call("Bash", { command: "pwd" }, { call: "call_early", pond: { parent: "order-0" } })
    .assistant("Between them", { pond: { parent: "order-1" } })
    .message(
      "user",
      [injected("<task-notification>the agent reports roses</task-notification>", "task-notification")],
      {
        pond: { parent: "order-3" },
      },
    )
    .message("user", [injected("Expanded prompt of a command", "meta")], { pond: { parent: "order-4" } })
    .assistant("Final words", { pond: { parent: "order-5" } });
}

const lineageOf = (told: Story): Lineage => ({ state: replay(told.events())[0]!, children: [] });

describe.each([claudeCode, codexCli, opencode, pi])("into the real $adapter", (client) => {
  test.skipIf(isMissing(client) || client === pi)(
    "a compacted session of pi begins with its summary and what was kept",
    async () => {
      await using box = await tempDir();
      const run = await goOn(client, lineageOf(compacted()), { folder: box.path, fidelity: "foreign" });
      const turns = turnsOf(run);
      const found = turns.findIndex((turn) => turn.includes("The summary of it all."));
      expect(found).toBeGreaterThan(-1);
      expectInOrder(turns.slice(found + 1), [
        "user: Kept question",
        "call: bash",
        "result: kept files",
        "assistant: Kept answer",
        "user: Later question",
        "assistant: Later answer",
      ]);
      expect(turns.filter((turn) => turn.includes("Dropped answer"))).toEqual([]);
    },
  );

  test.skipIf(isMissing(client) || client === claudeCode)(
    "results follow their calls, and what agents and commands said goes along",
    async () => {
      await using box = await tempDir();
      const run = await goOn(client, lineageOf(outOfOrder()), { folder: box.path, fidelity: "foreign" });
      expectInOrder(turnsOf(run), [
        "user: First question",
        "call: Bash",
        "result: early result",
        "assistant: Between them",
        "user: <task-notification>the agent reports roses",
        "user: Expanded prompt of a command",
        "assistant: Final words",
      ]);
      expect(run.restored.losses.filter(({ affects }) => affects === "model")).toEqual([]);
    },
  );
});

test.skipIf(isMissing(codexCli))(
  "Codex cuts long results, and only those that a restore reports",
  async () => {
    const long = (bytes: number): string => "one two\n".repeat(bytes / 8);
    const told = story("long", { agent: "claude-code", project: "/srv/demo.app" })
      .user("Print a lot")
      .call("Bash", { command: "short" }, { call: "call_short" })
      .result("Bash", long(47_200), { call: "call_short" })
      .call("Bash", { command: "long" }, { call: "call_long" })
      .result("Bash", long(48_800), { call: "call_long" })
      .assistant("Done");
    await using box = await tempDir();
    const run = await goOn(codexCli, lineageOf(told), { folder: box.path, fidelity: "foreign" });
    const results = turnsOf(run).filter((turn) => turn.startsWith("result: "));
    expect(results.map((turn) => turn.includes("truncated"))).toEqual([false, true]);
    expect(run.restored.losses.filter(({ affects }) => affects === "model")).toMatchObject([
      { what: "middle of a long tool result", count: 1 },
    ]);
  },
);
