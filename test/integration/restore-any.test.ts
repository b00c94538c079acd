/**
 * Whatever a session holds, a foreign restore into any client reads back as what was handed over
 * (spec.md#adapter-restore-read-back): ids that are used twice, results before their calls, texts that look like another
 * client's own.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../src/base/json/json.ts";
import type { Role } from "../../src/model/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { sealExtracted, sealExtractedJson } from "../../src/model/extracted.ts";
import { lineagesOf } from "../support/adapter-run.ts";
import { foreignTargets, restoreInto } from "../support/restore-lineage.ts";
import { story } from "../support/story.ts";
import { tempDir } from "../support/temp-dir.ts";

const said = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "",
    " \n",
    "hello",
    "<system-reminder>mind</system-reminder>",
    "This session is being continued from a previous conversation that ran out of context.",
    "Another language model started to solve this problem and produced a summary of it",
    "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
    "# Context from my IDE setup:\n\n## My request for Codex:\ngo",
    "<task-notification>done</task-notification> and on",
    "<command-name>/clear</command-name>",
    "(restored session)",
    "No result was recorded.",
    "[Request interrupted by user]",
    "\u2028 a\tb  c\r\n\r\nd",
  ),
);
const injected = fc.constantFrom(
  undefined,
  "shell",
  "file",
  "context",
  "compaction-summary",
  "branch-summary",
);
const callIds = fc.constantFrom("c1", "c2", "", "an id with spaces", undefined);
const names = fc.constantFrom("bash", "read", "mcp.server/tool", "", undefined, "x".repeat(90));
const picture = "data:image/png;base64,iVBORw0KGgo=";

const text = fc.record({ text: said, kind: injected, joined: fc.boolean() }).map((one) => ({
  type: "text" as const,
  provenance: one.kind === undefined ? "conversational" : "injected",
  text: sealExtracted(one.text),
  options: {
    pond: {
      ...(one.kind === undefined ? {} : { injected: one.kind }),
      ...(one.joined ? { joined: true } : {}),
    },
  },
}));
const file = fc.constantFrom(
  { type: "file" as const, data: { kind: "url", value: picture } },
  {
    type: "file" as const,
    data: { kind: "url", value: "https://example.org/x.png" },
    media_type: "image/png",
  },
);
/** As a reader makes them: it keeps the sign of a zero by its literal, which a plain number loses when it is printed. */
const values = fc.jsonValue({ maxDepth: 2 }).map((one) => parseJson(JSON.stringify(one)));
const call = fc
  .record({ call_id: callIds, name: names, params: values, ran: fc.boolean() })
  .map(({ call_id, name, params, ran }) => ({
    type: "tool_call" as const,
    ...(call_id === undefined ? {} : { call_id }),
    ...(name === undefined ? {} : { name }),
    params: sealExtractedJson(params as never),
    ...(ran ? { provider_executed: true } : {}),
  }));
const results = fc.oneof(
  said,
  values,
  fc.constant([
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ]),
  fc.constant([
    { type: "text", text: "see" },
    { type: "input_image", image_url: picture },
  ]),
  fc.constant("Exit code: 1\nWall time: 1 seconds\nOutput:\nno"),
  fc.constant('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}}'),
);
const result = fc
  .record({ call_id: callIds, value: results, failed: fc.constantFrom(undefined, true, false) })
  .map(({ call_id, value, failed }) => ({
    type: "tool_result" as const,
    provenance: "injected",
    ...(call_id === undefined ? {} : { call_id }),
    result: sealExtractedJson(value as never),
    ...(failed === undefined ? {} : { is_failure: failed }),
  }));
const thought = said.map((one) => ({ type: "reasoning" as const, text: sealExtracted(one) }));

const turn = fc.oneof(
  fc.tuple(fc.constant<Role>("user"), fc.array(fc.oneof(text, file), { maxLength: 4 })),
  fc.tuple(fc.constant<Role>("assistant"), fc.array(fc.oneof(text, call, thought, file), { maxLength: 4 })),
  fc.tuple(fc.constant<Role>("tool"), fc.array(result, { minLength: 1, maxLength: 2 })),
);

test.each(foreignTargets())(
  "any session restored into $name reads back as what was handed over",
  { timeout: 120_000 },
  async (adapter) => {
    let restored = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 12 }), async (turns) => {
        const one = story("root", { agent: "elsewhere" });
        for (const [role, parts] of turns) one.message(role, parts);
        const [lineage] = lineagesOf(replay(one.events()));
        await using out = await tempDir();
        try {
          await restoreInto(adapter, lineage!, { out: out.path });
          restored += 1;
        } catch (error) {
          expect(error).toMatchObject({ reason: "unsupported" });
        }
      }),
      { numRuns: 300 },
    );
    expect(restored).toBeGreaterThan(100);
  },
);

test("a text that is joined with a blank one behind a picture comes along", async () => {
  const parts = [
    { type: "file" as const, data: { kind: "url", value: picture } },
    { type: "text" as const, text: sealExtracted(" ") },
    { type: "text" as const, text: sealExtracted("what is this?"), options: { pond: { joined: true } } },
  ];
  const one = story("root", { agent: "elsewhere" }).message("user", parts).assistant("A garden.");
  const [lineage] = lineagesOf(replay(one.events()));
  for (const adapter of foreignTargets()) {
    await using out = await tempDir();
    expect(await restoreInto(adapter, lineage!, { out: out.path })).toHaveLength(1);
  }
});
