/**
 * A session of any client as one that pi opens and resumes (spec.md#adapter-restore): a header that says where it
 * came from and one chain of entries. Every session of the lineage is a file of its own, as pi links no subagents.
 */
import { optionWords } from "../../../base/shell.ts";
import { PondError } from "../../../base/errors.ts";
import { sentence } from "../../../base/sentence.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part, Session, Timestamp } from "../../../model/index.ts";
import { brandOf, recordedTitle } from "../../../model/derived/index.ts";
import { formatTimestamp, timestampFromMillis } from "../../../model/index.ts";
import type { CallPart, History } from "../../kit/foreign/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, RestoredFile, RestoredLog, SerializeOptions } from "../../kit/restore/index.ts";
import {
  authorOf,
  CallResults,
  compactionSummary,
  countSystem,
  handedOver,
  historyOf,
  injectedKind,
  LossReport,
  standInPrompt,
  usageOf,
} from "../../kit/foreign/index.ts";
import { objectField } from "../../kit/extract/index.ts";
import { uuidFrom, valueHash } from "../../kit/files/index.ts";
import { assistantBlocks, resultFields, userBlocks } from "./foreign-content.ts";
import { RESTORED_FROM } from "../../kit/session/index.ts";
import { fileNameFor, folderFor } from "../layout.ts";

export function serializeForeign(lineage: Lineage, options: SerializeOptions): Restored {
  const losses = new LossReport();
  const logs: RestoredLog[] = [];
  const files = filesOf(lineage, { options, losses, logs });
  const { session } = lineage.state;
  const [first] = files;
  // pi itself writes no file before the model has answered.
  if (first?.kind !== "jsonl" || !first.records.some(isAnswer))
    throw new PondError(
      "validation_failed",
      `session ${session.id} contains no answer that pi could continue from`,
      {
        reason: "unsupported",
        hint: sentence`read it with ${{ do: "get" }}`,
      },
    );
  const id = uuidOf(session.id);
  const directory = options.mapPath(session.project);
  const resume = {
    id,
    directory,
    words: ["pi", ...optionWords("--session", id)],
    byPath: ["pi", "--session"],
  };
  return { fidelity: "foreign", files, logs, losses: losses.list(), resume };
}

interface Target {
  readonly options: SerializeOptions;
  readonly losses: LossReport;
  readonly logs: RestoredLog[];
  readonly parent?: History;
}

function filesOf({ state, children }: Lineage, target: Target): RestoredFile[] {
  const { session } = state;
  const { options, losses, logs } = target;
  const history = historyOf(state, { parent: target.parent, losses, context: target.options.context });
  const id = uuidOf(session.id);
  const directory = options.mapPath(session.project);
  const header = {
    type: "session",
    version: 3,
    id,
    timestamp: formatTimestamp(instantAfter(session, history.messages)),
    cwd: directory,
    metadata: { [RESTORED_FROM]: { session_id: session.id, source_agent: session.source_agent } },
  };
  const path = `${folderFor(directory)}/${fileNameFor(formatTimestamp(session.created_at), id)}`;
  const records = [header, ...new Transcript(state, losses).of(history.messages)];
  const handed = handedOver(history.messages, { lost: losses.takeParts() });
  logs.push({ path, session: session.id, handedOver: handed });
  for (const _ of children)
    losses.add("link to a parent session", "pi links forks by absolute path only, and subagents not at all");
  return [
    { kind: "jsonl", path, records },
    ...children.flatMap((child) => filesOf(child, { ...target, parent: history })),
  ];
}

/**
 * Later than every entry, so that a reader knows them for copies. Not the time of the restore: the same session gives the
 * same file each time, and a restore that was broken off can be completed.
 */
function instantAfter(session: Session, messages: readonly MessageWithParts[]): Timestamp {
  let last: number = session.created_at;
  // What is no turn is not written, and may have the time of a file.
  for (const { message } of messages) if (message.role !== "system") last = Math.max(last, message.timestamp);
  return timestampFromMillis(Math.floor(last / 1000) + 1) ?? session.created_at;
}

function isAnswer(record: unknown): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made above
  const message = objectField(record as JsonObject, "message");
  return message?.["role"] === "assistant";
}

type Message = MessageWithParts["message"];

/** Writes the entries of one log: a chain in which each names the one before it. */
class Transcript {
  readonly #session: Session;
  readonly #title: string | undefined;
  readonly #losses: LossReport;
  readonly #entries: Record<string, JsonValue>[] = [];
  readonly #used = new Set<string>();
  #results = new CallResults([]);
  /** The response that is being written: what it said and called so far. */
  #response: { first: Message; last: Message; readonly parts: Part[] } | undefined;

  constructor({ session, messages }: SessionState, losses: LossReport) {
    this.#session = session;
    // Of all that the source recorded: a name may have been given on a branch that was left.
    this.#title = recordedTitle(messages.map(({ message }) => message));
    this.#losses = losses;
  }

  of(messages: readonly MessageWithParts[]): readonly JsonObject[] {
    if (this.#title !== undefined)
      this.#add(this.#session.created_at, "title", { type: "session_info", name: this.#title });
    this.#results = new CallResults(messages);
    for (const entry of messages) this.#see(entry);
    this.#endResponse();
    this.#countLost(messages);
    for (const [index, entry] of this.#entries.entries())
      // What the summary does not stand for begins right behind it.
      if (entry["type"] === "compaction")
        entry["firstKeptEntryId"] = this.#entries[index + 1]?.["id"] ?? entry["id"] ?? null;
    return this.#entries;
  }

  #see({ message, parts }: MessageWithParts): void {
    if (message.role === "tool") return this.#endResponse();
    if (message.role === "system") return countSystem(message, this.#losses);
    const summary = compactionSummary(parts, this.#losses);
    if (message.role === "assistant" && summary === undefined) {
      this.#response ??= { first: message, last: message, parts: [] };
      this.#response.last = message;
      this.#response.parts.push(...parts);
      return;
    }
    this.#endResponse();
    if (summary !== undefined)
      return this.#add(message.timestamp, message.id, {
        type: "compaction",
        summary,
        firstKeptEntryId: null,
        tokensBefore: 0,
      });
    this.#addPrompt(message, parts);
  }

  #addPrompt(message: Message, parts: readonly Part[]): void {
    const content = userBlocks(parts, this.#losses);
    if (content.length === 0) return;
    const kinds = parts.map(injectedKind);
    const kind = kinds.includes(undefined) ? undefined : kinds[0];
    if (kind === undefined) this.#addMessage(message, { role: "user", content });
    else
      this.#add(message.timestamp, message.id, {
        type: "custom_message",
        customType: `pond.${kind}`,
        content,
        display: true,
      });
  }

  /** The response, then a result for each of its calls. */
  #endResponse(): void {
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) return;
    const { first, last, parts } = response;
    const content = assistantBlocks(parts, this.#losses);
    if (content.length === 0) return;
    const calls = parts.filter((part) => part.type === "tool_call" && part.provider_executed !== true);
    // Providers want a person's turn first; what stands in for a missing one says what it is.
    if (!this.#entries.some(({ type }) => type !== "session_info")) {
      const text = standInPrompt(this.#losses);
      this.#addMessage(first, { role: "user", content: [{ type: "text", text }] }, "prompt");
    }
    this.#addMessage(last, {
      role: "assistant",
      content,
      ...modelOf(last, this.#session),
      usage: usageFields(last),
      stopReason: calls.length > 0 ? "toolUse" : "stop",
    });
    for (const call of calls) if (call.type === "tool_call") this.#addResult(call);
  }

  /** A call without a result stays so: pi answers it itself when it goes on. */
  #addResult(call: CallPart): void {
    const found = this.#results.take(call);
    if (found !== undefined) this.#addMessage(found.message, resultFields(call, found.part), call.id);
  }

  #addMessage({ timestamp, id }: Message, body: JsonObject, more = ""): void {
    const message = { ...body, timestamp: Math.floor(timestamp / 1000) };
    this.#add(timestamp, `${id}\n${more}`, { type: "message", message });
  }

  #add(timestamp: Timestamp, name: string, body: JsonObject): void {
    const { type, ...rest } = body;
    const parentId = this.#entries.at(-1)?.["id"] ?? null;
    const id = this.#idFor(name);
    this.#entries.push({ type: type ?? null, id, parentId, timestamp: formatTimestamp(timestamp), ...rest });
  }

  /** Eight hex digits, unique in the file, the same for the same session. */
  #idFor(name: string): string {
    const hash = valueHash([this.#session.id, name, this.#entries.length]);
    for (let at = 0; at + 8 <= hash.length; at += 1) {
      const id = hash.slice(at, at + 8);
      if (this.#used.has(id)) continue;
      this.#used.add(id);
      return id;
    }
    return hash;
  }

  #countLost(messages: readonly MessageWithParts[]): void {
    for (const { type } of messages.flatMap(({ parts }) => parts))
      if (type === "tool_approval_request" || type === "tool_approval_response")
        this.#losses.add("approval", "pi keeps none");
    for (const { message, part } of this.#results.rest())
      if (message.role === "assistant")
        this.#losses.add("tool call that the provider ran", "pi records none", part);
      else this.#losses.add("tool result without its call", "no client accepts one", part);
  }
}

/** The interface by which pi calls a provider, where there is no doubt about it. */
const APIS: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic-messages"],
  ["openai", "openai-responses"],
]);

/** Who wrote a response, as pi names it: it picks its model by the last one, and its own default if it has none. */
function modelOf(message: Message, { source_agent }: Session): JsonObject {
  const { provider, model } = authorOf(message) ?? { provider: brandOf(source_agent), model: "unknown" };
  return { api: APIS.get(provider) ?? "unknown", provider, model };
}

/** What the response used: pi measures the context by it. */
function usageFields(message: Message): JsonObject {
  const usage = usageOf(message);
  return {
    ...usage,
    totalTokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

/** The same name gives the same id, which looks like the client's own. */
function uuidOf(name: string): string {
  return uuidFrom(`pi\n${name}`);
}
