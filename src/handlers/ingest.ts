/**
 * `ingest` (spec.md#wire-ingest): canonical events of a program into the store. Each row is answered for itself: one that
 * breaks a rule is refused, with its message where it is a part, and everything else is stored. The same request again, or
 * from several clients at once, leaves one copy.
 */
import type { Clock } from "../base/clock.ts";
import { isPondError, PondError } from "../base/errors.ts";
import { equalJson } from "../base/json/json.ts";
import type { Event, Session, SessionId } from "../model/index.ts";
import { formatTimestamp } from "../model/index.ts";
import { pondFacts, withFacts } from "../model/derived/index.ts";
import type { Violation } from "../model/events/index.ts";
import { decodeEvent, isObject, outsideEventFault } from "../model/events/index.ts";
import type { Ingest } from "../sessions/ingest/index.ts";
import type { MessageClaim, SessionStore } from "../sessions/index.ts";
import type { IngestRequest, IngestResponse, RowError, RowResult } from "../wire/index.ts";
import { MAX_EVENTS } from "../wire/index.ts";
import type { Context } from "./context/context.ts";

/** Another writer stored another value under the same id at the same moment: told again, it is a version. */
const MOST_ATTEMPTS = 5;

export async function ingest(context: Context, request: IngestRequest): Promise<IngestResponse> {
  const events = checkEvents(request.events);
  const store = await context.store();
  // A hole is a position as any other.
  const rows = Array.from(events, rowOf);
  for (let attempt = 1; ; attempt += 1) {
    const run = new IngestRun(context, store, rows);
    try {
      const results = await run.results();
      if (context.embeddings !== undefined) await lookForTextsAgain(context);
      return answer(results);
    } catch (error) {
      if (!isPondError(error) || error.code !== "conflict" || attempt === MOST_ATTEMPTS) throw error;
      run.keepInserted();
    }
  }
}

/** The next sync embeds what is stored here, also where it finds nothing new itself. */
async function lookForTextsAgain({ config }: Context): Promise<void> {
  (await import("../state/besides.ts")).forgetEmbedded(config.paths.state);
}

function checkEvents(events: unknown): readonly unknown[] {
  if (!Array.isArray(events))
    throw new PondError("validation_failed", "events must be a list of events", {
      data: { field: "events" },
    });
  if (events.length > MAX_EVENTS)
    throw new PondError("validation_failed", `${events.length} events are too many for one request`, {
      reason: "limit",
      hint: `give at most ${MAX_EVENTS}, split between messages; the session comes first in each request`,
      data: { field: "events", value: events.length, most: MAX_EVENTS },
    });
  return events;
}

/** An event of the request and what became of it. */
interface Row {
  readonly event: Event;
  readonly names: Pick<RowResult, "kind" | "session_id" | "message_id" | "part_id">;
  /** What is wrong with the event as such. */
  readonly fault: Violation | undefined;
  /** False for what cannot have been meant for a part of the open message, so that it refuses nothing but itself. */
  readonly isObject: boolean;
  /** An attempt before this one stored it. */
  isInserted: boolean;
}

/** A message whose parts may still come. */
interface OpenMessage {
  readonly row: Row;
  readonly parts: Row[];
  claim?: MessageClaim;
  error?: RowError;
}

/** One attempt to store all rows. */
class IngestRun {
  readonly #store: SessionStore;
  readonly #rows: readonly Row[];
  readonly #writer: Ingest;
  readonly #errors = new Map<Row, RowError>();
  readonly #messages: OpenMessage[] = [];
  readonly #clock: Clock;
  /** By session, the messages that were stored before or given before in this request. */
  #known: Map<string, Set<string>> = new Map();
  #open: OpenMessage | undefined;
  #current: Row | undefined;

  constructor({ clock }: Context, store: SessionStore, rows: readonly Row[]) {
    this.#store = store;
    this.#rows = rows;
    this.#clock = clock;
    this.#writer = store.ingest({
      clock,
      isOutside: true,
      onViolation: (violation) => this.#refuse(violation),
      onClaim: (claim) => {
        if (this.#open !== undefined) this.#open.claim = claim;
      },
    });
  }

  async results(): Promise<readonly RowResult[]> {
    const before = await this.#store.sessions(this.#sessionIds());
    this.#known = await this.#store.messageIds([...before.keys()]);
    for (const row of this.#rows) await this.#give(row);
    await this.#endMessage();
    const { sessions } = await this.#writer.flush();
    const results = new Map<Row, RowResult>();
    for (const { row, parts, claim, error } of this.#messages) {
      if (error !== undefined) for (const each of [row, ...parts]) this.#errors.set(each, error);
      if (error !== undefined || claim === undefined) continue;
      const moved = movedError(row.event, claim);
      if (moved === undefined) results.set(row, messageResult(row, claim));
      else this.#errors.set(row, moved);
      for (const part of parts) results.set(part, { ...part.names, status: partStatus(part, claim) });
    }
    await this.#addSessionResults(results, { before, inserted: sessions.inserted });
    return this.#rows.map((row) => results.get(row) ?? refusedResult(row, this.#errors.get(row)));
  }

  /** After a failed attempt: its rows that are stored were stored by this request. */
  keepInserted(): void {
    for (const { row, claim } of this.#messages) if (claim?.result === "inserted") row.isInserted = true;
  }

  async #give(row: Row): Promise<void> {
    if (row.fault !== undefined && !row.isObject) {
      this.#errors.set(row, errorOf(row.fault));
      return;
    }
    if (row.names.kind === "session" || row.names.kind === "message") await this.#endMessage();
    this.#current = row;
    try {
      // The writer has to see an object that is no event, too: it may have been meant for a part of the open message.
      await this.#writer.add([this.#dated(row.event)]);
    } catch (error) {
      const refused = this.#unlessFailed(error);
      if (this.#open !== undefined && row.names.kind === "part") this.#open.error = refused;
      else this.#errors.set(row, refused);
    }
    if (this.#errors.has(row)) return;
    if (row.names.kind === "message") this.#messages.push((this.#open = { row, parts: [] }));
    else if (row.names.kind === "part") this.#open?.parts.push(row);
  }

  /**
   * A message that comes again may be another version of it, and the one that came last is the newest
   * (spec.md#model-revisions): its own time is that of the version before.
   */
  #dated(event: Event): Event {
    if (event?.kind !== "message") return event;
    const { message } = event;
    const ids = this.#known.get(message.session_id) ?? new Set();
    const isKnown = ids.has(message.id);
    this.#known.set(message.session_id, ids.add(message.id));
    if (!isKnown || pondFacts(message.options).at !== undefined) return event;
    return {
      ...event,
      message: { ...message, options: withFacts(message.options, { at: this.#clock.now() }) },
    };
  }

  /** The writer places a message once it is complete: what no table can hold is found out here. */
  async #endMessage(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    try {
      await this.#writer.endSession();
    } catch (error) {
      open.error = this.#unlessFailed(error);
    }
    this.#open = undefined;
  }

  #refuse(violation: Violation): void {
    const row = this.#current;
    if (row === undefined) return;
    const error = errorOf(row.fault ?? violation);
    this.#errors.set(row, error);
    if (violation.alsoRefused === undefined || this.#open === undefined) return;
    // A message is stored with all its parts or not at all.
    this.#open.error = error;
    this.#open = undefined;
  }

  /** A row that no table can hold is its own failure; a store that fails is everybody's. */
  #unlessFailed(error: unknown): RowError {
    if (this.#writer.isFailed || !isPondError(error) || error.code !== "validation_failed") throw error;
    return { rule: "adapter-bounded-values", message: error.message };
  }

  #sessionIds(): ReadonlySet<string> {
    return new Set(this.#rows.flatMap(({ event }) => (isSession(event) ? [event.session.id] : [])));
  }

  /** A session row never changes: what is stored now decides whose it is. */
  async #addSessionResults(
    results: Map<Row, RowResult>,
    known: { readonly before: ReadonlyMap<SessionId, Session>; readonly inserted: number },
  ): Promise<void> {
    const given = this.#rows.filter((row) => isSession(row.event) && !this.#errors.has(row));
    const stored = await this.#store.sessions(this.#sessionIds());
    const isNew = (row: Row): boolean => isSession(row.event) && !known.before.has(row.event.session.id);
    const firsts = new Map<string | undefined, Row>();
    for (const row of given.filter(isNew).toReversed()) firsts.set(row.names.session_id, row);
    // Fewer: another writer was first for some of them, and nothing tells for which.
    const areOurs = known.inserted === firsts.size;
    for (const row of given) {
      if (!isSession(row.event)) continue;
      const error = differenceError(row.event.session, stored.get(row.event.session.id));
      const isInserted = row.isInserted || (areOurs && firsts.get(row.names.session_id) === row);
      if (error !== undefined) this.#errors.set(row, error);
      else results.set(row, { ...row.names, status: isInserted ? "inserted" : "matched" });
    }
  }
}

function rowOf(value: unknown): Row {
  const decoded = decodeEvent(value);
  const fault = outsideEventFault(decoded);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the writer judges it, whatever it is
  const event = (fault === undefined ? decoded : undefined) as Event;
  const names = fault === undefined ? namesOf(event) : {};
  return { event, fault, isObject: isObject(value), names, isInserted: false };
}

function namesOf(event: Event): Row["names"] {
  const { kind } = event;
  if (kind === "session") return { kind, ...text("session_id", event.session?.id) };
  if (kind === "message")
    return {
      kind,
      ...text("session_id", event.message?.session_id),
      ...text("message_id", event.message?.id),
    };
  return {
    kind,
    ...text("session_id", event.part?.session_id),
    ...text("message_id", event.part?.message_id),
    ...text("part_id", event.part?.id),
  };
}

/** Programs without types may give anything. */
const text = (name: string, value: unknown): Readonly<Record<string, string>> =>
  typeof value === "string" ? { [name]: value } : {};

const isSession = (event: Event | undefined): event is Extract<Event, { kind: "session" }> =>
  event?.kind === "session" && typeof event.session?.id === "string";

function messageResult(row: Row, claim: MessageClaim): RowResult {
  const { rowId, result = "matched" } = claim;
  return {
    ...row.names,
    status: row.isInserted ? "inserted" : result,
    ...(rowId === row.names.message_id ? {} : { stored_as: rowId }),
  };
}

/** An equal message is stored once, where it first was: its position is no part of its value (spec.md#storage-versions). */
function movedError(event: Event, { rowSeq }: MessageClaim): RowError | undefined {
  if (event.kind !== "message" || event.message.seq === rowSeq) return undefined;
  const { id } = event.message;
  const where = rowSeq === undefined ? "without a seq" : `with seq ${rowSeq}`;
  const message = `message ${id} is stored ${where}, which never changes`;
  return { rule: "adapter-integrity-additive-sync", message, field: "seq" };
}

const partStatus = ({ names }: Row, claim: MessageClaim): "inserted" | "matched" =>
  claim.partResult(names.part_id ?? "") ?? "matched";

/**
 * Matched means equal: labels never change (spec.md#session-labels-immutable), and nothing else of a stored session does
 * (spec.md#adapter-integrity-additive-sync). A column cannot represent a lone surrogate.
 */
function differenceError(given: Session, stored: Session | undefined): RowError | undefined {
  if (stored === undefined) return undefined;
  const differs = (field: keyof Session, rule: RowError["rule"], value: string): RowError => ({
    rule,
    message: `session ${given.id} is stored with ${field} ${value}, which never changes; its messages are stored there`,
    field,
  });
  for (const field of ["source_agent", "project"] as const)
    if (given[field].toWellFormed() !== stored[field].toWellFormed())
      return differs(field, "session-labels-immutable", JSON.stringify(stored[field]));
  for (const field of ["parent_session_id", "parent_message_id", "relation"] as const)
    if (given[field] !== stored[field])
      return differs(field, "adapter-integrity-additive-sync", JSON.stringify(stored[field] ?? null));
  if (given.created_at !== stored.created_at)
    return differs("created_at", "adapter-integrity-additive-sync", formatTimestamp(stored.created_at));
  return equalJson(given.options, stored.options)
    ? undefined
    : differs("options", "adapter-integrity-additive-sync", "of another value");
}

const errorOf = ({ rule, message, field }: Violation): RowError => ({
  rule,
  message,
  ...(field === undefined ? {} : { field }),
});

const refusedResult = (row: Row, error: RowError | undefined): RowResult => {
  if (error === undefined) throw new PondError("internal", "a row of the request has no result");
  return { ...row.names, status: "error", error };
};

function answer(results: readonly RowResult[]): IngestResponse {
  const count = (status: RowResult["status"]): number =>
    results.filter((result) => result.status === status).length;
  return {
    results,
    inserted: count("inserted"),
    matched: count("matched"),
    errors: count("error"),
  };
}
