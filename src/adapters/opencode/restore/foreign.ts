/**
 * A session of any client as one that opencode imports and resumes (spec.md#adapter-restore): ids of its own kind, a
 * prompt or an answer a message, each answer under the prompt before it. Every session of the lineage is an export.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part, Session, SessionId } from "../../../model/index.ts";
import { brandOf, recordedTitle } from "../../../model/derived/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import type { CallPart, HandedOver, History, LossReport } from "../../kit/foreign/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { SerializeOptions } from "../../kit/restore/index.ts";
import { arrayField, extractName, objectField } from "../../kit/extract/index.ts";
import {
  authorOf,
  CallResults,
  compactionSummary,
  countSystem,
  handedOver,
  historyOf,
  standInPrompt,
  usageOf,
} from "../../kit/foreign/index.ts";
import type { Answered } from "./foreign-content.ts";
import { answerParts, promptParts } from "./foreign-content.ts";
import { IdSequence, sessionIdFor } from "./foreign-ids.ts";
import { RESTORED_FROM } from "../../kit/session/index.ts";

/** The client whose format is written: the one that test/clients opens it with. */
const VERSION = "1.18.33";

const AGENT = "build";

export interface ForeignExport {
  readonly id: string;
  readonly session: SessionId;
  readonly value: JsonObject;
  readonly handedOver: HandedOver;
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
  const history = historyOf(state, { parent: parent?.history, losses, context: options.context });
  const id = sessionIdFor(session.id, millis(session.created_at));
  const directory = options.mapPath(session.project);
  const writer = new Writer({ session, id, directory, losses });
  const messages = writer.write(history.messages);
  const handed = handedOver(history.messages, { lost: losses.takeParts() });
  const until = Math.max(writer.at, millis(session.created_at));
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
        repeats_until: until,
      },
    },
    time: { created: millis(session.created_at), updated: until },
  };
  const rest = children.flatMap((child) => exportsOf(child, { ...target, parent: { id, history } }));
  return [{ id, session: session.id, value: { info, messages }, handedOver: handed }, ...rest];
}

/** A title that the client would make up itself is replaced by it when the session goes on. */
function titleOf(messages: readonly MessageWithParts[], session: Session): string {
  const title = recordedTitle(messages.map(({ message }) => message));
  return title ?? `New session - ${formatTimestamp(session.created_at)}`;
}

interface SourceSession {
  readonly session: Session;
  readonly id: string;
  readonly directory: string;
  readonly losses: LossReport;
}

type Message = MessageWithParts["message"];

/** Writes the messages of one session in order; times never run back, because the client sorts by them. */
class Writer {
  readonly #origin: SourceSession;
  readonly #ids: IdSequence;
  readonly #messages: JsonValue[] = [];
  #results = new CallResults([]);
  #prompt: string | undefined;
  #model: JsonObject;
  /** The response that is being written: what it said and called so far. */
  #response: { readonly first: Message; readonly parts: Part[]; last: Message } | undefined;
  /** Milliseconds since 1970 of the last message. */
  at = 0;

  constructor(origin: SourceSession) {
    this.#origin = origin;
    this.#ids = new IdSequence(origin.id);
    this.#model = { providerID: brandOf(origin.session.source_agent), modelID: "unknown" };
  }

  write(messages: readonly MessageWithParts[]): readonly JsonValue[] {
    this.#results = new CallResults(messages);
    this.#model =
      messages.map(({ message }) => modelOf(message)).find((model) => model !== undefined) ?? this.#model;
    for (const entry of messages) this.#see(entry);
    this.#endResponse();
    this.#countLost(messages);
    return this.#messages;
  }

  #see({ message, parts }: MessageWithParts): void {
    if (message.role === "tool") return this.#endResponse();
    if (message.role === "system") return countSystem(message, this.#origin.losses);
    const summary = compactionSummary(parts, this.#origin.losses);
    if (summary !== undefined) {
      this.#endResponse();
      return this.#addCompaction(message, summary);
    }
    if (message.role === "assistant") {
      this.#response ??= { first: message, last: message, parts: [] };
      this.#response.last = message;
      this.#response.parts.push(...parts);
    } else {
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
    if (this.#prompt === undefined) {
      const text = standInPrompt(this.#origin.losses);
      this.#addPrompt(first, [{ type: "text", text, synthetic: true }]);
    }
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
    const found = this.#results.take(call);
    return found && { part: found.part, at: millis(found.message.timestamp) };
  }

  #time({ timestamp }: Message): number {
    this.at = Math.max(this.at, millis(timestamp));
    return this.at;
  }

  #countLost(messages: readonly MessageWithParts[]): void {
    const { losses } = this.#origin;
    for (const { type } of messages.flatMap(({ parts }) => parts))
      if (type === "tool_approval_request" || type === "tool_approval_response")
        losses.add("approval", "opencode keeps none");
    for (const { part } of this.#results.rest())
      losses.add("tool result without its call", "no client accepts one", part);
  }
}

const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

/** Which model wrote a response, as opencode names it; it goes on with the last one unless told otherwise. */
function modelOf(message: Message): JsonObject | undefined {
  const author = authorOf(message);
  return author && { providerID: author.provider, modelID: author.model };
}

function tokensOf(message: Message): JsonObject {
  const { input, output, cacheRead, cacheWrite } = usageOf(message);
  return { input, output, reasoning: 0, cache: { read: cacheRead, write: cacheWrite } };
}

function millis(timestamp: number): number {
  return Math.max(0, Math.floor(timestamp / 1000));
}
