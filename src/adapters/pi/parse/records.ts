/**
 * Records of a pi log to canonical messages (docs/adapters/pi.md#records). A turn gives a user, assistant or tool
 * message with parts; everything else a system message that carries the record. Typed values are taken out of the
 * record, what is left over goes to `options.source.record`.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Role, Timestamp } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type {
  LogRecord,
  MessageDraft,
  PartDraft,
  PrefixFormat,
  SessionLog,
  TextSpan,
} from "../../kit/session/index.ts";
import {
  arrayField,
  extractName,
  extractString,
  field,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { MessageIds, textParts } from "../../kit/session/index.ts";
import { mapBlocks, resultPart } from "./blocks.ts";
import { Envelope } from "./envelope.ts";
import type { HeadFinder } from "./head.ts";
import { isHeader } from "./head.ts";
import { ADAPTER } from "../layout.ts";
import { authorOf, spansOf } from "./provenance.ts";

/** Of `RecordMapper.state`: the version is raised whenever the same records would leave another state. */
export const PREFIX_FORMAT: PrefixFormat = { adapter: ADAPTER, version: 1 };

/** How the content of a turn becomes a message. */
interface Shape {
  readonly role: Exclude<Role, "system">;
  /** The kind of what an extension or the client wrote as a whole; absent for the conversation itself. */
  readonly injected?: string;
  /** Fields that hold the text, where it is not in `content`. */
  readonly texts?: readonly string[];
}

const EXTENSION: Shape = { role: "user", injected: "extension" };
const BRANCH: Shape = { role: "user", injected: "branch-summary", texts: ["summary"] };
const COMPACTION: Shape = { role: "user", injected: "compaction-summary", texts: ["summary"] };

/** Entries of type `message`, by the role that pi gives the message. */
const MESSAGES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["user", { role: "user" }],
  ["assistant", { role: "assistant" }],
  ["toolResult", { role: "tool" }],
  ["bashExecution", { role: "user", injected: "shell", texts: ["command", "output"] }],
  ["custom", EXTENSION],
  ["hookMessage", EXTENSION],
  ["branchSummary", BRANCH],
  ["compactionSummary", COMPACTION],
]);

/** Other entries that stand in the conversation, by type. */
const ENTRIES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["custom_message", EXTENSION],
  ["branch_summary", BRANCH],
  ["compaction", COMPACTION],
]);

/** A name that a person gave. */
const TITLE_RANK = 30;

/** What is known of a record beside its value. */
interface InSource {
  readonly bytes: number;
  readonly hash: string;
}

type Head = Pick<HeadFinder, "parent" | "isRestored" | "instant">;

export class RecordMapper {
  readonly #log: SessionLog;
  readonly #head: Head;
  readonly #messages: MessageIds;
  readonly #before = { messageOf: (id: string): string | undefined => this.#messages.get(id) };

  /** `before` is what `state` said of the records before the first that is mapped. */
  constructor(log: SessionLog, head: Head, before?: JsonObject) {
    this.#log = log;
    this.#head = head;
    this.#messages = new MessageIds(before && { state: field(before, "messages") });
  }

  state(): JsonObject {
    return { messages: this.#messages.state() };
  }

  /** The entry of a record; `bytes` is its length in the source. */
  map(value: JsonValue, at: InSource): LogRecord {
    if (isJsonObject(value)) return this.#entry(value, at);
    if (isTransaction(value)) return this.#transaction(value, at);
    const id = this.#log.identify("value", undefined, value);
    const options = withFacts({ source: { record: value } }, { id: "derived" });
    return { id, ...at, drafts: [{ role: "system", options, parts: [] }], whole: () => value };
  }

  #entry(record: JsonObject, at: InSource): LogRecord {
    const sourceId = extractName(record, "id");
    const id = this.#log.identify(typeOf(record), sourceId, record);
    const envelope = new Envelope(record, this.#before, id);
    if (sourceId !== undefined) this.#messages.set(sourceId, id.text);
    this.#markReplay(record, envelope, id.text);
    const drafts = [draftOf(record, envelope)];
    return { id, timestamp: envelope.timestamp, ...at, drafts, whole: () => record };
  }

  /** Newer versions write several records that belong together as one line: each is a message of that line. */
  #transaction(records: readonly JsonObject[], at: InSource): LogRecord {
    const id = this.#log.identify("transaction", undefined, records);
    let timestamp: Timestamp | undefined;
    const drafts = records.map((record, index): MessageDraft => {
      const sourceId = extractName(record, "id");
      const message = index === 0 ? id.text : `${id.text}/${index}`;
      const envelope = new Envelope(record, this.#before, undefined);
      if (sourceId !== undefined) this.#messages.set(sourceId, message);
      this.#markReplay(record, envelope);
      timestamp ??= envelope.timestamp;
      const draft = draftOf(record, envelope);
      if (index > 0) return draft;
      const source = objectField(draft.options, "source");
      return { ...draft, options: { ...draft.options, source: { ...source, records: records.length } } };
    });
    return { id, timestamp, ...at, drafts, whole: () => records };
  }

  /** A fork copies the entries of its parent, ids and instants included: they are older than its own header. */
  #markReplay(record: JsonObject, envelope: Envelope, message_id?: string): void {
    const { parent, isRestored, instant } = this.#head;
    const { timestamp } = envelope;
    if (instant === undefined || timestamp === undefined || timestamp >= instant) return;
    // Labels are written anew, with the instant of the old one.
    if (isHeader(record) || typeOf(record) === "label") return;
    if (parent !== undefined && message_id !== undefined)
      envelope.facts.replays = { session_id: parent, message_id };
    else if (parent !== undefined || isRestored) envelope.facts.replays = true;
  }
}

function isTransaction(value: JsonValue): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isJsonObject(item));
}

function typeOf(record: JsonObject): string {
  return extractName(record, "type") ?? extractName(record, "kind") ?? "record";
}

function draftOf(record: JsonObject, envelope: Envelope): MessageDraft {
  const kind = field(record, "kind");
  const isEntry = kind === undefined || kind === "entry";
  const type = isEntry ? extractString(record, "type") : undefined;
  const message = type === "message" ? objectField(record, "message") : undefined;
  const shape =
    message === undefined ? ENTRIES.get(type ?? "") : MESSAGES.get(extractString(message, "role") ?? "");
  if (shape === undefined) return carrier(record, envelope);
  const content = contentOf(message ?? record, shape);
  if (shape.injected === COMPACTION.injected) envelope.facts.compaction = "summary";
  // What pi calls a turn is known by the message's role alone.
  const isTurn = shape.injected === undefined;
  if (isTurn) envelope.take("type");
  const taken = new Set(isTurn ? ["role", ...content.taken] : content.taken);
  if (message === undefined) for (const name of taken) envelope.take(name);
  const rest = message === undefined ? envelope.rest() : envelope.rest({ message: without(message, taken) });
  return {
    role: shape.role,
    options: withFacts({ source: { record: rest, ...content.form } }, envelope.facts),
    parts: content.parts,
  };
}

interface Content {
  readonly parts: readonly PartDraft[];
  /** The fields that are wholly in `parts` and `form`. */
  readonly taken: readonly string[];
  /** What native restore needs besides the parts. */
  readonly form: JsonObject;
}

/** `content` comes back as a list of blocks unless `form` says otherwise. */
function contentOf(holder: JsonObject, shape: Shape): Content {
  if (shape.role === "tool") {
    const { part, taken } = resultPart(holder);
    return { parts: [part], taken, form: {} };
  }
  const { injected } = shape;
  const isAbsent = !Object.hasOwn(holder, "content");
  if (shape.texts !== undefined) {
    const texts = shape.texts.flatMap((name) => {
      const text = extractString(holder, name);
      return text === undefined ? [] : [{ name, text }];
    });
    return {
      parts: texts.flatMap(({ name, text }) =>
        textParts(text, wholeOf(injected, name)(text), { field: name }),
      ),
      taken: texts.map(({ name }) => name),
      form: isAbsent ? ABSENT : {},
    };
  }
  if (isAbsent) return { parts: [], taken: [], form: ABSENT };
  const spans = injected === undefined && shape.role === "user" ? spansOf : wholeOf(injected);
  const text = extractString(holder, "content");
  if (text !== undefined)
    return { parts: textParts(text, spans(text)), taken: ["content"], form: { content: "string" } };
  const blocks = arrayField(holder, "content");
  if (blocks === undefined) return { parts: [], taken: [], form: {} };
  const { parts, unmapped } = mapBlocks(blocks, {
    role: shape.role,
    spans,
    ...optional("injected", injected),
  });
  return { parts, taken: ["content"], form: unmapped.length === 0 ? {} : { blocks: unmapped } };
}

const ABSENT: JsonObject = { content: "absent" };

/** A text that is of one kind as a whole; `name` is the field that holds it, where that is not `content`. */
function wholeOf(injected: string | undefined, name?: string): (text: string) => readonly TextSpan[] {
  const facts = injected === undefined ? {} : { injected, ...authorOf(injected, name) };
  return (text) => [{ start: 0, end: text.length, ...facts }];
}

function carrier(record: JsonObject, envelope: Envelope): MessageDraft {
  const name = titleField(record);
  if (name !== undefined && (extractString(record, name) ?? "").trim() !== "")
    envelope.facts.title = { at: `/source/record/${name}`, rank: TITLE_RANK };
  return {
    role: "system",
    options: withFacts({ source: { record: envelope.rest() } }, envelope.facts),
    parts: [],
  };
}

/** The field of a record that names the session. */
function titleField(record: JsonObject): string | undefined {
  switch (extractString(record, "kind")) {
    case undefined:
      return TITLES.get(extractString(record, "type") ?? "");
    case "fact":
      return extractString(record, "fact") === "name" ? "name" : undefined;
    case "value":
      return extractString(record, "namespace") === "pi.session.name" ? "value" : undefined;
    default:
      return undefined;
  }
}

/** `title` is the first line of a fork of pi. */
const TITLES: ReadonlyMap<string, string> = new Map([
  ["session_info", "name"],
  ["title", "title"],
]);
