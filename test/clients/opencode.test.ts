/**
 * The real opencode takes what pond restored: an import followed by its own export is equal, and a session that it goes
 * on with carries the whole history to the model.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import type { JsonObject } from "../../src/base/json/json.ts";
import { firstDifference, isJsonObject, parseJson } from "../../src/base/json/json.ts";
import { replay } from "../../src/model/events/index.ts";
import { readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured, COMPACTED_LISTING, NOTES } from "./captured.ts";
import { foreignSession, foreignTurns } from "./foreign-session.ts";
import { expectInOrder, turnsOf } from "./history.ts";
import type { Going } from "./real-clients.ts";
import { claudeCode, codexCli, goOn, importing, isMissing, opencode, PROMPT } from "./real-clients.ts";

/** The client quotes a prompt of several words. */
const GO_ON = `user: "${PROMPT}"`;

const GARDEN = { place: "opencode/data", id: "ses_e1dfc6e09ffe3lAwy288LtSjGi" };

describe.skipIf(isMissing(opencode))("the real opencode", () => {
  test.each([
    ["a database", "opencode/data"],
    ["a tree", "opencode/legacy"],
    ["an export", "opencode/exports"],
  ])("imports and exports again, value for value, what came from %s", async (_, place) => {
    await using box = await tempDir();
    const lineage = await captured({ ...GARDEN, place });
    const ids = [GARDEN.id, "ses_e1dfc5ccbffevJfiFnCNYDZmwr"];
    const exports = ids.map((name) => `opencode export ${name} > ${name}.json`);
    const going: Going = {
      folder: box.path,
      fidelity: "native",
      command: (path, made) => importing(path, made, exports),
    };
    const { restored } = await goOn(opencode, lineage, going);
    expect(restored.files.map(({ path }) => path.replace(/^.*\/|\.json$/g, ""))).toEqual(ids);
    for (const [index, file] of restored.files.entries()) {
      const exported = parseJson(readFileSync(join(restored.resume.directory, `${ids[index]}.json`), "utf8"));
      const expected = file.kind === "json" ? file.value : null;
      expect(firstDifference(withoutPlace(expected), withoutPlace(exported))).toBeUndefined();
    }
  });

  test("resumes a session that was restored natively, from its compaction on", async () => {
    await using box = await tempDir();
    const run = await goOn(opencode, await captured(GARDEN), { folder: box.path, fidelity: "native" });
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: What did we do so far?",
      "assistant: ## Goal\nA garden of roses and herbs.",
      "user: And tomorrow?",
      "assistant: Tomorrow the roses.",
      GO_ON,
    ]);
    expect(turns.join("\n")).not.toContain("Write the plan down");
  });

  test("resumes a session with calls and pictures that was restored natively", async () => {
    await using box = await tempDir();
    const { state } = await captured(GARDEN);
    const end = state.messages.findIndex(({ parts }) =>
      parts.some((part) => part.type === "text" && part.text === "Ask a helper about the weather."),
    );
    const carriers = state.messages.filter(({ message }) => message.seq === undefined);
    const messages = [...state.messages.slice(0, end), ...carriers];
    const lineage: Lineage = { state: { ...state, messages }, children: [] };
    const run = await goOn(opencode, lineage, { folder: box.path, fidelity: "native" });
    expectInOrder(turnsOf(run), [
      "user: What grows in my garden?",
      "user: image image/png",
      "user: Called the Read tool",
      "assistant: I will look at the beds.",
      "call: bash cat beds.txt",
      "call: read",
      "call: bash exit 3",
      "result: roses\nherbs",
      "failure: File not found",
      "result: (no output)",
      "assistant: Two beds: roses and herbs.",
      GO_ON,
    ]);
  });

  test("resumes a session of another client", async () => {
    await using box = await tempDir();
    const lineage: Lineage = { state: foreignSession("/srv/elsewhere"), children: [] };
    const run = await goOn(opencode, lineage, { folder: box.path, fidelity: "foreign" });
    expect(JSON.stringify(run.requests)).not.toContain("secret thoughts");
    expectInOrder(turnsOf(run), [...foreignTurns("[Tool execution was interrupted]"), GO_ON]);
  });

  test("resumes a session of Claude Code, and pond knows it again", async () => {
    await using box = await tempDir();
    const run = await goOn(opencode, await captured(NOTES), { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [...NOTES.turns, GO_ON]);
    const data = join(box.path, "home/.local/share/opencode");
    const [state] = replay(
      (await readFolder(adapterNamed("opencode")!, data)).flatMap(({ events }) => events),
    );
    const prompts = (state?.messages ?? []).filter(({ message }) => message.role === "user");
    const replayed = prompts.map(({ message }) => (message.options["pond"] as JsonObject)["replays"]);
    expect(replayed.at(-1)).toBeUndefined();
    expect(replayed.slice(0, -1).every((mark) => isJsonObject(mark))).toBe(true);
    expect(replayed.length).toBeGreaterThan(3);
  });

  test("resumes a compacted thread of Codex from its summary", async () => {
    await using box = await tempDir();
    const run = await goOn(opencode, await captured(COMPACTED_LISTING), {
      folder: box.path,
      fidelity: "foreign",
    });
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: What did we do so far?",
      "assistant: ",
      "user: Go on after the compaction.",
      "assistant: Going on.",
      GO_ON,
    ]);
    expect(turns[1]).toContain("the folder holds README.md and AGENTS.md.");
  });
});

describe("a session of opencode", () => {
  test.skipIf(isMissing(claudeCode))("goes on in the real Claude Code from its compaction", async () => {
    await using box = await tempDir();
    const run = await goOn(claudeCode, await captured(GARDEN), { folder: box.path, fidelity: "foreign" });
    expectInOrder(turnsOf(run), [
      "user: ## Goal\nA garden of roses and herbs.",
      "user: And tomorrow?",
      "assistant: Tomorrow the roses.",
      "user: Go on from here",
    ]);
    expect(turnsOf(run).join("\n")).not.toContain("What grows in my garden?");
  });

  test.skipIf(isMissing(codexCli))("goes on in the real Codex from its compaction", async () => {
    await using box = await tempDir();
    const run = await goOn(codexCli, await captured(GARDEN), { folder: box.path, fidelity: "foreign" });
    const turns = turnsOf(run);
    expectInOrder(turns, [
      "user: ## Goal\nA garden of roses and herbs.",
      "user: And tomorrow?",
      "assistant: Tomorrow the roses.",
      "user: Go on from here",
    ]);
    expect(turns.join("\n")).not.toContain("What grows in my garden?");
  });
});

/** An import puts a session into the project and the folder in which it runs. */
function withoutPlace(value: unknown): JsonObject {
  if (!isJsonObject(value as JsonObject)) return {};
  const { info, ...rest } = value as { info: JsonObject };
  return { ...rest, info: { ...info, projectID: "", directory: "", path: "" } };
}
