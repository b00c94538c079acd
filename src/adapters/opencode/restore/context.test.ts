/** What opencode's model is sent again of answers that broke off and of results that were cleared (1.18.33). */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lineagesOf, readFolder } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import { adapterNamed } from "../../registry.ts";
import { contextOf } from "./context.ts";

const SESSION = "ses_5e551000fffeContext000001";
const time = { start: 1_747_000_000_000, end: 1_747_000_000_000 };

interface Answer {
  readonly error?: JsonObject;
  readonly parts: readonly JsonObject[];
}

/** The context of a session with one prompt and these answers, as opencode's export has it. */
async function contextAfter(answers: readonly Answer[]) {
  await using box = await tempDir();
  const messageId = (n: number): string => `msg_0000000000${n}0Context000001`;
  const created = { created: time.start, completed: time.end };
  const model = { providerID: "anthropic", modelID: "scripted" };
  const messages = [{ role: "user", parts: [{ type: "text", text: "Go" }] }, ...answers].map((each, n) => ({
    info: {
      id: messageId(n),
      sessionID: SESSION,
      role: n === 0 ? "user" : "assistant",
      time: created,
      ...(n === 0 ? { agent: "build", model } : { parentID: messageId(0), ...model }),
      ...("error" in each ? { error: each.error } : {}),
    },
    parts: each.parts.map((part, at) => ({
      id: `prt_0000000000${n}${at}Context000001`,
      sessionID: SESSION,
      messageID: messageId(n),
      ...part,
    })),
  }));
  const info = {
    id: SESSION,
    directory: "/srv",
    title: "T",
    version: "1.18.33",
    time: { created: time.start },
  };
  mkdirSync(box.path, { recursive: true });
  writeFileSync(join(box.path, `${SESSION}.json`), JSON.stringify({ info, messages }));
  const runs = await readFolder(adapterNamed("opencode")!, box.path);
  const [lineage] = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  return contextOf(lineage!.state.messages);
}

const text = (words: string): JsonObject => ({ type: "text", text: words });
const tool = (state: JsonObject): JsonObject => ({ type: "tool", callID: "c1", tool: "bash", state });
const texts = (parts: readonly Part[]): readonly (string | undefined)[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
const results = (parts: readonly Part[]): readonly unknown[] =>
  parts.flatMap((part) => (part.type === "tool_result" && part.result ? [openJson(part.result)] : []));

test("an answer that ended with an error is not handed over, one that a person stopped is where it said something", async () => {
  const api = { name: "APIError", data: { message: "overloaded" } };
  const stopped = { name: "MessageAbortedError", data: { message: "stopped" } };
  const { messages, brokenOff = [] } = await contextAfter([
    {
      error: api,
      parts: [text("half an answer"), tool({ status: "completed", input: {}, output: "x", time })],
    },
    { error: stopped, parts: [{ type: "reasoning", text: "hm", time }] },
    { error: stopped, parts: [text("a stopped answer")] },
    { parts: [text("an answer")] },
  ]);
  const parts = messages.flatMap((entry) => entry.parts);
  expect(texts(parts)).toEqual(["Go", "a stopped answer", "an answer"]);
  expect(results(parts)).toEqual([]);
  expect(brokenOff).toHaveLength(2);
});

test("a result that was cleared is handed over as its model is sent it, without its pictures", async () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const { messages } = await contextAfter([
    {
      parts: [
        tool({
          status: "completed",
          input: {},
          output: "a long output",
          time: { ...time, compacted: time.end },
          attachments: [{ id: "prt_0000000000000Context000009", type: "file", mime: "image/png", url }],
        }),
        text("an answer"),
      ],
    },
  ]);
  const parts = messages.flatMap((entry) => entry.parts);
  expect(results(parts)).toEqual(["[Old tool result content cleared]"]);
  expect(parts.filter(({ type }) => type === "file")).toEqual([]);
});

test("of a tool that was interrupted its model is sent what it printed, and no failure", async () => {
  const { messages, unflagged = [] } = await contextAfter([
    {
      parts: [
        tool({
          status: "error",
          input: {},
          error: "Tool execution aborted",
          metadata: { interrupted: true, output: "so far" },
          time,
        }),
      ],
    },
  ]);
  expect(results(messages.flatMap((entry) => entry.parts))).toEqual(["so far"]);
  expect(unflagged).toHaveLength(1);
});
