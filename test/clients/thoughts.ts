/**
 * A session of each client whose model thought aloud in every form that its log has: signed, sealed without a text, in
 * several pieces, and in forms that the client itself never sends again. Each thought says which one it is.
 */
import { stringifyJson } from "../../src/base/json/json.ts";
import type { JsonObject } from "../../src/base/json/json.ts";
import type { SessionModel } from "./real-clients.ts";
import type { ClientName } from "./versions.ts";

export interface Thoughts {
  readonly client: ClientName;
  /** Below the folder that the adapter reads. */
  readonly path: string;
  readonly text: string;
  /** The model that thought. */
  readonly model: SessionModel;
  /** What the client sends again: for each thought its texts and its seal. */
  readonly sent: readonly (readonly string[])[];
  /** A text or the seal of each thought that it does not send. */
  readonly unsent: readonly string[];
  /** How many more it does not send that have neither. */
  readonly blank: number;
}

const CWD = "/srv/demo.app";
const at = (second: number): string => new Date(Date.UTC(2026, 10, 17, 10, 0, second)).toISOString();
const lines = (records: readonly JsonObject[]): string =>
  records.map((record) => `${stringifyJson(record)}\n`).join("");

const ID = "5e551000-0000-4000-8000-00000000beef";

export const THOUGHTS: readonly Thoughts[] = [
  {
    client: "claude-code",
    path: `-srv-demo-app/${ID}.jsonl`,
    text: lines(claudeRecords()),
    model: { provider: "anthropic", model: "claude-opus-4-6", api: "anthropic-messages" },
    sent: [["signed thought", "c2lnbmVk"], ["c2VhbGVk"], ["ZW1wdHk="], ["unsigned thought"]],
    unsent: ["thought of another model"],
    blank: 0,
  },
  {
    client: "codex-cli",
    path: `sessions/2026/11/17/rollout-2026-11-17T10-00-00-${ID}.jsonl`,
    text: lines(codexRecords()),
    model: { provider: "mock", model: "scripted", api: "openai-responses" },
    sent: [["first half", "second half", "c2lnbmVk"], ["c2VhbGVk"], ["told thought", "raw thought"]],
    unsent: [],
    blank: 0,
  },
  {
    client: "opencode",
    path: "ses_5e551000fffeThinkingAloud1.json",
    text: stringifyJson(opencodeExport("anthropic")),
    model: { provider: "anthropic", model: "scripted", api: "anthropic-messages" },
    sent: [
      ["signed thought", "c2lnbmVk"],
      ["second half", "aGFsZg=="],
      ["c2VhbGVk"],
      ["thought of another model"],
    ],
    unsent: ["unsigned thought", "b3RoZXJzZWFs"],
    blank: 0,
  },
  {
    client: "opencode",
    path: "ses_5e551000fffeThinkingAloud1.json",
    text: stringifyJson(opencodeExport("openai")),
    model: { provider: "openai", model: "scripted", api: "openai-responses" },
    sent: [["signed thought", "c2lnbmVk"], ["second half"], ["c2VhbGVk"], ["thought of another model"]],
    unsent: ["unsigned thought", "b3RoZXJzZWFs"],
    blank: 0,
  },
  {
    client: "opencode",
    path: "ses_5e551000fffeThinkingAloud1.json",
    text: stringifyJson(opencodeExport("elsewhere")),
    model: { provider: "elsewhere", model: "scripted", api: "openai-completions" },
    sent: [["signed thought"], ["second half"], ["unsigned thought"], ["thought of another model"]],
    unsent: [],
    blank: 2,
  },
  {
    client: "pi",
    path: `--srv-demo.app--/2026-11-17T10-00-00-000Z_${ID}.jsonl`,
    text: lines(piRecords()),
    model: { provider: "scripted", model: "scripted-model", api: "anthropic-messages" },
    sent: [["signed thought", "c2lnbmVk"], ["c2VhbGVk"], ["unsigned thought"], ["thought of another model"]],
    unsent: ["b3RoZXJzZWFs"],
    blank: 1,
  },
];

function claudeRecords(): readonly JsonObject[] {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const records: JsonObject[] = [];
  const add = (type: string, message: JsonObject): void => {
    const uuid = `00000000-0000-4000-8000-${String(records.length + 1).padStart(12, "0")}`;
    const parentUuid = records.at(-1)?.["uuid"] ?? null;
    const envelope = {
      isSidechain: false,
      userType: "external",
      cwd: CWD,
      sessionId: ID,
      version: "2.1.197",
    };
    records.push({
      parentUuid,
      ...envelope,
      gitBranch: "",
      type,
      message,
      uuid,
      timestamp: at(records.length),
    });
  };
  const answer = (id: string, block: JsonObject, model = "claude-opus-4-6"): void =>
    add("assistant", {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [block],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage,
    });
  add("user", { role: "user", content: "Think aloud" });
  answer("msg_1", { type: "thinking", thinking: "signed thought", signature: "c2lnbmVk" });
  answer("msg_1", { type: "redacted_thinking", data: "c2VhbGVk" });
  answer("msg_1", { type: "text", text: "I look." });
  answer("msg_1", { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } });
  add("user", {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.txt" }],
  });
  // The newest models give the seal alone.
  answer("msg_2", { type: "thinking", thinking: "", signature: "ZW1wdHk=" });
  answer("msg_2", { type: "text", text: "One file." });
  const another = "claude-sonnet-4-5";
  add("user", { role: "user", content: "Are you sure?" });
  answer("msg_3", { type: "thinking", thinking: "thought of another model", signature: "b3RoZXI=" }, another);
  answer("msg_3", { type: "text", text: "Indeed." }, another);
  add("user", { role: "user", content: "Really?" });
  answer("msg_4", { type: "thinking", thinking: "unsigned thought" });
  answer("msg_4", { type: "text", text: "Really." });
  return records;
}

function codexRecords(): readonly JsonObject[] {
  const records: JsonObject[] = [];
  const add = (type: string, payload: JsonObject): void => {
    records.push({ timestamp: at(records.length), type, payload });
  };
  const said = (role: string, text: string): void =>
    add("response_item", {
      type: "message",
      role,
      content: [{ type: role === "user" ? "input_text" : "output_text", text }],
    });
  const thought = (fields: JsonObject): void => add("response_item", { type: "reasoning", ...fields });
  const summary = (...texts: readonly string[]) => texts.map((text) => ({ type: "summary_text", text }));
  add("session_meta", {
    session_id: ID,
    id: ID,
    timestamp: at(0),
    cwd: CWD,
    originator: "codex_exec",
    cli_version: "0.166.0",
    source: "exec",
    thread_source: "user",
    model_provider: "mock",
    history_mode: "legacy",
  });
  said("user", "Think aloud");
  thought({ summary: summary("first half", "second half"), encrypted_content: "c2lnbmVk" });
  thought({ summary: [], encrypted_content: "c2VhbGVk" });
  said("assistant", "I look.");
  add("response_item", {
    type: "function_call",
    name: "exec_command",
    arguments: '{"cmd":"ls"}',
    call_id: "call_1",
  });
  add("response_item", { type: "function_call_output", call_id: "call_1", output: "a.txt" });
  thought({
    summary: summary("told thought"),
    content: [{ type: "reasoning_text", text: "raw thought" }],
    encrypted_content: null,
  });
  said("assistant", "One file.");
  return records;
}

/** Of which provider the thoughts are: each seals them in a way of its own. */
function opencodeExport(providerID: "anthropic" | "openai" | "elsewhere"): JsonObject {
  const session = "ses_5e551000fffeThinkingAloud1";
  const start = Date.UTC(2026, 10, 17, 10);
  let ids = 0;
  const next = (kind: string): string => {
    ids += 1;
    return `${kind}_${ids.toString(16).padStart(12, "0")}ThinkingAloud1`;
  };
  const message = (info: JsonObject, parts: readonly JsonObject[]): JsonObject => {
    const id = next("msg");
    const placed = parts.map((part) => ({ ...part, id: next("prt"), sessionID: session, messageID: id }));
    return { info: { ...info, id, sessionID: session }, parts: placed };
  };
  const model = { providerID, modelID: "scripted" };
  const asked = message({ role: "user", time: { created: start + 1000 }, agent: "build", model }, [
    { type: "text", text: "Think aloud" },
  ]);
  const parentID = (asked["info"] as JsonObject)["id"] ?? "";
  const answer = (second: number, finish: string, parts: readonly JsonObject[], by: JsonObject = model) => {
    const tokens = { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } };
    const time = { created: start + second * 1000, completed: start + second * 1000 };
    const info = { role: "assistant", time, parentID, ...by, mode: "build", agent: "build", finish };
    const path = { cwd: CWD, root: CWD };
    const step = { type: "step-finish", reason: finish, cost: 0, tokens };
    return message({ ...info, path, cost: 0, tokens }, [{ type: "step-start" }, ...parts, step]);
  };
  const time = { start: start + 2000, end: start + 3000 };
  const thought = (text: string, seal?: string): JsonObject => {
    const anthropic = text === "" ? { redactedData: seal ?? "" } : { signature: seal ?? "" };
    const openai = { itemId: `rs_${seal}`, reasoningEncryptedContent: seal ?? "" };
    const metadata = providerID === "anthropic" ? { anthropic } : { openai };
    const isSealed = seal !== undefined && providerID !== "elsewhere";
    return { type: "reasoning", text, time, ...(isSealed ? { metadata } : {}) };
  };
  const call = {
    type: "tool",
    callID: "toolu_1",
    tool: "bash",
    state: { status: "completed", input: { command: "ls" }, output: "a.txt", title: "", metadata: {}, time },
  };
  return {
    info: {
      id: session,
      slug: "thinking-aloud",
      projectID: "global",
      directory: CWD,
      title: "Thinking aloud",
      version: "1.18.33",
      time: { created: start, updated: start + 9000 },
    },
    messages: [
      asked,
      answer(2, "tool-calls", [
        thought("signed thought", "c2lnbmVk"),
        // Of one item, where the provider has items.
        thought("second half", providerID === "openai" ? "c2lnbmVk" : "aGFsZg=="),
        thought("", "c2VhbGVk"),
        { type: "text", text: "I look." },
        call,
      ]),
      answer(
        5,
        "stop",
        [
          thought("thought of another model", "b3RoZXI="),
          thought("", "b3RoZXJzZWFs"),
          { type: "text", text: "One file." },
        ],
        { providerID, modelID: "another" },
      ),
      answer(6, "stop", [thought("unsigned thought"), { type: "text", text: "Indeed." }]),
    ],
  };
}

function piRecords(): readonly JsonObject[] {
  const usage = {
    input: 10,
    output: 5,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 15,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const records: JsonObject[] = [{ type: "session", version: 3, id: ID, timestamp: at(0), cwd: CWD }];
  const add = (message: JsonObject): void => {
    const id = String(records.length).padStart(8, "0");
    const parentId = records.length === 1 ? null : String(records.length - 1).padStart(8, "0");
    const timestamp = Date.UTC(2026, 10, 17, 10, 0, records.length);
    records.push({
      type: "message",
      id,
      parentId,
      timestamp: at(records.length),
      message: { ...message, timestamp },
    });
  };
  const answer = (stopReason: string, content: readonly JsonObject[], model = "scripted-model"): void =>
    add({
      role: "assistant",
      content,
      api: "anthropic-messages",
      provider: "scripted",
      model,
      usage,
      stopReason,
    });
  const thought = (thinking: string, fields: JsonObject = {}): JsonObject => ({
    type: "thinking",
    thinking,
    ...fields,
  });
  add({ role: "user", content: [{ type: "text", text: "Think aloud" }] });
  answer("toolUse", [
    thought("signed thought", { thinkingSignature: "c2lnbmVk" }),
    thought("[Reasoning redacted]", { thinkingSignature: "c2VhbGVk", redacted: true }),
    { type: "text", text: "I look." },
    { type: "toolCall", id: "toolu_1", name: "bash", arguments: { command: "ls" } },
  ]);
  add({
    role: "toolResult",
    toolCallId: "toolu_1",
    toolName: "bash",
    content: [{ type: "text", text: "a.txt" }],
    isError: false,
  });
  answer(
    "stop",
    [
      thought("thought of another model", { thinkingSignature: "b3RoZXI=" }),
      thought("[Reasoning redacted]", { thinkingSignature: "b3RoZXJzZWFs", redacted: true }),
      { type: "text", text: "One file." },
    ],
    "another-model",
  );
  answer("stop", [thought("unsigned thought"), thought(""), { type: "text", text: "Indeed." }]);
  return records;
}
