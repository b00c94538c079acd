/** pi for histories: one tree log of version 3; the second session is a fork of the first. */
import type { JsonObject } from "../../../src/base/json/json.ts";
import type { Draft, Entry, SessionNumber, SourceModel } from "./source-model.ts";
import { canonicalLog, instant, printLog, START } from "./source-model.ts";

const idOf = (session: SessionNumber): string => `0d00000${session}-0000-7000-8000-000000000001`;
const pathOf = (session: SessionNumber): string =>
  `--home-me-app--/2026-01-01T00-00-0${session}-000Z_${idOf(session)}.jsonl`;

export const pi: SourceModel = {
  label: "pi",
  adapter: "pi",
  container: { kind: "files" },
  isLog: true,
  heads: 1,
  storedId: idOf,
  path: pathOf,
  start: (session) => ({ entries: [head(session)], sides: {} }),
  append: (state, draft) => {
    const entries = [...state.entries];
    for (const [index, message] of messagesOf(draft).entries()) {
      // Entries of pi are named by chance, so their order tells nothing.
      const id = (((draft.number * 2 + index + 1) * 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
      const at = draft.at + index;
      const parentId = parentOf(entries, draft);
      const value = { type: "message", id, parentId, timestamp: instant(at), message };
      entries.push({ id, value, word: draft.word, at });
    }
    return { ...state, entries };
  },
  sideNames: () => [],
  sideContent: () => "",
  files: (session, state) => new Map([[pathOf(session), printLog(state)]]),
  records: (session, state) => new Map([[pathOf(session), canonicalLog(state)]]),
};

function head(session: SessionNumber): Entry {
  const value = {
    type: "session",
    version: 3,
    id: idOf(session),
    timestamp: instant(START + session),
    cwd: "/home/me/app",
    ...(session === 1 ? { parentSession: `/home/me/.pi/agent/sessions/${pathOf(0)}` } : {}),
  };
  return { id: "", value, at: START };
}

function parentOf(entries: readonly Entry[], { turn }: Draft): string | null {
  const entry = turn === "branch" ? entries[Math.floor(entries.length / 2)] : entries.at(-1);
  return entry === undefined || entry.id === "" ? null : entry.id;
}

function messagesOf({ turn, word, number, at }: Draft): readonly JsonObject[] {
  if (turn === "answer") return [assistant([{ type: "text", text: `It is ${word}.` }], at)];
  if (turn !== "tool") return [{ role: "user", content: `Look at ${word}.`, timestamp: at }];
  const call = {
    type: "toolCall",
    id: `call_${number}`,
    name: "bash",
    arguments: { command: `cat ${word}` },
  };
  return [
    assistant([call], at),
    {
      role: "toolResult",
      toolCallId: call.id,
      toolName: "bash",
      content: [{ type: "text", text: `${word} is empty` }],
      isError: false,
      timestamp: at,
    },
  ];
}

function assistant(content: readonly JsonObject[], timestamp: number): JsonObject {
  return {
    role: "assistant",
    content: [...content],
    api: "anthropic-messages",
    provider: "mock",
    model: "mock-model",
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 },
    stopReason: "stop",
    timestamp,
  };
}
