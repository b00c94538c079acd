/**
 * A session of any client as one that opencode imports and resumes (spec.md#adapter-restore): ids of its own kind, a
 * prompt or an answer a message, each answer under the prompt before it. Every session of the lineage is an export.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { MessageWithParts, Part, Session } from "../../model/index.ts";
import { formatTimestamp, recordedTitle } from "../../model/index.ts";
import type { History, Lineage, LossReport, SerializeOptions } from "../seam/index.ts";
import { arrayField, brandOf, extractName, historyOf, integerField, objectField } from "../seam/index.ts";
import type { Answered, CallPart } from "./foreign-content.ts";
import { answerParts, compactionSummary, promptParts } from "./foreign-content.ts";
import { IdSequence, sessionIdFor } from "./foreign-ids.ts";
import { RESTORED_FROM } from "./session.ts";

/** The client whose format is written: the one that test/clients opens it with. */
const VERSION = "1.18.33";

const AGENT = "build";

export interface ForeignExport {
  readonly id: string;
  readonly value: JsonObject;
}

/** The session first, then its descendants. */
export function foreignExports(
  lineage: Lineage,
  options: SerializeOptions,
  losses: LossReport,
): readonly ForeignExport[] {
  return exportsOf(lineage, { options, losses });
}

interface Target {
  readonly options: SerializeOptions;
  readonly losses: LossReport;
  readonly parent?: { readonly id: string; readonly history: History };
}

function exportsOf({ state, children }: Lineage, target: Target): readonly ForeignExport[] {
  const { session } = state;
  const { options, losses, parent } = target;
  const history = historyOf(state, parent?.history, losses);
  const id = sessionIdFor(session.id, millis(session.created_at));
  const directory = options.mapPath(session.project);
  const writer = new Writer({ session, id, directory, losses });
  const messages = writer.write(history.messages);
  const isChild = parent !== undefined && session.relation === "spawn";
  if (parent !== undefined && !isChild)
    losses.add("link to a parent session", "opencode links subagents only; a fork is a session of its own");
  const info = {
    id,
    slug: "restored",
    projectID: "global",
    directory,
    ...(isChild ? { parentID: parent.id } : {}),
    title: titleOf(state.messages, session),
    version: VERSION,
    metadata: {
      [RESTORED_FROM]: {
        session_id: session.id,
        source_agent: session.source_agent,
        restored_at: options.now,
      },
    },
    time: { created: millis(session.created_at), updated: Math.max(writer.at, millis(session.created_at)) },
  };
  const rest = children.flatMap((child) => exportsOf(child, { ...target, parent: { id, history } }));
  return [{ id, value: { info, messages } }, ...rest];
}

/** A title that the client would make up itself is replaced by it when the session goes on. */
function titleOf(messages: readonly MessageWithParts[], session: Session): string {
  const title = recordedTitle(messages.map(({ message }) => message));
  return title ?? `New session - ${formatTimestamp(session.created_at)}`;
}

interface Origin {
  readonly session: Session;
  readonly id: string;
  readonly directory: string;
  readonly losses: LossReport;
}

type Message = MessageWithParts["message"];

/** Writes the messages of one session in order; times never run back, because the client sorts by them. */
class Writer {
  readonly #origin: Origin;
  readonly #ids: IdSequence;
  readonly #messages: JsonValue[] = [];
  readonly #answered = new Set<string>();
  #results: ReadonlyMap<string, Answered> = new Map();
  #prompt: string | undefined;
  #model: JsonObject;
  /** The response that is being written: what it said and called so far. */
  #response: { readonly first: Message; readonly parts: Part[]; last: Message } | undefined;
  /** Milliseconds since 1970 of the last message. */
  at = 0;

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#ids = new IdSequence(origin.id);
    this.#model = { providerID: brandOf(origin.session.source_agent), modelID: "unknown" };
  }

  write(messages: readonly MessageWithParts[]): readonly JsonValue[] {
    this.#results = resultsByCall(messages);
    this.#model =
      messages.map(({ message }) => modelOf(message)).find((model) => model !== undefined) ?? this.#model;
    for (const entry of messages) this.#see(entry);
    this.#endResponse();
    for (const { parts } of messages) this.#countLost(parts);
    return this.#messages;
  }

  #see({ message, parts }: MessageWithParts): void {
    if (message.role === "tool") return this.#endResponse();
    const summary = summaryOf(message, parts);
    if (summary !== undefined) {
      this.#endResponse();
      return this.#addCompaction(message, summary);
    }
    if (message.role === "assistant") {
      this.#response ??= { first: message, last: message, parts: [] };
      this.#response.last = message;
      this.#response.parts.push(...parts);
    } else if (message.role === "system")
      this.#origin.losses.add("system record", "a record of the other client's own");
    else {
      this.#endResponse();
      const content = promptParts(parts, this.#origin.losses);
      if (content.length > 0) this.#addPrompt(message, content);
    }
  }

  #addPrompt(message: Message, parts: readonly JsonObject[]): void {
    const at = this.#time(message);
    const id = this.#ids.next("msg", at);
    this.#prompt = id;
    this.#push({ id, role: "user", time: { created: at }, agent: AGENT, model: this.#model }, parts);
  }

  /** As the client compacts: a prompt that asks for it, and a summary that answers. */
  #addCompaction(message: Message, summary: string): void {
    this.#addPrompt(message, [{ type: "compaction", auto: false }]);
    const at = this.#time(message);
    const text = { type: "text", text: summary, time: { start: at, end: at } };
    this.#addAnswer(message, [text], {
      summary: true,
      mode: "compaction",
      agent: "compaction",
      finish: "stop",
    });
  }

  #endResponse(): void {
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) return;
    const { first, last, parts } = response;
    this.#model = modelOf(last) ?? this.#model;
    const at = Math.max(this.at, millis(first.timestamp));
    const content = answerParts(parts, (call) => this.#answer(call), { losses: this.#origin.losses, at });
    if (content.length === 0) return;
    // An answer stands under a prompt; what stands in for a missing one says what it is.
    if (this.#prompt === undefined)
      this.#addPrompt(first, [{ type: "text", text: "(restored session)", synthetic: true }]);
    const calls = content.some(({ type }) => type === "tool");
    this.#addAnswer(first, content, { finish: calls ? "tool-calls" : "stop", tokens: tokensOf(last) });
  }

  #addAnswer(message: Message, parts: readonly JsonObject[], more: JsonObject): void {
    const at = this.#time(message);
    const { directory } = this.#origin;
    const tokens = objectField(more, "tokens") ?? NO_TOKENS;
    const reason = extractName(more, "finish") ?? "stop";
    const info = {
      id: this.#ids.next("msg", at),
      role: "assistant",
      time: { created: at, completed: at },
      parentID: this.#prompt ?? null,
      ...this.#model,
      mode: AGENT,
      agent: AGENT,
      path: { cwd: directory, root: directory },
      cost: 0,
      tokens,
      ...more,
    };
    this.#push(info, [{ type: "step-start" }, ...parts, { type: "step-finish", reason, cost: 0, tokens }]);
  }

  #push(info: JsonObject & { readonly id: string }, parts: readonly JsonObject[]): void {
    const { id: sessionID } = this.#origin;
    const named = (part: JsonObject): JsonObject => ({
      ...part,
      id: this.#ids.next("prt", this.at),
      sessionID,
      messageID: info.id,
    });
    this.#messages.push({
      info: { ...info, sessionID },
      parts: parts.map((part) => {
        const state = objectField(part, "state");
        const files = state && arrayField(state, "attachments");
        if (state === undefined || files === undefined) return named(part);
        // Files in a result have ids like parts.
        const attachments = files.map((file) => named(objectField({ file }, "file") ?? {}));
        return named({ ...part, state: { ...state, attachments } });
      }),
    });
  }

  #answer(call: CallPart): Answered | undefined {
    const answered = this.#results.get(call.call_id ?? "");
    if (answered === undefined || this.#answered.has(answered.part.call_id ?? "")) return undefined;
    this.#answered.add(answered.part.call_id ?? "");
    return answered;
  }

  #time({ timestamp }: Message): number {
    this.at = Math.max(this.at, millis(timestamp));
    return this.at;
  }

  #countLost(parts: readonly Part[]): void {
    const { losses } = this.#origin;
    for (const part of parts) {
      if (part.type === "tool_approval_request" || part.type === "tool_approval_response")
        losses.add(part.type, "opencode keeps no approvals");
      if (part.type === "tool_result" && !this.#answered.has(part.call_id ?? ""))
        losses.add("tool result", "the call that it answers is not recorded");
    }
  }
}

const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

/** A compaction, which some clients keep in a turn and others as a record of its own. */
function summaryOf(message: Message, parts: readonly Part[]): string | undefined {
  if (message.role === "user") return compactionSummary(parts);
  if (message.role !== "system" || message.content === "") return undefined;
  const compaction = objectField(message.options, "pond")?.["compaction"];
  return compaction === true || compaction === "summary" ? message.content : undefined;
}

/** The first result of each call. */
function resultsByCall(messages: readonly MessageWithParts[]): ReadonlyMap<string, Answered> {
  const results = new Map<string, Answered>();
  for (const { message, parts } of messages)
    for (const part of parts)
      if (part.type === "tool_result" && part.call_id !== undefined && !results.has(part.call_id))
        results.set(part.call_id, { part, at: millis(message.timestamp) });
  return results;
}

/** Which model wrote a response, as opencode names it; it goes on with the last one unless told otherwise. */
function modelOf({ options }: Message): JsonObject | undefined {
  for (const providerID of ["anthropic", "openai"]) {
    const modelID = extractName(objectField(options, providerID) ?? {}, "model");
    if (modelID !== undefined) return { providerID, modelID };
  }
  const record = objectField(objectField(options, "source") ?? {}, "record") ?? {};
  const message = objectField(record, "message") ?? {};
  const providerID = extractName(message, "provider");
  const modelID = extractName(message, "model");
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID };
}

function tokensOf({ options }: Message): JsonObject {
  const usage = objectField(objectField(options, "anthropic") ?? {}, "usage") ?? {};
  const count = (name: string): number => integerField(usage, name) ?? 0;
  return {
    input: count("input_tokens"),
    output: count("output_tokens"),
    reasoning: 0,
    cache: { read: count("cache_read_input_tokens"), write: count("cache_creation_input_tokens") },
  };
}

function millis(timestamp: number): number {
  return Math.max(0, Math.floor(timestamp / 1000));
}
