/**
 * What a client's files tell, without their bodies (spec.md#live-staged-tree-spans): each session, message and part
 * with the span of bytes it was read from, kept hollow. Reads every unit once.
 */
import type {
  EntityKey,
  Event,
  Message,
  MessageId,
  Part,
  PartId,
  Session,
  SessionId,
} from "../../../model/index.ts";
import type {
  MessageOutline,
  Outline,
  PartOutline,
  SessionOutline,
  TreeRef,
} from "../../../model/tree/index.ts";
import { compareInSession, isMessageKey, isPartKey, entityKeyOf } from "../../../model/index.ts";
import { entityOf } from "../../../model/events/index.ts";
import { REF } from "../../../model/tree/index.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type {
  AdapterYield,
  AdapterEnv,
  Place,
  ReadRequest,
  RecordOrigin,
  RecordSource,
  Unit,
} from "../sources/reading.ts";
import { optional } from "../../../base/optional.ts";
import type { FileStamp } from "../files/stamp.ts";
import type { Hollow } from "./hollow.ts";
import { RecordIndex } from "./hollow.ts";
import type { Issue } from "../sources/issue.ts";

/** An adapter that tells where its messages come from. */
export type SpanAdapter = Adapter & { readonly reportsSpans: true };

/** True where trees can be read from the files of this client. */
export function hasSpans(adapter: Adapter): adapter is SpanAdapter {
  return adapter.reportsSpans === true;
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

/** A leaf of a file tree: where its record is, and what is kept of its value. */
export interface SpanRef extends TreeRef {
  readonly span: Span;
  readonly hollow: Hollow<Event>;
}

export interface IndexedMessage {
  readonly outline: MessageOutline<SpanRef>;
  readonly parts: Map<PartId, PartOutline<SpanRef>>;
}

export interface IndexedSession {
  readonly outline: SessionOutline<SpanRef>;
  readonly messages: Map<MessageId, IndexedMessage>;
}

export interface IndexRequest extends Pick<ReadRequest, "now" | "signal"> {
  readonly place: Place;
  readonly machine: AdapterEnv;
}

/** First come, first kept, as in the store (spec.md#adapter-integrity-additive-sync). */
export class SpanIndex {
  readonly sessions = new Map<SessionId, IndexedSession>();
  readonly issues: Issue[] = [];
  readonly waiting: string[] = [];
  readonly #origins = new Map<string, RecordOrigin>();
  #unit: Unit | undefined;
  /** Of the last message, which its parts follow. */
  #last: { readonly message: IndexedMessage; readonly origin: SpanOwner } | undefined;

  static async of(
    adapter: SpanAdapter,
    units: Iterable<Unit>,
    { place, machine, ...request }: IndexRequest,
  ): Promise<SpanIndex> {
    const index = new SpanIndex();
    await using opened = await adapter.open(place, machine);
    const onRecord = (origin: RecordOrigin): void => void index.#origins.set(origin.id, origin);
    for (const unit of units) {
      index.#unit = unit;
      for await (const batch of opened.read(unit, { ...request, onRecord }))
        for (const item of batch) index.#add(item);
    }
    return index;
  }

  /** The messages of a session in order. */
  messagesOf(id: SessionId): MessageOutline<SpanRef>[] {
    const messages = this.sessions.get(id)?.messages.values() ?? [];
    return [...messages].map(({ outline }) => outline).toSorted(compareInSession);
  }

  find(key: EntityKey): Outline<SpanRef> | undefined {
    if (isPartKey(key))
      return this.sessions.get(key.session_id)?.messages.get(key.message_id)?.parts.get(key.id);
    if (isMessageKey(key)) return this.sessions.get(key.session_id)?.messages.get(key.id)?.outline;
    return this.sessions.get(key.id)?.outline;
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
    const outline = { ...outlineOf(session), [REF]: refTo(origin, { kind: "session", session }) };
    this.sessions.set(session.id, { outline, messages: new Map() });
  }

  #addMessage(message: Message): void {
    const { session_id, id, seq, timestamp, role } = message;
    const known = this.#origins.get(id);
    this.#origins.delete(id);
    this.#last = undefined;
    const messages = this.sessions.get(session_id)?.messages;
    const origin = this.#originOf(known?.record);
    if (messages === undefined || origin === undefined || messages.has(id)) return;
    const outline = {
      session_id,
      id,
      ...optional("seq", seq),
      timestamp,
      role,
      bytes: known?.bytes ?? 0,
      [REF]: refTo(origin, { kind: "message", message }),
    };
    const indexed = { outline, parts: new Map() };
    messages.set(id, indexed);
    this.#last = { message: indexed, origin };
  }

  #addPart(part: Part): void {
    if (this.#last === undefined) return;
    const { message, origin } = this.#last;
    if (message.outline.id !== part.message_id || message.parts.has(part.id)) return;
    message.parts.set(part.id, { ...outlineOfPart(part), [REF]: refTo(origin, { kind: "part", part }) });
  }

  #originOf(source: RecordSource | undefined): SpanOwner | undefined {
    const file = this.#unit?.files.find(({ path }) => path === source?.path);
    if (source?.value === undefined || file === undefined) return this.#elsewhere();
    const { offset, end, value } = source;
    const span: Span = { offset, end, files: [file], isBytes: value instanceof Uint8Array };
    return { span, values: new RecordIndex(value) };
  }

  /** What was put together from several records, or stands in none: good as long as no file of the unit changes. */
  #elsewhere(): SpanOwner | undefined {
    const [file, ...others] = this.#unit?.files ?? [];
    if (file === undefined) return undefined;
    return { span: { offset: 0, end: 0, files: [file, ...others], isBytes: false }, values: NOTHING };
  }
}

/** Where the values of a message and its parts come from. */
interface SpanOwner {
  readonly span: Span;
  readonly values: RecordIndex;
}

const NOTHING = new RecordIndex(null);

function refTo({ span, values }: SpanOwner, event: Event): SpanRef {
  return { key: entityKeyOf(entityOf(event)), span, hollow: values.hollow(event) };
}

function outlineOf({ id, parent_session_id, relation, source_agent, created_at }: Session): SessionOutline {
  const parent = optional("parent_session_id", parent_session_id);
  return { id, ...parent, ...optional("relation", relation), source_agent, created_at };
}

function outlineOfPart(part: Part): PartOutline {
  const { session_id, message_id, id, ordinal, type, provenance } = part;
  const base = { session_id, message_id, id, ordinal, type, provenance };
  if (part.type !== "tool_call" && part.type !== "tool_result") return base;
  const failure = part.type === "tool_result" ? optional("is_failure", part.is_failure) : {};
  return { ...base, ...optional("tool_name", part.name), ...optional("call_id", part.call_id), ...failure };
}
