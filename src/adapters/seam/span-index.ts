/**
 * What a client's files tell, without their bodies (spec.md#live-staged-tree-spans): each session, message and part
 * with the span of bytes it was read from, kept hollow. Reads every unit once.
 */
import type {
  EntityKey,
  Event,
  Message,
  MessageOutline,
  Part,
  PartPlan,
  Session,
  SessionId,
  SessionOutline,
} from "../../model/index.ts";
import { compareInSession, compareParts, describeKey } from "../../model/index.ts";
import type { Adapter, AdapterYield, ReadRequest, RecordSource, Told, Unit } from "./adapter.ts";
import { optional } from "./extract.ts";
import type { FileStamp } from "./freshness.ts";
import type { Hollow, RecordValue } from "./hollow.ts";
import { RecordIndex } from "./hollow.ts";
import type { Issue } from "./issue.ts";

/** An adapter that tells where its messages come from. */
export type SpanAdapter = Adapter & { readonly tellsSpans: true };

export function hasSpans(adapter: Adapter): adapter is SpanAdapter {
  return adapter.tellsSpans === true;
}

/** A leaf of a file tree: bytes of a file as it was when its unit was found. */
export interface SpanRef {
  readonly key: EntityKey;
  readonly path: string;
  /** From, and up to without. Nothing between them where the value is kept whole: it stands in no span of its own. */
  readonly offset: number;
  readonly end: number;
  readonly generation: FileStamp;
}

/** A leaf with what is kept of its value. */
export interface SpanLeaf {
  readonly ref: SpanRef;
  readonly hollow: Hollow<Event>;
  /** True where the span is no JSON: a whole file as it is. */
  readonly isBytes: boolean;
  /** Every file that the value depends on, its own first. */
  readonly files: readonly FileStamp[];
}

/** A session as its units tell it. */
export interface IndexedSession {
  readonly outline: SessionOutline;
  readonly messages: readonly MessageOutline[];
  readonly parts: ReadonlyMap<string, readonly PartPlan[]>;
}

export interface SpanIndex {
  readonly sessions: ReadonlyMap<SessionId, IndexedSession>;
  /** By the leaf's description. */
  readonly leaves: ReadonlyMap<string, SpanLeaf>;
  /** What could not be read as it stands, as sync would report it. */
  readonly issues: readonly Issue[];
  /** Units that cannot be told yet. */
  readonly waiting: readonly string[];
}

export type IndexRequest = Pick<ReadRequest, "place" | "machine" | "now" | "signal">;

export async function indexSpans(
  adapter: SpanAdapter,
  units: Iterable<Unit>,
  request: IndexRequest,
): Promise<SpanIndex> {
  const index = new IndexBuilder();
  for (const unit of units) {
    index.start(unit);
    const trace = (told: Told): void => index.expect(told);
    for await (const batch of adapter.read(unit, { ...request, trace }))
      for (const item of batch) index.add(item);
  }
  return index.finish();
}

interface Draft {
  readonly outline: SessionOutline;
  readonly messages: Map<string, MessageOutline>;
  readonly parts: Map<string, Map<string, PartPlan>>;
}

/** Where the values of a message and its parts come from. */
interface Origin {
  readonly span: Omit<SpanRef, "key">;
  readonly record: RecordValue;
  readonly values: RecordIndex;
  readonly files: readonly FileStamp[];
}

/** First come, first kept, as in the store (spec.md#adapter-integrity-additive-sync). */
class IndexBuilder {
  readonly #issues: Issue[] = [];
  readonly #waiting: string[] = [];
  readonly #sessions = new Map<SessionId, Draft>();
  readonly #leaves = new Map<string, SpanLeaf>();
  readonly #told = new Map<string, Told>();
  #unit: Unit | undefined;
  /** Of the last message; its parts follow it. */
  #origin: Origin | undefined;

  start(unit: Unit): void {
    this.#unit = unit;
    this.#origin = undefined;
    this.#told.clear();
  }

  /** A message is under way, and this is where it stands. */
  expect(told: Told): void {
    this.#told.set(told.id, told);
  }

  add(item: AdapterYield): void {
    if (item.kind === "session") this.#addSession(item.session);
    else if (item.kind === "message") this.#addMessage(item.message);
    else if (item.kind === "part") this.#addPart(item.part);
    else if (item.kind === "issue") this.#issues.push(item.issue);
    else if (item.kind === "waiting") this.#waiting.push(this.#unit?.key ?? "");
  }

  finish(): SpanIndex {
    const sessions = new Map<SessionId, IndexedSession>();
    for (const [id, { outline, messages, parts }] of this.#sessions)
      sessions.set(id, {
        outline,
        messages: [...messages.values()].toSorted(compareInSession),
        parts: new Map(
          [...parts].map(([message, plans]) => [message, [...plans.values()].toSorted(compareParts)]),
        ),
      });
    return { sessions, leaves: this.#leaves, issues: this.#issues, waiting: this.#waiting };
  }

  #addSession(session: Session): void {
    if (this.#sessions.has(session.id)) return;
    this.#sessions.set(session.id, { outline: outlineOf(session), messages: new Map(), parts: new Map() });
    this.#keep({ id: session.id }, { kind: "session", session }, this.#elsewhere());
  }

  #addMessage(message: Message): void {
    const { session_id, id, seq, timestamp, role } = message;
    const told = this.#told.get(id);
    this.#told.delete(id);
    this.#origin = undefined;
    const draft = this.#sessions.get(session_id);
    if (draft === undefined || draft.messages.has(id)) return;
    const bytes = told?.bytes ?? 0;
    draft.messages.set(id, { session_id, id, ...optional("seq", seq), timestamp, role, bytes });
    draft.parts.set(id, new Map());
    this.#origin = this.#originOf(told?.record);
    this.#keep({ session_id, id }, { kind: "message", message }, this.#origin);
  }

  #addPart(part: Part): void {
    const { session_id, message_id, id } = part;
    const parts = this.#sessions.get(session_id)?.parts.get(message_id);
    if (this.#origin === undefined || parts === undefined || parts.has(id)) return;
    parts.set(id, planOf(part));
    this.#keep({ session_id, message_id, id }, { kind: "part", part }, this.#origin);
  }

  #keep(key: EntityKey, event: Event, origin: Origin | undefined): void {
    if (origin === undefined) return;
    const { span, record, values, files } = origin;
    const isBytes = record instanceof Uint8Array;
    this.#leaves.set(describeKey(key), {
      ref: { key, ...span },
      hollow: values.hollow(event),
      isBytes,
      files,
    });
  }

  #originOf(source: RecordSource | undefined): Origin | undefined {
    const file = this.#unit?.files.find(({ path }) => path === source?.path);
    if (source?.value === undefined || file === undefined) return this.#elsewhere();
    const { offset, end, value } = source;
    const span = { path: file.path, offset, end, generation: file };
    return { span, record: value, values: new RecordIndex(value), files: [file] };
  }

  /** What was put together from several records, or stands in none: kept whole, as long as no file of the unit changes. */
  #elsewhere(): Origin | undefined {
    const files = this.#unit?.files ?? [];
    const [file] = files;
    if (file === undefined) return undefined;
    const span = { path: file.path, offset: 0, end: 0, generation: file };
    return { span, record: null, values: new RecordIndex(null), files };
  }
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
