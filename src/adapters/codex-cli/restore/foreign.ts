/**
 * A session of any client as a rollout that Codex lists, opens and resumes (spec.md#adapter-restore): its ids, its
 * dated folder, items for the model, and beside what people and the agent said the events that its screen shows.
 */
import { argumentWords } from "../../../base/shell.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part, Timestamp } from "../../../model/index.ts";
import { formatTimestamp } from "../../../model/index.ts";
import { recordedTitle, subagentOf } from "../../../model/derived/index.ts";
import type { History } from "../../kit/foreign/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, RestoredFile, RestoredLog, SerializeOptions } from "../../kit/restore/index.ts";
import {
  callId,
  compactionSummary,
  countSystem,
  handedOver,
  historyOf,
  isAnswer,
  LossReport,
  loseFile,
  loseNote,
} from "../../kit/foreign/index.ts";
import { extractString } from "../../kit/extract/index.ts";
import { uuidFrom } from "../../kit/files/index.ts";
import { callItem, outputItem, userContent } from "./foreign-content.ts";
import { rolloutPath, TITLE_LOSS } from "../layout.ts";

/** The client whose format is written: the one that test/clients opens it with. */
const VERSION = "0.166.0";

export function serializeForeign(lineage: Lineage, options: SerializeOptions): Restored {
  const losses = new LossReport();
  const logs: RestoredLog[] = [];
  const files = filesOf(lineage, undefined, { options, losses, logs });
  const { session } = lineage.state;
  const id = threadIdOf(session.id);
  const directory = options.mapPath(session.project);
  const words = ["codex", "resume", ...argumentWords(id)];
  return { fidelity: "foreign", files, logs, losses: losses.list(), resume: { id, directory, words } };
}

interface Target {
  readonly options: SerializeOptions;
  readonly losses: LossReport;
  readonly logs: RestoredLog[];
}

interface Parent {
  readonly state: SessionState;
  readonly history: History;
}

function filesOf({ state, children }: Lineage, parent: Parent | undefined, target: Target): RestoredFile[] {
  const { session } = state;
  const history = historyOf(state, {
    parent: parent?.history,
    losses: target.losses,
    context: target.options.context,
  });
  const turns = new Rollout(target.losses).of(history.messages);
  if (recordedTitle(state.messages.map(({ message }) => message)) !== undefined)
    target.losses.add("title", TITLE_LOSS);
  const path = rolloutPath(threadIdOf(session.id), formatTimestamp(session.created_at));
  const records = [metaRecord(state, parent?.state, target), ...turns];
  const handed = handedOver(history.messages, { lost: target.losses.takeParts(), keepsFailures: false });
  target.logs.push({ path, session: session.id, handedOver: handed });
  const rest = children.flatMap((child) => filesOf(child, { state, history }, target));
  return [{ kind: "jsonl", path, records }, ...rest];
}

function metaRecord(state: SessionState, parent: SessionState | undefined, { options }: Target): JsonObject {
  const { session } = state;
  const id = threadIdOf(session.id);
  const timestamp = formatTimestamp(session.created_at);
  const payload = {
    session_id: id,
    id,
    timestamp,
    cwd: options.mapPath(session.project),
    originator: "pond",
    cli_version: VERSION,
    ...lineageFields(state, parent),
    history_mode: "legacy",
  };
  return { timestamp, type: "session_meta", payload };
}

function lineageFields({ session }: SessionState, parent: SessionState | undefined): JsonObject {
  if (parent === undefined) return { source: "cli", thread_source: "user" };
  const parentId = threadIdOf(parent.session.id);
  if (session.relation === "fork" || session.relation === "resume")
    return { source: "cli", thread_source: "user", forked_from_id: parentId };
  const spawn = {
    parent_thread_id: parentId,
    depth: 1,
    agent_path: null,
    agent_nickname: null,
    agent_role: subagentOf(session.source_agent) ?? null,
  };
  const source = { subagent: { thread_spawn: spawn } };
  return { source, thread_source: "subagent", parent_thread_id: parentId };
}

/** Writes the records of one session. */
class Rollout {
  readonly #losses: LossReport;
  readonly #records: JsonObject[] = [];
  /** Calls that have no output yet. */
  readonly #open = new Set<string>();

  constructor(losses: LossReport) {
    this.#losses = losses;
  }

  of(messages: readonly MessageWithParts[]): readonly JsonObject[] {
    for (const entry of messages) this.#add(entry);
    return this.#records;
  }

  #add({ message, parts }: MessageWithParts): void {
    const { role, timestamp } = message;
    if (role === "system") return countSystem(message, this.#losses);
    const summary = compactionSummary(parts, this.#losses);
    if (summary !== undefined) this.#push(timestamp, "compacted", compaction(summary));
    else if (role === "user") this.#addUser(parts, timestamp);
    else for (const part of parts) this.#addPart(part, timestamp);
  }

  /** What was typed is shown, too; what nobody typed is said to the model alone, in an item of its own. */
  #addUser(parts: readonly Part[], timestamp: Timestamp): void {
    for (const { blocks, isTyped } of userContent(parts, this.#losses)) {
      this.#push(timestamp, "response_item", { type: "message", role: "user", content: blocks });
      if (!isTyped) continue;
      const message = blocks.map((block) => extractString(block, "text") ?? "").join("");
      const images = blocks.flatMap((block) => block["image_url"] ?? []);
      const shown = { type: "user_message", message, images, local_images: [], text_elements: [] };
      this.#push(timestamp, "event_msg", shown);
    }
  }

  #addPart(part: Part, timestamp: Timestamp): void {
    switch (part.type) {
      case "text":
        return this.#addText(part, timestamp);
      case "reasoning":
        return this.#addThought(part, timestamp);
      case "tool_call":
        this.#open.add(callId(part));
        return this.#push(timestamp, "response_item", callItem(part));
      case "tool_result":
        return this.#addResult(part, timestamp);
      case "file":
        return loseFile(part, "Codex", this.#losses);
      case "tool_approval_request":
      case "tool_approval_response":
        return this.#losses.add("approval", "Codex keeps none", part);
    }
  }

  #addText(part: Extract<Part, { type: "text" }>, timestamp: Timestamp): void {
    if (part.text === undefined || part.text === "") return;
    if (!isAnswer(part)) return loseNote(part, this.#losses);
    const content = [{ type: "output_text", text: part.text }];
    this.#push(timestamp, "event_msg", { type: "agent_message", message: part.text });
    this.#push(timestamp, "response_item", { type: "message", role: "assistant", content });
  }

  /** Thoughts are signed or sealed for the model that had them: they are shown, not sent. */
  #addThought(part: Extract<Part, { type: "reasoning" }>, timestamp: Timestamp): void {
    this.#losses.add(
      "reasoning",
      "another model cannot verify it; its text is shown, but not sent to the model",
      part,
    );
    if (part.text === undefined || part.text === "") return;
    this.#push(timestamp, "event_msg", { type: "agent_reasoning", text: part.text });
  }

  #addResult(part: Extract<Part, { type: "tool_result" }>, timestamp: Timestamp): void {
    const { call_id } = part;
    if (call_id === undefined || !this.#open.delete(call_id))
      return this.#losses.add("tool result without its call", "no client accepts one", part);
    if (part.is_failure === true)
      this.#losses.addFailure("Codex keeps what a tool answered, and not that it failed", part);
    const item = outputItem(part, call_id);
    if (sizeOf(item) > LONGEST_SENT)
      this.#losses.addCut("middle of a long tool result", "Codex sends about 12,000 tokens of one", part);
    this.#push(timestamp, "response_item", item);
  }

  #push(timestamp: Timestamp, type: string, payload: JsonObject): void {
    this.#records.push({ timestamp: formatTimestamp(timestamp), type, payload });
  }
}

/**
 * Bytes of a result that Codex sends whole; of a longer one it cuts out the middle. Its models are set to 10,000 tokens, for which
 * it allows 12,000 of 4 bytes; a person may set more (`tool_output_token_limit`).
 */
const LONGEST_SENT = 48_000;

function sizeOf(item: JsonObject): number {
  const output = extractString(item, "output");
  return output === undefined ? 0 : Buffer.byteLength(output);
}

/** Without a history in place of the old one, Codex sends every prompt before it again: the first model had none of them. */
function compaction(summary: string): JsonObject {
  const content = [{ type: "input_text", text: summary }];
  return { message: summary, replacement_history: [{ type: "message", role: "user", content }] };
}

/** Threads are named by UUIDs; the same session gives the same one each time. */
function threadIdOf(id: string): string {
  return uuidFrom(["codex-cli", id]);
}
