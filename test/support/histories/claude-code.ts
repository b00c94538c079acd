/** Claude Code for histories: a log, side files below the session's folder, and a subagent with its `.meta.json`. */
import type { JsonObject } from "../../../src/base/json/json.ts";
import type { Draft, Entry, SessionNumber, SourceModel } from "./source-model.ts";
import { canonicalBytes, canonicalLog, instant, printLog, START } from "./source-model.ts";

const SESSION = "0a000000-0000-4000-8000-000000000001";
const AGENT = "a1b2c3";
const SLUG = "-home-me-app";
const META = `subagents/agent-${AGENT}.meta.json`;

const logOf = (session: SessionNumber): string =>
  session === 0 ? `${SLUG}/${SESSION}.jsonl` : `${SLUG}/${SESSION}/subagents/agent-${AGENT}.jsonl`;

export const claudeCode: SourceModel = {
  label: "claude-code",
  adapter: "claude-code",
  container: { kind: "files" },
  isLog: true,
  heads: 1,
  storedId: (session) => (session === 0 ? SESSION : `${SESSION}/agent-${AGENT}`),
  path: logOf,
  start: (session) => ({
    entries: [head(session)],
    sides: session === 0 ? {} : { [META]: JSON.stringify({ agentType: "explorer", description: "Look" }) },
  }),
  append: (state, draft, session) => {
    const entries = [...state.entries];
    for (const [index, make] of recordsOf(draft).entries()) {
      const number = draft.number * 2 + index + 1;
      entries.push(entryOf(entries, { ...draft, number, at: draft.at + index }, { session, make }));
    }
    return { ...state, entries };
  },
  sideNames: (session) => (session === 0 ? ["tool-results/out.txt", "notes/plan.md"] : []),
  sideContent: (choice) => (choice === "A" ? "the first form\n" : "the second\n"),
  files: (session, state) =>
    new Map([
      [logOf(session), printLog(state)],
      ...Object.entries(state.sides).map(([name, text]) => [`${SLUG}/${SESSION}/${name}`, text] as const),
    ]),
  records: (session, state) =>
    new Map([
      [logOf(session), canonicalLog(state)],
      ...Object.entries(state.sides).map(
        ([name, text]) => [`${SLUG}/${SESSION}/${name}`, [canonicalBytes(text)]] as const,
      ),
    ]),
};

const uuid = (session: SessionNumber, number: number): string =>
  `${session}b000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;

const envelope = (session: SessionNumber, at: number): JsonObject => ({
  isSidechain: session === 1,
  userType: "external",
  cwd: "/home/me/app",
  sessionId: SESSION,
  version: "2.1.80",
  gitBranch: "main",
  timestamp: instant(at),
  ...(session === 1 ? { agentId: AGENT } : {}),
});

function head(session: SessionNumber): Entry {
  const id = uuid(session, 0);
  const message = { role: "user", content: "How does the parser work?" };
  const value = { parentUuid: null, ...envelope(session, START), type: "user", message, uuid: id };
  return { id, value, at: START };
}

type Make = (word: string) => JsonObject;

function entryOf(
  before: readonly Entry[],
  { turn, number, word, at }: Draft,
  { session, make }: { readonly session: SessionNumber; readonly make: Make },
): Entry {
  const id = uuid(session, number);
  // A rewind: the next prompt hangs on an earlier record than the last one.
  const parent = turn === "branch" ? before[Math.floor(before.length / 2)] : before.at(-1);
  const value = { parentUuid: parent?.id ?? null, ...envelope(session, at), ...make(word), uuid: id };
  return { id, value, word, at };
}

function recordsOf({ turn, number }: Draft): readonly Make[] {
  if (turn === "answer") return [(word) => assistant(number, [{ type: "text", text: `It is ${word}.` }])];
  if (turn !== "tool")
    return [(word) => ({ type: "user", message: { role: "user", content: `Look at ${word}.` } })];
  const call = `toolu_${number}`;
  return [
    (word) =>
      assistant(number, [{ type: "tool_use", id: call, name: "Bash", input: { command: `cat ${word}` } }]),
    (word) => ({
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: call, content: `${word} is empty` }],
      },
      toolUseResult: { stdout: `${word} is empty`, stderr: "" },
    }),
  ];
}

function assistant(number: number, content: readonly JsonObject[]): JsonObject {
  return {
    type: "assistant",
    message: {
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      model: "claude-test",
      content: [...content],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    requestId: `req_${number}`,
  };
}
