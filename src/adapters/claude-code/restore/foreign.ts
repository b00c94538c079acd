/**
 * A session of any client as one that Claude Code opens and resumes (spec.md#adapter-restore): its ids, its record
 * envelope, one chain of turns in which every call is answered, subagents in the session's own folder.
 */
import { optionWords } from "../../../base/shell.ts";
import { PondError } from "../../../base/errors.ts";
import { sentence } from "../../../base/sentence.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part, Timestamp } from "../../../model/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { pondFacts, recordedTitle, subagentOf } from "../../../model/derived/index.ts";
import type { CallPart, History, HistoryOptions } from "../../kit/foreign/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, RestoredFile, RestoredLog, SerializeOptions } from "../../kit/restore/index.ts";
import {
  authorOf,
  CallResults,
  compactionSummary,
  countSystem,
  handedOver,
  historyOf,
  LossReport,
  standInPrompt,
} from "../../kit/foreign/index.ts";
import { uuidFrom, valueHash } from "../../kit/files/index.ts";
import { assistantBlocks, plain, resultBlock, ToolIds, userBlocks } from "./foreign-content.ts";
import { joinPath } from "../../kit/files/path-names.ts";
import { slugOf } from "../layout.ts";

/** The version whose format is written: the one that test/clients opens it with. */
const VERSION = "2.1.197";

export function serializeForeign(lineage: Lineage, options: SerializeOptions): Restored {
  const losses = new LossReport();
  const files: RestoredFile[] = [];
  const logs: RestoredLog[] = [];
  addMain(lineage, { options, losses, files, logs });
  const { session } = lineage.state;
  if (files[0]?.kind !== "jsonl" || files[0].records.length === 0)
    throw new PondError(
      "validation_failed",
      `session ${session.id} contains no turn that Claude Code could open`,
      {
        reason: "unsupported",
        hint: sentence`read it with ${{ do: "get" }}`,
      },
    );
  const id = uuidOf(session.id);
  const directory = options.mapPath(session.project);
  return {
    fidelity: "foreign",
    files,
    logs,
    losses: losses.list(),
    resume: {
      id,
      directory,
      words: ["claude", ...optionWords("--resume", id)],
      byPath: ["claude", "--resume"],
    },
  };
}

interface Target {
  readonly options: SerializeOptions;
  readonly losses: LossReport;
  readonly files: RestoredFile[];
  readonly logs: RestoredLog[];
  /** Of the session above this one, if any. */
  readonly parent?: History;
}

const historyOptions = ({ parent, losses, options }: Target): HistoryOptions => ({
  parent,
  losses,
  context: options.context,
});

/** A session that stands on its own; its subagents go into its folder, whatever their depth. */
function addMain({ state, children }: Lineage, target: Target): void {
  const id = uuidOf(state.session.id);
  const directory = target.options.mapPath(state.session.project);
  const base = joinPath(slugOf(directory), id);
  const history = historyOf(state, historyOptions(target));
  addLog(state, history, {
    path: `${base}.jsonl`,
    envelope: { sessionId: id, cwd: directory },
    target,
  });
  for (const child of children) addChild(child, { ...target, sessionId: id, base, parent: history });
}

function addChild(
  lineage: Lineage,
  target: Target & { readonly sessionId: string; readonly base: string },
): void {
  const { session } = lineage.state;
  if (session.relation === "fork" || session.relation === "resume") return addMain(lineage, target);
  const agentId = `a${valueHash(session.id).slice(0, 16)}`;
  const envelope = {
    sessionId: target.sessionId,
    cwd: target.options.mapPath(session.project),
    agentId,
  };
  const path = `${target.base}/subagents/agent-${agentId}`;
  const history = historyOf(lineage.state, historyOptions(target));
  addLog(lineage.state, history, { path: `${path}.jsonl`, envelope, target });
  target.files.push({ kind: "json", path: `${path}.meta.json`, value: metaOf(lineage.state) });
  for (const child of lineage.children) addChild(child, { ...target, parent: history });
}

interface LogTarget {
  readonly path: string;
  readonly envelope: Envelope;
  readonly target: Target;
}

function addLog(state: SessionState, { messages }: History, { path, envelope, target }: LogTarget): void {
  const { losses, files, logs } = target;
  const records = new Transcript(envelope, losses).of(messages);
  const { session } = state;
  const title = titleOf(state);
  if (title !== undefined && envelope.agentId === undefined && records.length > 0)
    records.push({ type: "custom-title", customTitle: title, sessionId: envelope.sessionId });
  files.push({ kind: "jsonl", path, records });
  const lost = losses.takeParts();
  if (records.length > 0)
    logs.push({ path, session: session.id, handedOver: handedOver(messages, { lost }) });
}

/** Of all that the source recorded: a name may have been given on a branch that was left. */
const titleOf = ({ messages }: SessionState): string | undefined =>
  recordedTitle(messages.map(({ message }) => message));

function metaOf(state: SessionState): JsonObject {
  const { session } = state;
  const title = titleOf(state);
  const { call_id: call = "" } = pondFacts(session.options);
  return {
    agentType: subagentOf(session.source_agent) ?? session.source_agent,
    ...(title === undefined ? {} : { description: title }),
    ...(call === "" ? {} : { toolUseId: call }),
  };
}

interface Envelope {
  readonly sessionId: string;
  readonly cwd: string;
  /** For a subagent. */
  readonly agentId?: string;
}

type Message = MessageWithParts["message"];

interface Turn {
  readonly type: "user" | "assistant" | "system";
  /** Absent for a record without a message. */
  readonly content?: JsonValue;
  readonly answer?: JsonObject;
  readonly more?: JsonObject;
}

/** Writes the records of one log: a chain in which each names the one before it. */
class Transcript {
  readonly #envelope: Envelope;
  readonly #losses: LossReport;
  readonly #records: JsonObject[] = [];
  readonly #ids = new ToolIds();
  #results = new CallResults([]);
  /** The response that is being written: what it said and called so far. */
  #response:
    | { readonly first: Message; readonly blocks: JsonObject[]; readonly calls: CallPart[] }
    | undefined;
  #parent: string | null = null;
  #instant: Timestamp | undefined;

  constructor(envelope: Envelope, losses: LossReport) {
    this.#envelope = envelope;
    this.#losses = losses;
  }

  of(messages: readonly MessageWithParts[]): JsonObject[] {
    this.#results = new CallResults(messages);
    for (const entry of messages) this.#see(entry);
    this.#endResponse();
    for (const { part } of this.#results.rest())
      this.#losses.add("tool result without its call", "no client accepts one", part);
    return this.#records;
  }

  #see({ message, parts }: MessageWithParts): void {
    const summary = message.role === "system" ? undefined : compactionSummary(parts, this.#losses);
    if (summary !== undefined) return this.#addCompaction(message, summary);
    if (message.role === "assistant") {
      this.#response ??= { first: message, blocks: [], calls: [] };
      this.#response.blocks.push(...assistantBlocks(parts, this.#ids, this.#losses));
      this.#response.calls.push(...parts.filter((part) => part.type === "tool_call"));
      return;
    }
    if (message.role === "system") {
      return countSystem(message, this.#losses);
    }
    this.#endResponse();
    if (message.role === "tool") return this.#countOthers(parts);
    const content = userBlocks(parts, this.#losses);
    if (content.length === 0) return;
    // The client shows such a turn to its model alone.
    const isMeta = parts.every((part) => part.provenance === "injected");
    this.#add(message, { type: "user", content: plain(content), ...(isMeta ? { more: { isMeta } } : {}) });
  }

  /** As the client compacts: a boundary before which nothing is sent any more, then the summary. */
  #addCompaction(message: Message, summary: string): void {
    this.#endResponse();
    const before = this.#parent;
    this.#parent = null;
    this.#add(message, {
      type: "system",
      more: {
        subtype: "compact_boundary",
        content: "Conversation compacted",
        isMeta: false,
        level: "info",
        logicalParentUuid: before,
        compactMetadata: { trigger: "manual", preTokens: 0 },
      },
    });
    this.#add(message, {
      type: "user",
      content: summary,
      more: { isCompactSummary: true, isVisibleInTranscriptOnly: true },
    });
  }

  /** The response's records, one for each block, then a result for each of its calls. */
  #endResponse(): void {
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) return;
    const { first, blocks, calls } = response;
    const answer = {
      id: `msg_${valueHash([first.session_id, first.id]).slice(0, 24)}`,
      type: "message",
      model: authorOf(first)?.model ?? "unknown",
      stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 0,
      },
    };
    // The API wants a person's turn first; what stands in for a missing one says what it is.
    if (this.#records.length === 0 && blocks.length > 0)
      this.#add(first, { type: "user", content: standInPrompt(this.#losses) });
    for (const block of blocks) this.#add(first, { type: "assistant", content: [block], answer });
    for (const call of calls) {
      const found = this.#results.take(call);
      const content = [resultBlock(this.#ids.of(call), found?.part, this.#losses)];
      this.#add(found?.message ?? first, { type: "user", content });
    }
  }

  #add({ id, session_id, timestamp }: Message, { type, content, answer, more }: Turn): void {
    const { sessionId, cwd, agentId } = this.#envelope;
    const uuid = uuidOf(`${session_id}\n${id}\n${this.#records.length}`);
    // The client takes the newest record for the end of the log.
    if (this.#instant === undefined || timestamp > this.#instant) this.#instant = timestamp;
    this.#records.push({
      parentUuid: this.#parent,
      isSidechain: agentId !== undefined,
      ...(agentId === undefined ? {} : { agentId }),
      userType: "external",
      cwd,
      sessionId,
      version: VERSION,
      gitBranch: "",
      type,
      ...(content === undefined ? {} : { message: { ...answer, role: type, content } }),
      ...more,
      uuid,
      timestamp: formatTimestamp(this.#instant),
    });
    this.#parent = uuid;
  }

  #countOthers(parts: readonly Part[]): void {
    for (const part of parts)
      if (part.type !== "tool_result") this.#losses.add("approval", "Claude Code keeps none", part);
  }
}

/** The same name gives the same id, which looks like the client's own. */
function uuidOf(name: string): string {
  return uuidFrom(`claude-code\n${name}`);
}
