/**
 * What a client's files tell, without their bodies (spec.md#live-staged-tree-spans): each session, message and part
 * with the span of bytes it was read from, kept hollow. Reads every unit once.
 */
import type {
  EntityKey,
  Event,
  Message,
  MessageId,
  MessageOutline,
  Part,
  PartId,
  PartPlan,
  Session,
  SessionId,
  SessionOutline,
} from "../../model/index.ts";
import { compareInSession, isMessageKey, isPartKey } from "../../model/index.ts";
import type { Adapter, AdapterYield, ReadRequest, RecordSource, Told, Unit } from "./adapter.ts";
import { optional } from "./extract.ts";
import type { FileStamp } from "./stamp.ts";
import type { Hollow } from "./hollow.ts";
import { RecordIndex } from "./hollow.ts";
import type { Issue } from "./issue.ts";

/** An adapter that tells where its messages come from. */
export type SpanAdapter = Adapter & { readonly tellsSpans: true };

export function hasSpans(adapter: Adapter): adapter is SpanAdapter {
  return adapter.tellsSpans === true;
}

/** Bytes of a file as it was when its unit was found. */
export interface Span {
  readonly offset: number;
  /** The byte after the last one. The same as `offset` for what stands in no span of its own and is kept whole. */
  readonly end: number;
  /** Every file that the value depends on, its own first. */
  readonly files: readonly [FileStamp, ...FileStamp[]];
  /** True where it is no JSON: a whole file as it is. */
  readonly isBytes: boolean;
}

/** What is kept of one value. */
export interface SpanLeaf {
  readonly span: Span;
  readonly hollow: Hollow<Event>;
}

export interface IndexedMessage {
  readonly outline: MessageOutline;
  readonly leaf: SpanLeaf;
  readonly parts: Map<PartId, { readonly plan: PartPlan; readonly leaf: SpanLeaf }>;
}

export interface IndexedSession {
  readonly outline: SessionOutline;
  readonly leaf: SpanLeaf;
  readonly messages: Map<MessageId, IndexedMessage>;
}

export type IndexRequest = Pick<ReadRequest, "place" | "machine" | "now" | "signal">;

/** First come, first kept, as in the store (spec.md#adapter-integrity-additive-sync). */
export class SpanIndex {
  readonly sessions = new Map<SessionId, IndexedSession>();
  readonly issues: Issue[] = [];
  readonly waiting: string[] = [];
  readonly #told = new Map<string, Told>();
  #unit: Unit | undefined;
  /** Of the last message, which its parts follow. */
  #last: { readonly message: IndexedMessage; readonly origin: Origin } | undefined;

  static async of(adapter: SpanAdapter, units: Iterable<Unit>, request: IndexRequest): Promise<SpanIndex> {
    const index = new SpanIndex();
    const trace = (told: Told): void => void index.#told.set(told.id, told);
    for (const unit of units) {
      index.#unit = unit;
      for await (const batch of adapter.read(unit, { ...request, trace }))
        for (const item of batch) index.#add(item);
    }
    return index;
  }

  /** The messages of a session in order. */
  messagesOf(id: SessionId): MessageOutline[] {
    const messages = this.sessions.get(id)?.messages.values() ?? [];
    return [...messages].map(({ outline }) => outline).toSorted(compareInSession);
  }

  leafOf(key: EntityKey): SpanLeaf | undefined {
    if (isPartKey(key))
      return this.sessions.get(key.session_id)?.messages.get(key.message_id)?.parts.get(key.id)?.leaf;
    if (isMessageKey(key)) return this.sessions.get(key.session_id)?.messages.get(key.id)?.leaf;
    return this.sessions.get(key.id)?.leaf;
  }

  #add(item: AdapterYield): void {
    if (item.kind === "session") this.#addSession(item.session);
    else if (item.kind === "message") this.#addMessage(item.message);
    else if (item.kind === "part") this.#addPart(item.part);
    else if (item.kind === "issue") this.issues.push(item.issue);
    else if (item.kind === "waiting") this.waiting.push(this.#unit?.key ?? "");
  }

  #addSession(session: Session): void {
    const origin = this.#elsewhere();
    if (origin === undefined || this.sessions.has(session.id)) return;
    const leaf = leafFrom(origin, { kind: "session", session });
    this.sessions.set(session.id, { outline: outlineOf(session), leaf, messages: new Map() });
  }

  #addMessage(message: Message): void {
    const { session_id, id, seq, timestamp, role } = message;
    const told = this.#told.get(id);
    this.#told.delete(id);
    this.#last = undefined;
    const messages = this.sessions.get(session_id)?.messages;
    const origin = this.#originOf(told?.record);
    if (messages === undefined || origin === undefined || messages.has(id)) return;
    const outline = { session_id, id, ...optional("seq", seq), timestamp, role, bytes: told?.bytes ?? 0 };
    const indexed = { outline, leaf: leafFrom(origin, { kind: "message", message }), parts: new Map() };
    messages.set(id, indexed);
    this.#last = { message: indexed, origin };
  }

  #addPart(part: Part): void {
    if (this.#last === undefined) return;
    const { message, origin } = this.#last;
    if (message.outline.id !== part.message_id || message.parts.has(part.id)) return;
    message.parts.set(part.id, { plan: planOf(part), leaf: leafFrom(origin, { kind: "part", part }) });
  }

  #originOf(source: RecordSource | undefined): Origin | undefined {
    const file = this.#unit?.files.find(({ path }) => path === source?.path);
    if (source?.value === undefined || file === undefined) return this.#elsewhere();
    const { offset, end, value } = source;
    const span: Span = { offset, end, files: [file], isBytes: value instanceof Uint8Array };
    return { span, values: new RecordIndex(value) };
  }

  /** What was put together from several records, or stands in none: good as long as no file of the unit changes. */
  #elsewhere(): Origin | undefined {
    const [file, ...others] = this.#unit?.files ?? [];
    if (file === undefined) return undefined;
    return { span: { offset: 0, end: 0, files: [file, ...others], isBytes: false }, values: NOTHING };
  }
}

/** Where the values of a message and its parts come from. */
interface Origin {
  readonly span: Span;
  readonly values: RecordIndex;
}

const NOTHING = new RecordIndex(null);

function leafFrom({ span, values }: Origin, event: Event): SpanLeaf {
  return { span, hollow: values.hollow(event) };
}

function outlineOf({ id, parent_session_id, relation, source_agent, created_at }: Session): SessionOutline {
  const parent = optional("parent_session_id", parent_session_id);
  return { id, ...parent, ...optional("relation", relation), source_agent, created_at };
}

function planOf(part: Part): PartPlan {
  const { session_id, message_id, id, ordinal, type, provenance } = part;
  const base = { session_id, message_id, id, ordinal, type, provenance };
  if (part.type !== "tool_call" && part.type !== "tool_result") return base;
  const failure = part.type === "tool_result" ? optional("is_failure", part.is_failure) : {};
  return { ...base, ...optional("tool_name", part.name), ...optional("call_id", part.call_id), ...failure };
}
