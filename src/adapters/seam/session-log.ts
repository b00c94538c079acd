/**
 * Writes the events of one session from its log: positions, ids, carried instants and the size bound are decided
 * here once, for every adapter (spec.md#model-ids, spec.md#model-order). Ids depend on the record and the records
 * before it only, so any prefix of a log gives the same ids.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { decodeUtf8, isJsonObject } from "../../base/json.ts";
import type { Extracted, Message, Part, Role, Session, Timestamp } from "../../model/index.ts";
import { MAX_TEXT_BYTES, messageId, partId, timestampFromMicros } from "../../model/index.ts";
import type { AdapterYield, RecordSource, Trace } from "./adapter.ts";
import { boundDraft } from "./bound.ts";
import { DigestMap } from "./digest-map.ts";
import { field, integerField } from "./extract.ts";
import type { Issue, IssueKind } from "./issue.ts";
import { keptValue } from "./prefix.ts";
import type { RecordState, Standing, StoredRecords } from "./revisions.ts";
import { RevisionBook } from "./revisions.ts";
import { valueHash } from "./value-hash.ts";
import { wholeDraft } from "./whole.ts";

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A part as an adapter makes it. Provenance has no default (spec.md#adapter-provenance-required). */
export type PartDraft = DistributiveOmit<Part, "id" | "session_id" | "message_id" | "ordinal" | "options"> & {
  readonly id?: string;
  readonly options?: JsonObject;
};

export interface MessageDraft {
  readonly role: Role;
  /** Only a system message has one; absent means a carrier. */
  readonly content?: Extracted<string>;
  /** Without the `pond` facts that this class adds. */
  readonly options: JsonObject;
  readonly parts: readonly PartDraft[];
}

export interface LogEntry {
  readonly id: RecordId;
  /** Absent when the record has none: the previous one's is carried. */
  readonly timestamp?: Timestamp | undefined;
  /** Bytes of the record in its source: an upper bound of every value in it. */
  readonly bytes: number;
  /** Several where the role allowlists split one record: `<id>`, `<id>/1`, ... */
  readonly drafts: readonly MessageDraft[];
  /**
   * The record as its source had it, which is kept where the size bound cuts it: its value, or bytes that are none. What
   * it gives is what the adapter's native restore is given back (`wholeRecord`).
   */
  readonly whole?: () => JsonValue | Uint8Array;
  /** False for what is not a record of the log, such as a file beside it. */
  readonly positioned?: boolean;
  /** For a source that rewrites records in place: a record that is stored as it is now is not written again. */
  readonly state?: RecordState;
}

/** The id of a record, and whether it is the source's own, which then needs no second copy. */
export interface RecordId {
  readonly text: string;
  readonly isSource: boolean;
}

export interface LogOrigin {
  readonly adapter: string;
  readonly path: string;
  readonly stored?: StoredRecords | undefined;
  readonly trace?: Trace | undefined;
  /** What `state` said of the records before: they are gone on from. */
  readonly before?: JsonObject | undefined;
}

export class SessionLog {
  readonly #session: Session;
  readonly #adapter: string;
  readonly #path: string;
  readonly #occurrences: DigestMap<number>;
  readonly #book: RevisionBook;
  readonly #trace: Trace | undefined;
  #position: number;
  #instant: Timestamp;
  #announced = false;
  #batch: AdapterYield[] = [];
  /** While true, records only move the state: how a grown log is continued without repeating events. */
  quiet = false;
  /** The record that is being told, where it stands in bytes of its own. */
  record: RecordSource | undefined;

  constructor(session: Session, origin: LogOrigin) {
    this.#session = session;
    this.#adapter = origin.adapter;
    this.#path = origin.path;
    this.#book = new RevisionBook(origin.stored);
    this.#trace = origin.trace;
    const { before } = origin;
    this.#occurrences = new DigestMap(before && { state: field(before, "occurrences"), valueOf: countOf });
    this.#position = before === undefined ? 0 : keptValue(integerField(before, "position"));
    this.#instant =
      before === undefined
        ? session.created_at
        : keptValue(timestampFromMicros(keptValue(integerField(before, "instant"))));
  }

  /** All that the records so far decide of those behind them. */
  state(): JsonObject {
    return {
      position: this.#position,
      instant: this.#instant,
      occurrences: this.#occurrences.state(),
    };
  }

  /** The next id for a record of this type: the source's own at first sight, else numbered by occurrence. */
  identify(type: string, sourceId: string | undefined, record: JsonValue): RecordId {
    const usable = sourceId !== undefined && sourceId !== "" && sourceId.isWellFormed();
    const base = usable ? sourceId : `${type.toWellFormed()}:${valueHash(record)}`;
    const occurrence = (this.#occurrences.get(base) ?? 0) + 1;
    this.#occurrences.set(base, occurrence);
    const isSource = usable && occurrence === 1;
    return { text: isSource ? base : `${base}#${occurrence}`, isSource };
  }

  /** True when an earlier record of the log has this source id. */
  has(sourceId: string): boolean {
    return this.#occurrences.has(sourceId);
  }

  add(entry: LogEntry): void {
    const carried = entry.timestamp === undefined;
    const positioned = entry.positioned !== false;
    const seq = positioned ? this.#position : undefined;
    if (positioned) this.#position += 1;
    if (entry.timestamp !== undefined && positioned) this.#instant = entry.timestamp;
    const version = versionOf(entry, this.#book);
    if (this.quiet || version === undefined) return;
    this.#announce();
    const timestamp = entry.timestamp ?? this.#instant;
    let index = 0;
    for (const draft of entry.bytes > MAX_TEXT_BYTES ? this.#bounded(entry) : entry.drafts) {
      const id = messageId(splitId(version.id, index));
      const facts = version.facts?.(index);
      const options =
        carried || facts !== undefined ? withFacts(draft.options, facts, carried) : draft.options;
      const base = { id, session_id: this.#session.id, timestamp, options };
      if (this.#trace !== undefined) this.#tell(this.#trace, id, index === 0 ? entry.bytes : 0);
      this.#batch.push({ kind: "message", message: messageOf(base, seq, draft) });
      this.#addParts(id, draft);
      index += 1;
    }
  }

  /** How a record stands to what the store holds of it; "new" where nothing is known of the store. */
  standing(id: RecordId, value: string): Standing {
    return this.#book.standing(id.text, value);
  }

  /** Marks stored records that the source no longer has; `present` are the ids of those that it has. */
  addRemovals(
    present: ReadonlySet<string>,
    at: { readonly timestamp: Timestamp; readonly ms: number },
  ): void {
    for (const record of this.#book.missing(present)) {
      const options = { pond: { removed: true } };
      this.add({
        id: { text: record, isSource: false },
        timestamp: at.timestamp,
        bytes: 0,
        drafts: [{ role: "system", options, parts: [] }],
        positioned: false,
        state: { value: "removed", at: at.ms },
      });
    }
  }

  /** A line that is not one JSON value: an issue, and the line kept whole so that it restores as it was. */
  addBadLine(line: {
    readonly reason: "not_json" | "duplicate_keys" | "invalid_utf8" | "too_long";
    readonly message: string;
    readonly line: number;
    readonly offset: number;
    /** Absent for a line that is too long to be held. */
    readonly raw?: Uint8Array;
  }): void {
    if (line.raw !== undefined) this.#addRaw(line.raw);
    this.addIssue(line.reason, line.message, line);
  }

  addIssue(
    kind: IssueKind,
    message: string,
    at: Pick<Partial<RecordSource>, "path" | "line" | "offset"> = {},
  ): void {
    if (this.quiet) return;
    const issue: Issue = {
      kind,
      adapter: this.#adapter,
      path: at.path ?? this.#path,
      ...(at.line === undefined ? {} : { line: at.line }),
      ...(at.offset === undefined ? {} : { offset: at.offset }),
      message,
    };
    this.#batch.push({ kind: "issue", issue });
  }

  /** What was written since the last call. The session itself comes first, even when it has no message. */
  drain(): readonly AdapterYield[] {
    if (!this.quiet) this.#announce();
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  #addRaw(raw: Uint8Array): void {
    const decoded = decodeUtf8(raw);
    const source: JsonObject = decoded.ok
      ? { raw: decoded.text }
      : { raw: Buffer.from(raw).toString("base64"), encoding: "base64" };
    const draft: MessageDraft = { role: "system", options: { source }, parts: [] };
    const id = this.identify("raw", undefined, source);
    this.add({ id, bytes: raw.length * 2, drafts: [draft], whole: () => raw });
  }

  #tell(trace: Trace, id: Message["id"], bytes: number): void {
    const { record } = this;
    const session_id = this.#session.id;
    if (record === undefined) trace({ session_id, id, bytes });
    else trace({ session_id, id, bytes, record: { ...record, path: record.path ?? this.#path } });
  }

  #announce(): void {
    if (this.#announced) return;
    this.#announced = true;
    this.#batch.push({ kind: "session", session: this.#session });
  }

  #addParts(message_id: Message["id"], draft: MessageDraft): void {
    let ordinal = 0;
    for (const part of draft.parts) {
      const id = partId(part.id ?? String(ordinal));
      const key = { id, session_id: this.#session.id, message_id, ordinal, options: part.options ?? {} };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a spread of a union is not narrowed by tsc
      this.#batch.push({ kind: "part", part: { ...part, ...key } as Part });
      ordinal += 1;
    }
  }

  /** The messages of a record within the size bound, with one more that keeps it whole where something was cut. */
  #bounded(entry: LogEntry): readonly MessageDraft[] {
    const bounded = entry.drafts.map((draft) => boundDraft(draft));
    const truncated = bounded.flatMap((each) => each.truncated);
    if (truncated.length === 0) return entry.drafts;
    const whole = wholeDraft(entry);
    const kept = whole === undefined ? "the rest is not stored" : "the whole record is kept for restore";
    for (const { bytes } of truncated)
      this.addIssue("truncated_value", `a value of ${bytes} bytes is cut, ${kept}`, this.record);
    const drafts = bounded.map(({ value }) => value);
    return whole === undefined ? drafts : [...drafts, whole];
  }
}

function withFacts(options: JsonObject, facts: JsonObject | undefined, carried: boolean): JsonObject {
  const own = options["pond"];
  const pond = { ...(isJsonObject(own) ? own : {}), ...facts };
  return { ...options, pond: carried ? { ...pond, timestamp: "carried" } : pond };
}

interface Version {
  readonly id: string;
  /** What `options.pond` says of the version, by the message's number in its record. */
  readonly facts?: (index: number) => JsonObject;
}

/** The row that a record becomes, or undefined when the store has it as it is. */
function versionOf({ id, state }: LogEntry, book: RevisionBook): Version | undefined {
  const record = id.text;
  if (state === undefined) return { id: record };
  const splits = (index: number): JsonObject => (index === 0 ? {} : { record });
  const standing = book.standing(record, state.value);
  if (standing === "same") return undefined;
  if (standing === "new") return { id: record, facts: (index) => ({ ...state, ...splits(index) }) };
  const revised = book.revise(record, state);
  return {
    id: revised.id,
    facts: (index) => ({ ...revised.facts, revises: splitId(record, index), ...splits(index) }),
  };
}

const countOf = (group: JsonObject): number | undefined => integerField(group, "value");

function splitId(id: string, index: number): string {
  return index === 0 ? id : `${id}/${index}`;
}

type Keyed = Pick<Message, "id" | "session_id" | "timestamp" | "options">;

/** Written out by hand: this runs once a record, and a spread costs more than all else here. */
function messageOf(base: Keyed, seq: number | undefined, draft: MessageDraft): Message {
  const { id, session_id, timestamp, options } = base;
  const { role } = draft;
  if (role === "system") {
    const content = draft.content ?? "";
    if (seq === undefined) return { id, session_id, timestamp, role, content, options };
    return { id, session_id, seq, timestamp, role, content, options };
  }
  if (seq === undefined) return { id, session_id, timestamp, role, options };
  return { id, session_id, seq, timestamp, role, options };
}
