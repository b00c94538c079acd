/** A session of no client in particular, with all that a foreign restore must carry over: in the wire form. */
import type { Event } from "../../src/model/index.ts";
import type { SessionState } from "../../src/model/events/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { eventSchema } from "../../src/model/events/schema.ts";

const SESSION = "thread/1";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** Prompt with an image and injected context, two parallel calls, one failing, one never answered, an answer. */
export function foreignSession(project: string): SessionState {
  const [state] = replay(eventsOf(project));
  if (state === undefined) throw new Error("the session above is not empty");
  return state;
}

/** Its turns in the Messages API; clients differ in what they say of the call that was never answered. */
export function foreignTurns(unanswered: string): string[] {
  return [
    "user: Look at the dot and count the files",
    "user: image image/png",
    "assistant: I look.",
    'call: shell {"command":["ls"]}',
    'call: apply_patch {"input":"*** Begin"}',
    "result: a.txt b.txt",
    "failure: no such file",
    "assistant: Two files, and the patch failed.",
    "user: Try again",
    'call: shell {"command":["pwd"]}',
    `failure: ${unanswered}`,
  ];
}

function eventsOf(project: string): Event[] {
  const session = { id: SESSION, source_agent: "elsewhere", created_at: at(0), project, options: {} };
  const wire: object[] = [{ kind: "session", session }];
  const add = (seq: number, role: string, parts: readonly object[], options: object = {}): void => {
    const id = `m${seq}`;
    const content = role === "system" ? { content: "" } : {};
    wire.push({
      kind: "message",
      message: { id, session_id: SESSION, seq, timestamp: at(seq), role, ...content, options },
    });
    for (const [ordinal, part] of parts.entries())
      wire.push({
        kind: "part",
        part: { id: String(ordinal), session_id: SESSION, message_id: id, ordinal, options: {}, ...part },
      });
  };
  const said = (text: string) => ({ type: "text", provenance: "conversational", text });
  add(0, "system", [], {
    source: { record: { name: "A foreign title" } },
    pond: { title: { at: "/source/record/name", rank: 1 } },
  });
  add(1, "user", [
    { type: "text", provenance: "injected", text: "<environment_context>not for you</environment_context>" },
    said("Look at the dot and count the files"),
    {
      type: "file",
      provenance: "conversational",
      media_type: "image/png",
      data: { kind: "string", value: PNG },
    },
  ]);
  add(2, "assistant", [
    { type: "reasoning", provenance: "conversational", text: "secret thoughts" },
    said("I look."),
  ]);
  add(3, "assistant", [
    {
      type: "tool_call",
      provenance: "conversational",
      call_id: "call_1",
      name: "shell",
      params: { command: ["ls"] },
    },
  ]);
  add(4, "assistant", [
    {
      type: "tool_call",
      provenance: "conversational",
      call_id: "fc:2",
      name: "apply.patch",
      params: "*** Begin",
    },
  ]);
  add(5, "tool", [
    {
      type: "tool_result",
      provenance: "injected",
      call_id: "fc:2",
      is_failure: true,
      result: "no such file",
    },
  ]);
  add(6, "tool", [
    { type: "tool_result", provenance: "injected", call_id: "call_1", result: { output: "a.txt b.txt" } },
  ]);
  add(7, "assistant", [said("Two files, and the patch failed.")]);
  add(8, "user", [said("Try again")]);
  add(9, "assistant", [
    {
      type: "tool_call",
      provenance: "conversational",
      call_id: "call_3",
      name: "shell",
      params: { command: ["pwd"] },
    },
  ]);
  return wire.map((event) => eventSchema.parse(event));
}

function at(minute: number): string {
  return new Date(Date.UTC(2026, 4, 1, 10, minute)).toISOString();
}
