/**
 * Records of a Claude Code log to canonical messages (docs/adapters/claude-code.md#records). A turn gives a user,
 * assistant or tool message with parts; everything else a system message that carries the record. Typed values are
 * taken out of the record, what is left over goes to `options.source.record`.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, PartType, Role, Timestamp } from "../../../model/index.ts";
import type { FactsDraft, TitleFact } from "../../../model/derived/index.ts";
import { isAllowed } from "../../../model/events/index.ts";
import { timestampFromMicros } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type {
  LogRecord,
  MessageDraft,
  PartDraft,
  PrefixFormat,
  RecordId,
  SessionLog,
} from "../../kit/session/index.ts";
import {
  arrayField,
  extractName,
  extractString,
  extractTimestamp,
  field,
  isCanonicalTimestamp,
  integerField,
  isEmpty,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { DigestMap, keptValue, textParts } from "../../kit/session/index.ts";
import { optional } from "../../../base/optional.ts";
import type { BlockContext } from "./blocks.ts";
import { partsOfBlock } from "./blocks.ts";
import { ADAPTER } from "../layout.ts";
import type { Setting, TextSource } from "./provenance.ts";
import { authorFact, spansOf, textSource } from "./provenance.ts";

/** Of `RecordMapper.state`: the version is raised whenever the same records would leave another state. */
export const PREFIX_FORMAT: PrefixFormat = { adapter: ADAPTER, version: 1 };

/** Where each kind of record keeps a title, and how it ranks: what a person chose wins. */
const TITLES: ReadonlyMap<string, { readonly field: string; readonly rank: number }> = new Map([
  ["custom-title", { field: "customTitle", rank: 30 }],
  ["ai-title", { field: "aiTitle", rank: 20 }],
  ["summary", { field: "summary", rank: 10 }],
]);

/** Whose turn a record is; results come in the user's. */
const SLOTS = ["user", "assistant"] as const;
type Slot = (typeof SLOTS)[number];

export class RecordMapper {
  readonly #log: SessionLog;
  readonly #setting: Setting;
  /** Names of tools by call. */
  readonly #tools: DigestMap<Extracted<string>>;
  /** When this session was first given a prompt, by its own queue, if that came before any turn. */
  #opened: Timestamp | undefined;
  /** The last turn of this session's own. */
  #last: string | undefined;

  /** `before` is what `state` said of the records before the first that is mapped. */
  constructor(log: SessionLog, setting: Setting, before?: JsonObject) {
    this.#log = log;
    this.#setting = setting;
    this.#tools = new DigestMap(before && { state: field(before, "tools"), valueOf: toolOf });
    if (before === undefined) return;
    const opened = integerField(before, "opened");
    this.#opened = opened === undefined ? undefined : keptValue(timestampFromMicros(opened));
    this.#last = extractString(before, "last");
  }

  state(): JsonObject {
    return {
      tools: this.#tools.state(),
      ...optional("opened", this.#opened),
      ...optional("last", this.#last),
    };
  }

  /** The entry of a record; `bytes` is its length in the source. */
  map(value: JsonValue, at: { readonly bytes: number; readonly hash: string }): LogRecord {
    if (!isJsonObject(value)) {
      const id = this.#log.identify("value", undefined, value);
      const options = withFacts({ source: { record: value } }, { id: "derived" });
      return { id, ...at, drafts: [{ role: "system", options, parts: [] }], whole: () => value };
    }
    const envelope = new Envelope(value, this.#log);
    const drafts = this.#drafts(value, envelope);
    return { id: envelope.id, timestamp: envelope.timestamp, ...at, drafts, whole: () => value };
  }

  #drafts(record: JsonObject, envelope: Envelope): readonly MessageDraft[] {
    const type = extractString(record, "type");
    const message = objectField(record, "message");
    const slot = SLOTS.find((name) => name === type);
    if (slot !== undefined && message !== undefined) return this.#turn(record, { slot, message, envelope });
    const prompt = type === "attachment" ? queuedPrompt(record) : undefined;
    if (prompt !== undefined) return this.#queued(record, prompt, envelope);
    if (type === "queue-operation" && this.#last === undefined) this.#opened ??= envelope.timestamp;
    return [carrier(record, envelope, this.#last)];
  }

  #turn(
    record: JsonObject,
    turn: { readonly slot: Slot; readonly message: JsonObject; readonly envelope: Envelope },
  ): readonly MessageDraft[] {
    const { slot, message, envelope } = turn;
    this.#markReplay(record, envelope);
    // An older subagent inside its parent's log: its turns are no step of the parent's own way.
    const isAside = !this.#setting.isChild && field(record, "isSidechain") === true;
    if (isAside) envelope.facts.aside = true;
    else this.#last = envelope.id.text;
    const hasRole = extractString(message, "role") === slot;
    if (hasRole) envelope.take("type");
    envelope.take("message");
    const taken = new Set<string>(hasRole ? ["role"] : []);
    const id = slot === "assistant" ? extractName(message, "id") : undefined;
    if (id !== undefined) {
      taken.add("id");
      envelope.facts.turn = id;
    }
    if (field(record, "isCompactSummary") === true) envelope.facts.compaction = "summary";
    const context =
      slot === "user"
        ? this.#userContext(textSource(record, this.#setting))
        : this.#assistantContext(assistantKind(record, message));
    const mapped = mapContent(message, "content", { slot, ...context });
    if (mapped.isTaken) taken.add("content");
    const rest = without(message, taken);
    const source = { record: envelope.rest(), ...mapped.form };
    const options = isEmpty(rest) ? { source } : { source, anthropic: rest };
    return draftsOf(slot, mapped, withFacts(options, envelope.facts));
  }

  /** A prompt typed while the agent was at work: often the only record of it. */
  #queued(record: JsonObject, attachment: JsonObject, envelope: Envelope): readonly MessageDraft[] {
    this.#markReplay(record, envelope);
    const context = this.#userContext(textSource(record, this.#setting, attachment));
    const mapped = mapContent(attachment, "prompt", { slot: "user", ...context });
    envelope.take("attachment");
    const rest = { ...envelope.rest(), attachment: without(attachment, PROMPT) };
    return draftsOf("user", mapped, withFacts({ source: { record: rest, ...mapped.form } }, envelope.facts));
  }

  #userContext(source: TextSource): BlockContext {
    const { whole } = source;
    const facts = { ...optional("injected", whole), ...authorFact(whole, source) };
    return { spans: (text) => spansOf(text, source), facts, tools: this.#tools };
  }

  #assistantContext(injected: string | undefined): BlockContext {
    const facts = optional("injected", injected);
    return { spans: (text) => [{ start: 0, end: text.length, ...facts }], facts, tools: this.#tools };
  }

  /**
   * Forks and older resumes copy the history of another session, uuids included. The record says so itself, or its
   * instant does: it lies before the first prompt that this session was given.
   */
  #markReplay(record: JsonObject, envelope: Envelope): void {
    const origin = objectField(record, "forkedFrom");
    const session_id = origin === undefined ? undefined : extractName(origin, "sessionId");
    const message_id = origin === undefined ? undefined : extractName(origin, "messageUuid");
    if (origin !== undefined && session_id !== undefined && message_id !== undefined) {
      envelope.facts.replays = { session_id, message_id };
      if (Object.keys(origin).length === 2) envelope.take("forkedFrom");
      return;
    }
    const { timestamp } = envelope;
    if (timestamp === undefined || this.#opened === undefined) return;
    if (timestamp < this.#opened) envelope.facts.replays = true;
  }
}

const toolOf = (group: JsonObject): Extracted<string> | undefined => extractString(group, "value");

interface Mapped {
  readonly parts: readonly PartDraft[];
  /** What the parts do not say of the content, for `options.source`: its form, and blocks with their position. */
  readonly form: JsonObject;
  /** True when `parts` and `form` hold the content whole. */
  readonly isTaken: boolean;
}

const PROMPT = new Set(["prompt"]);

/** The fields that every record may have, what was taken of them, and the facts pond adds. */
class Envelope {
  readonly id: RecordId;
  readonly timestamp: Timestamp | undefined;
  readonly facts: FactsDraft = {};
  readonly #record: JsonObject;
  readonly #log: SessionLog;
  readonly #taken = new Set<string>();

  constructor(record: JsonObject, log: SessionLog) {
    this.#record = record;
    this.#log = log;
    const uuid = extractName(record, "uuid");
    // Kept also where no record has that id yet, or ever: records are not always written in the order of the chain.
    const parent = field(record, "parentUuid");
    if (parent === null || typeof parent === "string") {
      this.facts.parent = parent;
      this.take("parentUuid");
    }
    this.id = log.identify(extractName(record, "type") ?? "record", uuid, record);
    if (this.id.isSource) this.take("uuid");
    else if (uuid === undefined) this.facts.id = "derived";
    this.timestamp = extractTimestamp(record, "timestamp");
    if (this.timestamp !== undefined && isCanonicalTimestamp(field(record, "timestamp"), this.timestamp))
      this.take("timestamp");
  }

  take(name: string): void {
    this.#taken.add(name);
  }

  keep(name: string): void {
    this.#taken.delete(name);
  }

  /** True when an earlier record of the log has this id. */
  isOfThisLog(uuid: string | undefined): boolean {
    return uuid !== undefined && this.#log.has(uuid);
  }

  rest(): JsonObject {
    return without(this.#record, this.#taken);
  }
}

/** The content of a turn: a text, or an array of blocks; anything else stays where it is. */
function mapContent(
  holder: JsonObject,
  name: string,
  context: BlockContext & { readonly slot: Slot },
): Mapped {
  const text = extractString(holder, name);
  if (text !== undefined)
    return { parts: textParts(text, context.spans(text)), form: { content: "string" }, isTaken: true };
  const content = arrayField(holder, name);
  if (content === undefined) {
    const isAbsent = field(holder, name) === undefined;
    return { parts: [], form: isAbsent ? { content: "absent" } : {}, isTaken: false };
  }
  const parts: PartDraft[] = [];
  const unmapped: JsonValue[] = [];
  for (const [index, block] of content.entries()) {
    const drafts = partsOfBlock(block, context);
    const type = drafts?.[0]?.type;
    if (drafts !== undefined && type !== undefined && fits(context.slot, type)) parts.push(...drafts);
    else unmapped.push([index, block]);
  }
  return { parts, form: unmapped.length === 0 ? {} : { blocks: unmapped }, isTaken: true };
}

/** Results stand in the user's slot. */
function fits(slot: Slot, type: PartType): boolean {
  return isAllowed(slot, type) || (slot === "user" && isAllowed("tool", type));
}

/** One message for each run of parts that a role may hold: a user record may hold results and text. */
function draftsOf(slot: Slot, mapped: Mapped, options: JsonObject): readonly MessageDraft[] {
  if (slot === "assistant") return [{ role: "assistant", options, parts: mapped.parts }];
  const runs: { role: Role; parts: PartDraft[] }[] = [];
  for (const part of mapped.parts) {
    const role = isAllowed("tool", part.type) ? "tool" : "user";
    const last = runs.at(-1);
    if (last?.role === role) last.parts.push(part);
    else runs.push({ role, parts: [part] });
  }
  if (runs.length === 0) return [{ role: "user", options, parts: [] }];
  return runs.map((run, index) => ({ ...run, options: index === 0 ? options : {} }));
}

/** Messages that the client made up itself, such as the report of a failed request. */
function assistantKind(record: JsonObject, message: JsonObject): string | undefined {
  const isSynthetic =
    field(record, "isApiErrorMessage") === true || extractString(message, "model") === "<synthetic>";
  return isSynthetic ? "synthetic" : undefined;
}

/** The attachment of a queued prompt that a person typed; notifications are queued the same way. */
function queuedPrompt(record: JsonObject): JsonObject | undefined {
  const attachment = objectField(record, "attachment");
  if (attachment === undefined || extractString(attachment, "type") !== "queued_command") return undefined;
  if (extractString(attachment, "commandMode") !== "prompt") return undefined;
  const prompt = field(attachment, "prompt");
  return typeof prompt === "string" || Array.isArray(prompt) ? attachment : undefined;
}

function carrier(record: JsonObject, envelope: Envelope, last: string | undefined): MessageDraft {
  const type = extractString(record, "type");
  const content = type === "system" ? extractName(record, "content") : undefined;
  if (content !== undefined) envelope.take("content");
  const subtype = type === "system" ? extractString(record, "subtype") : undefined;
  if (subtype === "compact_boundary") markBoundary(record, envelope, last);
  if (subtype === "microcompact_boundary") envelope.facts.compaction = "micro";
  const title = titleOf(record, type, envelope);
  if (title !== undefined) envelope.facts.title = title;
  return {
    role: "system",
    ...(content === undefined ? {} : { content }),
    options: withFacts({ source: { record: envelope.rest() } }, envelope.facts),
    parts: [],
  };
}

/**
 * A compaction starts a new tree that goes on where the old one ended: for readers it is one way. Where the record
 * names a message that is not in this log, that is the last turn before it.
 */
function markBoundary(record: JsonObject, envelope: Envelope, last: string | undefined): void {
  envelope.facts.compaction = "boundary";
  const logical = extractName(record, "logicalParentUuid");
  if (logical === undefined || field(record, "parentUuid") !== null) return;
  const isKnown = envelope.isOfThisLog(logical);
  const before = isKnown ? logical : last;
  if (before === undefined) return;
  envelope.facts.parent = before;
  envelope.keep("parentUuid");
  if (isKnown) envelope.take("logicalParentUuid");
}

function titleOf(record: JsonObject, type: string | undefined, envelope: Envelope): TitleFact | undefined {
  const title = type === undefined ? undefined : TITLES.get(type);
  if (title === undefined || extractName(record, title.field) === undefined) return undefined;
  // A summary names the session of its leaf, which in older versions is often another one.
  if (type === "summary" && !envelope.isOfThisLog(extractName(record, "leafUuid"))) return undefined;
  return { at: `/source/record/${title.field}`, rank: title.rank };
}
