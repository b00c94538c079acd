/**
 * Writes the events of one session from its log: positions, ids, carried instants and the size bound are decided
 * here once, for every adapter (spec.md#model-ids, spec.md#model-order). Ids depend on the record and the records
 * before it only, so any prefix of a log gives the same ids.
 */
import type { AdapterYield, OnRecord, RecordOrigin, RecordSource } from "../sources/reading.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { decodeUtf8 } from "../../../base/json/json.ts";
import type { Extracted, Message, Part, Role, Session, Timestamp } from "../../../model/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import { MAX_TEXT_BYTES } from "../../../model/bound-text.ts";
import { messageId, partId, timestampFromMicros } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import { boundDraft } from "./bound.ts";
import { DigestMap } from "./digest-map.ts";
import { extractString as stringField, field, integerField } from "../extract/extract.ts";
import type { Issue, IssueKind } from "../sources/issue.ts";
import { keptValue } from "./prefix.ts";
import type { LogMark } from "../files/record-chain.ts";
import { bytesHash, linkTo, NO_RECORDS, sideDigest } from "../files/record-chain.ts";
import type { StoredHashes, ReadState } from "../sources/source-state.ts";
import { nameHash } from "../../../base/json/value-hash.ts";
import { wholeDraft } from "./whole.ts";

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A part as an adapter makes it. Provenance has no default (spec.md#adapter-provenance-required). */
export type PartDraft = DistributiveOmit<Part, "id" | "session_id" | "message_id" | "ordinal" | "options"> & {
  readonly id?: string;
  readonly options?: JsonObject;
};

/** A message as an adapter makes it: `SessionLog` adds its id, position and instant. */
export interface MessageDraft {
  readonly role: Role;
  /** Only a system message has one; absent means a carrier. */
  readonly content?: Extracted<string>;
  /** Without the `pond` facts that this class adds. */
  readonly options: JsonObject;
  readonly parts: readonly PartDraft[];
}

/** One record as messages and parts, with what names and dates it. */
export interface LogRecord {
  readonly id: RecordId;
  /** Absent when the record has none: the previous one's is carried (spec.md#model-carried-timestamp). */
  readonly timestamp?: Timestamp | undefined;
  /** Bytes of the record in its source: an upper bound of every value in it. */
  readonly bytes: number;
  /** Several where the role allowlists split one record: `<id>`, `<id>/1`, ... */
  readonly drafts: readonly MessageDraft[];
  /** What of it is of a shape that the client is not known to write; it is kept all the same. */
  readonly fault?: string;
  /** Of the record's value: what tells one version of it from another. */
  readonly hash: string;
  /** The same where the record is told otherwise than by its value alone, such as by the records beside it. */
  readonly version?: string;
  /**
   * The record as its source had it, which is kept where the size bound cuts it: its value, or bytes that are none. What
   * it gives is what the adapter's native restore is given back (`wholeRecord`).
   */
  readonly whole?: () => JsonValue | Uint8Array;
  /** False for what is not a record of the log, such as a file beside it. */
  readonly positioned?: boolean;
  /** The record's name, where the id names the version. */
  readonly record?: string;
  /** Milliseconds since 1970 of its last change, where the source tells. */
  readonly at?: number;
}

/** The id of a record, and whether it is the source's own, which then needs no second copy. */
export interface RecordId {
  readonly text: string;
  readonly isSource: boolean;
}

export interface LogSource {
  readonly adapter: string;
  readonly path: string;
  /** What is stored already of records that are told again and again. */
  readonly stored?: StoredHashes | undefined;
  readonly onRecord?: OnRecord | undefined;
  /** What `state` said of the records before: they are gone on from. */
  readonly before?: JsonObject | undefined;
}

/** Source ids of this shape would be taken for ids that pond derives; they name nothing (spec.md#model-identity). */
const LOOKS_DERIVED = /[#/]\d+$|@[0-9a-f]{32}$/;

/** Takes the records of a session in their order, and gives its events. */
export class SessionLog {
  readonly #session: Session;
  readonly #adapter: string;
  readonly #path: string;
  readonly #occurrences: DigestMap<number>;
  readonly #stored: StoredHashes;
  readonly #onRecord: OnRecord | undefined;
  /** What stands beside the records, by name, with its hash. */
  readonly #side = new Map<string, string>();
  #position: number;
  #chain: string;
  #newest: number;
  #instant: Timestamp;
  #announced = false;
  #batch: AdapterYield[] = [];
  #isMuted = false;

  constructor(session: Session, origin: LogSource) {
    this.#session = session;
    this.#adapter = origin.adapter;
    this.#path = origin.path;
    this.#stored = origin.stored ?? NOTHING_STORED;
    this.#onRecord = origin.onRecord;
    const { before } = origin;
    this.#occurrences = new DigestMap(before && { state: field(before, "occurrences"), valueOf: countOf });
    this.#position = before === undefined ? 0 : keptValue(integerField(before, "position"));
    this.#chain = before === undefined ? NO_RECORDS : keptValue(stringField(before, "chain"));
    this.#newest = before === undefined ? 0 : keptValue(integerField(before, "newest"));
    this.#instant =
      before === undefined
        ? session.created_at
        : keptValue(timestampFromMicros(keptValue(integerField(before, "instant"))));
  }

  /** All that the records so far decide of those behind them. */
  state(): JsonObject {
    return {
      position: this.#position,
      chain: this.#chain,
      newest: this.#newest,
      instant: this.#instant,
      occurrences: this.#occurrences.state(),
    };
  }

  /** How far the log is told. */
  mark(): LogMark {
    return { records: this.#position, chain: this.#chain, newest: this.#newest };
  }

  /** Says of a log that is not read what an earlier read marked: nothing of it is told again. */
  goTo({ records, chain, newest }: LogMark): void {
    this.#position = records;
    this.#chain = chain;
    this.#newest = newest;
  }

  /** What the session's source holds now, once all of it is told (spec.md#sources-state). */
  emitState(source: Pick<ReadState, "path" | "key" | "form" | "kept" | "isWhole">): AdapterYield {
    const { records, chain, newest } = this.mark();
    const state: ReadState = {
      ...source,
      records,
      digest: chain,
      side: sideDigest(this.#side),
      present: [...this.#side.keys()],
      ...(newest === 0 ? {} : { recorded: newest }),
    };
    return { kind: "state", session: this.#session.id, state };
  }

  /** The next id for a record of this type: the source's own at first sight, else numbered by occurrence. */
  identify(type: string, sourceId: string | undefined, record: JsonValue): RecordId {
    const usable =
      sourceId !== undefined && sourceId !== "" && sourceId.isWellFormed() && !LOOKS_DERIVED.test(sourceId);
    const base = usable ? sourceId : `${type.toWellFormed()}:${nameHash(record)}`;
    const occurrence = (this.#occurrences.get(base) ?? 0) + 1;
    this.#occurrences.set(base, occurrence);
    const isSource = usable && occurrence === 1;
    return { text: isSource ? base : `${base}#${occurrence}`, isSource };
  }

  /** True when an earlier record of the log has this source id. */
  has(sourceId: string): boolean {
    return this.#occurrences.has(sourceId);
  }

  /** From here on records only move the state: how a grown log is continued without repeating events. */
  mute(): void {
    this.#isMuted = true;
  }

  unmute(): void {
    this.#isMuted = false;
  }

  /** `source`: the record that it was made of, where that has bytes of its own. */
  add(entry: LogRecord, source?: RecordSource): void {
    const { timestamp: recorded, hash } = entry;
    const positioned = entry.positioned !== false;
    const seq = positioned ? this.#position : undefined;
    const record = entry.record ?? entry.id.text;
    if (positioned) this.#pass(hash, recorded);
    else this.#side.set(record, hash);
    if (this.#isMuted) return;
    this.#announce();
    if (entry.fault !== undefined) this.addIssue("unexpected_shape", entry.fault, source);
    const { version } = entry;
    const piece = {
      id: record,
      piece: 0,
      ...(version === undefined ? { hash } : { hash: version, value: hash }),
    };
    if (this.#stored.has(record, piece.hash)) {
      this.#batch.push({ kind: "record", session: this.#session.id, record: piece, positioned });
      return;
    }
    const timestamp = recorded ?? this.#instant;
    const facts: PondFacts | undefined =
      recorded === undefined ? { ...atOf(entry), timestamp: "carried" } : atOf(entry);
    let index = 0;
    for (const draft of entry.bytes > MAX_TEXT_BYTES ? this.#bounded(entry, source) : entry.drafts) {
      const id = messageId(index === 0 ? entry.id.text : `${entry.id.text}/${index}`);
      // What is split is joined again by the record's id.
      const own = index === 0 ? facts : { ...facts, record };
      const options = own === undefined ? draft.options : withFacts(draft.options, own);
      const base = { id, session_id: this.#session.id, timestamp, options };
      this.#onRecord?.(this.#originOf(id, index === 0 ? entry.bytes : 0, source));
      const message = messageOf(base, seq, draft);
      this.#batch.push({
        kind: "message",
        message,
        record: index === 0 ? piece : { ...piece, piece: index },
      });
      this.#addParts(id, draft);
      index += 1;
    }
  }

  /**
   * A record that cannot be told now, because it is unreadable or at work: what the state before had of it stays. Its hash
   * is unknown, so the state is not whole.
   */
  keep(record: string, positioned: boolean): void {
    if (positioned) this.#pass("", undefined);
    else this.#side.set(record, "");
    this.#announce();
    const piece = { id: record, hash: "", piece: 0 };
    this.#batch.push({ kind: "record", session: this.#session.id, record: piece, positioned });
  }

  /** An instant that the source records of the session as a whole. */
  see(instant: Timestamp): void {
    if (instant > this.#newest) this.#newest = instant;
  }

  /** Something beside the log that is as it was: it is not read again. */
  keepSide(record: string, hash: string): void {
    this.#side.set(record, hash);
  }

  #pass(hash: string, recorded: Timestamp | undefined): void {
    this.#position += 1;
    this.#chain = linkTo(this.#chain, hash);
    if (recorded === undefined) return;
    this.#instant = recorded;
    if (recorded > this.#newest) this.#newest = recorded;
  }

  /** True where the store has the record with some other value only. */
  isChanged(record: string, hash: string): boolean {
    return this.#stored.isKnown(record) && !this.#stored.has(record, hash);
  }

  /** Drops what was told since the last call of `drain`. */
  discard(): void {
    this.#batch = [];
    this.#announced = false;
  }

  /** A line that is not one JSON value: an issue, and the line kept whole so that it restores as it was. */
  addBadLine(
    line: {
      readonly reason: "not_json" | "duplicate_keys" | "invalid_utf8" | "too_long";
      readonly message: string;
      readonly line: number;
      readonly offset: number;
      /** Absent for a line that is too long to be held. */
      readonly raw?: Uint8Array;
    },
    source?: RecordSource,
  ): void {
    if (line.raw !== undefined) this.#addRaw(line.raw, source);
    this.addIssue(line.reason, line.message, line);
  }

  addIssue(
    kind: IssueKind,
    message: string,
    at: Pick<Partial<RecordSource>, "path" | "line" | "offset"> = {},
  ): void {
    if (this.#isMuted) return;
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
    if (!this.#isMuted) this.#announce();
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  #addRaw(raw: Uint8Array, origin: RecordSource | undefined): void {
    const decoded = decodeUtf8(raw);
    const source: JsonObject = decoded.ok
      ? { raw: decoded.text }
      : { raw: Buffer.from(raw).toString("base64"), encoding: "base64" };
    const draft: MessageDraft = { role: "system", options: { source }, parts: [] };
    const id = this.identify("raw", undefined, source);
    this.add({ id, bytes: raw.length * 2, hash: bytesHash(raw), drafts: [draft], whole: () => raw }, origin);
  }

  #originOf(id: Message["id"], bytes: number, source: RecordSource | undefined): RecordOrigin {
    const session_id = this.#session.id;
    if (source === undefined) return { session_id, id, bytes };
    return { session_id, id, bytes, record: { ...source, path: source.path ?? this.#path } };
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
  #bounded(entry: LogRecord, source: RecordSource | undefined): readonly MessageDraft[] {
    const bounded = entry.drafts.map((draft) => boundDraft(draft));
    const truncated = bounded.flatMap((each) => each.truncated);
    if (truncated.length === 0) return entry.drafts;
    const whole = wholeDraft(entry);
    const kept = whole === undefined ? "the rest is not stored" : "the whole record is kept for restore";
    for (const { bytes } of truncated)
      this.addIssue("truncated_value", `a value of ${bytes} bytes was truncated; ${kept}`, source);
    const drafts = bounded.map(({ value }) => value);
    return whole === undefined ? drafts : [...drafts, whole];
  }
}

const NOTHING_STORED: StoredHashes = { has: () => false, isKnown: () => false };

/** Undefined where there is nothing to say, as nearly always. */
function atOf({ at }: LogRecord): PondFacts | undefined {
  return at === undefined ? undefined : { at };
}

const countOf = (group: JsonObject): number | undefined => integerField(group, "value");

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
