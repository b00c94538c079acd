/**
 * Text of the harness inside user records was called conversation, and found by search: the trailer of an accepted
 * plan, the line behind a notification, the words of a hook. And nothing said whether a person or a model had written
 * what is conversation (issue 12, item 15).
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { isEqualFile } from "../../src/adapters/kit/restore/index.ts";
import type { JsonObject } from "../../src/base/json/json.ts";
import { partAuthor, searchText } from "../../src/model/derived/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { compareAll, readFolder, restoreNative } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";

interface Said {
  /** What search indexes of the message. */
  readonly indexed: string | undefined;
  /** The authors of its parts. */
  readonly authors: readonly (string | undefined)[];
}

/** What the user's side of the log says, after proving that the log comes back as it was. */
async function usersSide(
  client: string,
  files: Readonly<Record<string, readonly JsonObject[]>>,
): Promise<readonly Said[]> {
  await using folder = await tempDir();
  const adapter = adapterNamed(client)!;
  for (const [name, records] of Object.entries(files)) {
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
  const runs = await readFolder(adapter, folder.path);
  const events = runs.flatMap((run) => run.events);
  const comparisons = await compareAll(await restoreNative(adapter, events), folder.path);
  const equal = comparisons.filter((comparison) => isEqualFile(comparison)).map(({ path }) => path);
  expect(new Set(equal)).toEqual(new Set(Object.keys(files)));
  return replay(events).flatMap(({ session, messages }) =>
    messages
      .filter(({ message }) => message.role === "user")
      .map(({ message, parts }) => ({
        indexed: searchText(message, parts),
        authors: parts.map((part) =>
          partAuthor(part, { role: message.role, source_agent: session.source_agent }),
        ),
      })),
  );
}

const SESSION = "11111111-1111-4111-8111-111111111111";

function prompt(content: string, more: JsonObject = {}): JsonObject {
  return {
    type: "user",
    sessionId: SESSION,
    cwd: "/w",
    timestamp: "2026-01-02T03:04:05.678Z",
    message: { role: "user", content },
    ...more,
  };
}

test("Claude Code: only what people and models said is indexed, and by whom is known", async () => {
  const planContent = "# Plan\n\n1. Read.\n";
  const hint =
    "\n\nIf you need specific details from before exiting plan mode (like exact code snippets, error messages, or content you generated), read the full transcript at: /h/p/s.jsonl";
  const said = await usersSide("claude-code", {
    [`p/${SESSION}.jsonl`]: [
      prompt(`Implement the following plan:\n\n${planContent}${hint}`, { planContent }),
      prompt(
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nRead the output file to retrieve the result: /tmp/b1.output",
      ),
      prompt("Operation stopped by hook: Another session is active"),
      prompt("fix the parser"),
      prompt("summarize it", { entrypoint: "sdk-ts" }),
    ],
  });
  expect(said).toEqual([
    { indexed: planContent, authors: ["harness", "model", "harness"] },
    { indexed: undefined, authors: ["harness"] },
    { indexed: undefined, authors: ["harness"] },
    { indexed: "fix the parser", authors: ["person"] },
    { indexed: "summarize it", authors: [undefined] },
  ]);
});

const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const INSTANT = "2026-11-16T00:00:00.000Z";

/** A log of Codex in which these texts were typed, each with its twin. */
function rollout(meta: JsonObject, texts: readonly string[]): Record<string, readonly JsonObject[]> {
  const record = (type: string, payload: JsonObject): JsonObject => ({ timestamp: INSTANT, type, payload });
  const header = { id: THREAD, timestamp: INSTANT, cwd: "/w", cli_version: "0.118.0", ...meta };
  return {
    [`sessions/2026/11/16/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`]: [
      record("session_meta", header),
      ...texts.flatMap((text) => [
        record("response_item", { type: "message", role: "user", content: [{ type: "input_text", text }] }),
        record("event_msg", { type: "user_message", message: text, images: [] }),
      ]),
      record("compacted", { message: "The summary." }),
    ],
  };
}

test("Codex: what it submits for a command is its own, and a run by a program has no known author", async () => {
  const init =
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\nYour goal is to produce a clear document.\n\n(Optional) Add other sections if relevant, such as Security & Configuration Tips, Architecture Overview, or Agent-Specific Instructions.";
  const quoted = "Generate a file named AGENTS.md that serves as a guide";
  expect(await usersSide("codex-cli", rollout({ source: "cli" }, [init, quoted]))).toEqual([
    { indexed: undefined, authors: ["harness"] },
    { indexed: quoted, authors: ["person"] },
    { indexed: undefined, authors: ["model"] },
  ]);
  expect(await usersSide("codex-cli", rollout({ source: "exec" }, ["fix it"]))).toEqual([
    { indexed: "fix it", authors: [undefined] },
    { indexed: undefined, authors: ["model"] },
  ]);
  const spawn = { subagent: { thread_spawn: { parent_thread_id: "p", depth: 1 } } };
  expect(await usersSide("codex-cli", rollout({ source: spawn }, ["look it up"]))).toEqual([
    { indexed: "look it up", authors: ["model"] },
    { indexed: undefined, authors: ["model"] },
  ]);
});

/** A tree of opencode: a session with one prompt and one summary. */
function tree(info: JsonObject): Record<string, readonly JsonObject[]> {
  const ids = { sessionID: "ses_1" };
  const time = { created: 1_700_000_000_000 };
  const text = (message: string, part: string, words: string): JsonObject => ({
    id: part,
    ...ids,
    messageID: message,
    type: "text",
    text: words,
  });
  return {
    "storage/session/global/ses_1.json": [{ id: "ses_1", directory: "/w", title: "T", time, ...info }],
    "storage/message/ses_1/msg_1.json": [{ id: "msg_1", ...ids, role: "user", time }],
    "storage/part/msg_1/prt_1.json": [text("msg_1", "prt_1", "fix it")],
  };
}

test("opencode: a run by a program has no known author, a subagent's prompt is a model's", async () => {
  const deny = (permission: string): JsonObject => ({ permission, pattern: "*", action: "deny" });
  expect(await usersSide("opencode", tree({}))).toEqual([{ indexed: "fix it", authors: ["person"] }]);
  expect(await usersSide("opencode", tree({ permission: [deny("question"), deny("plan_exit")] }))).toEqual([
    { indexed: "fix it", authors: [undefined] },
  ]);
  expect(await usersSide("opencode", tree({ permission: [deny("task")] }))).toEqual([
    { indexed: "fix it", authors: ["person"] },
  ]);
  expect(await usersSide("opencode", tree({ parentID: "ses_0", permission: [deny("question")] }))).toEqual([
    { indexed: "fix it", authors: ["model"] },
  ]);
});

test("pi: a command is the person's, its output the harness's, a summary the model's", async () => {
  const entry = (id: string, parentId: string | null, more: JsonObject): JsonObject => ({
    id,
    parentId,
    timestamp: INSTANT,
    ...more,
  });
  const said = await usersSide("pi", {
    [`--w--/2026-11-16T00-00-00-000Z_${THREAD}.jsonl`]: [
      { type: "session", version: 3, id: THREAD, timestamp: INSTANT, cwd: "/w" },
      entry("a", null, { type: "message", message: { role: "user", content: "fix it" } }),
      entry("b", "a", {
        type: "message",
        message: { role: "bashExecution", command: "ls", output: "a.txt", exitCode: 0 },
      }),
      entry("c", "b", { type: "compaction", summary: "It was fixed.", firstKeptEntryId: "a" }),
      entry("d", "c", { type: "custom_message", customType: "x", content: "note", display: true }),
    ],
  });
  expect(said).toEqual([
    { indexed: "fix it", authors: ["person"] },
    { indexed: undefined, authors: ["person", "harness"] },
    { indexed: undefined, authors: ["model"] },
    { indexed: undefined, authors: ["harness"] },
  ]);
});
