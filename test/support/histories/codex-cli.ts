/** Codex for histories: a rollout with its twins, in the older history mode and with ordinals; the second is a subagent. */
import type { JsonObject } from "../../../src/base/json/json.ts";
import type { Draft, Entry, SessionNumber, SourceModel, State } from "./source-model.ts";
import { canonicalLog, instant, printLog, START } from "./source-model.ts";

const idOf = (session: SessionNumber): string => `0c00000${session}-0000-7000-8000-000000000001`;
const pathOf = (session: SessionNumber): string =>
  `sessions/2026/01/01/rollout-2026-01-01T00-00-0${session}-${idOf(session)}.jsonl`;

export const codexCli: SourceModel = modelOf("codex-cli", { isPaginated: false });
export const codexPaginated: SourceModel = modelOf("codex-cli with ordinals", { isPaginated: true });

interface Form {
  readonly isPaginated: boolean;
}

function modelOf(label: string, form: Form): SourceModel {
  return {
    label,
    adapter: "codex-cli",
    container: { kind: "files" },
    isLog: true,
    heads: 1,
    storedId: idOf,
    path: pathOf,
    start: (session) => ({ entries: [head(session, form)], sides: {} }),
    append: (state, draft, session) => {
      const entries = [...state.entries];
      for (const record of recordsOf(draft, session, form)) {
        const value = form.isPaginated ? { ordinal: ordinalAfter(entries), ...record } : record;
        entries.push({ id: `${draft.number}`, value, word: draft.word, at: draft.at });
      }
      return { ...state, entries };
    },
    sideNames: () => [],
    sideContent: () => "",
    files: (session, state) => new Map([[pathOf(session), printLog(state)]]),
    records: (session, state: State) => new Map([[pathOf(session), canonicalLog(state)]]),
  };
}

function ordinalAfter(entries: readonly Entry[]): number {
  const last = entries.at(-1)?.value["ordinal"];
  return typeof last === "number" ? last + 1 : 0;
}

function head(session: SessionNumber, { isPaginated }: Form): Entry {
  const timestamp = instant(START);
  const parent =
    session === 0
      ? { source: "cli" }
      : {
          source: {
            subagent: { thread_spawn: { parent_thread_id: idOf(0), depth: 1, agent_role: "explorer" } },
          },
        };
  const payload = {
    id: idOf(session),
    timestamp,
    cwd: "/home/me/app",
    originator: "codex_cli",
    cli_version: "0.166.0",
    ...parent,
    ...(isPaginated ? { history_mode: "paginated" } : {}),
  };
  const value = { ...(isPaginated ? { ordinal: 0 } : {}), timestamp, type: "session_meta", payload };
  return { id: "head", value, at: START };
}

function recordsOf(draft: Draft, session: SessionNumber, form: Form): readonly JsonObject[] {
  const { turn, word, number, at } = draft;
  const record = (type: string, payload: JsonObject): JsonObject => ({
    timestamp: instant(at),
    type,
    payload,
  });
  const twin = (role: "user" | "assistant", text: string): JsonObject =>
    record("event_msg", form.isPaginated ? completed(draft, session, { role, text }) : event(role, text));
  if (turn === "answer") {
    const text = `It is ${word}.`;
    return [twin("assistant", text), record("response_item", message("assistant", text, number))];
  }
  if (turn === "tool") {
    const call = { type: "function_call", name: "shell", arguments: `{"command":"cat ${word}"}` };
    const callId = `call_${number}`;
    return [
      record("response_item", { ...call, call_id: callId }),
      record("response_item", { type: "function_call_output", call_id: callId, output: `${word} is empty` }),
    ];
  }
  const text = `Look at ${word}.`;
  return [record("response_item", message("user", text, number)), twin("user", text)];
}

/** Prompts have no id in the older mode, answers have. */
function message(role: "user" | "assistant", text: string, number: number): JsonObject {
  const type = role === "user" ? "input_text" : "output_text";
  return {
    type: "message",
    ...(role === "assistant" ? { id: `msg_${number}` } : {}),
    role,
    content: [{ type, text }],
  };
}

function event(role: "user" | "assistant", text: string): JsonObject {
  return { type: role === "user" ? "user_message" : "agent_message", message: text };
}

function completed(
  { number, at }: Draft,
  session: SessionNumber,
  { role, text }: { readonly role: "user" | "assistant"; readonly text: string },
): JsonObject {
  const item =
    role === "user"
      ? { type: "UserMessage", id: `item_${number}`, content: [{ type: "text", text, text_elements: [] }] }
      : { type: "AgentMessage", id: `msg_${number}`, content: [{ type: "Text", text }] };
  return {
    type: "item_completed",
    thread_id: idOf(session),
    turn_id: `turn_${number}`,
    item,
    completed_at_ms: at,
  };
}
