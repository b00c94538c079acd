/**
 * Canonical events into the store (spec.md#session-ingest): streamed, in batches bounded by rows and bytes, adding
 * only rows that are absent. Parts are committed before messages and messages before their session's row, so that a
 * session whose row is there is whole, and one cut short by a crash is completed by the next run, never skipped.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Event, Message, Part, Session, Violation } from "../model/index.ts";
import { EventValidator, searchText } from "../model/index.ts";
import type { MessageRow, PartRow, SessionRow, UnlabelledMessageRow } from "./encode.ts";
import { messageRow, partBytes, partRow, sessionRow } from "./encode.ts";
import type { MESSAGES, PARTS, SESSIONS } from "./schema.ts";
import type { IngestTables, Inserted, Labels } from "./tables.ts";
import { AbsentRows } from "./tables.ts";

export interface IngestLimits {
  /** Rows of all tables that are held before a commit. */
  readonly rows: number;
  /** Bytes of text and payload that are held before a commit. */
  readonly bytes: number;
}

export const DEFAULT_LIMITS: IngestLimits = { rows: 20_000, bytes: 12_000_000 };

export interface IngestSummary {
  readonly sessions: Inserted;
  readonly messages: Inserted;
  readonly parts: Inserted;
  /** Sessions whose labels differ from the stored ones: the row is rejected, its messages go under the stored labels. */
  readonly relabelled: number;
  /** Events that break a rule of the model, not stored. */
  readonly rejected: number;
  readonly commits: number;
}

export interface IngestOptions {
  readonly clock: Clock;
  readonly limits?: IngestLimits;
  /** Called for each event that breaks a rule; the stream goes on. */
  readonly onViolation?: (violation: Violation, event: Event) => void;
  /** Called once a batch is durable and its checkpoints are reached, with what is stored so far. */
  readonly onCommit?: (summary: IngestSummary) => void;
}

/** Rows on their way: everything of a batch, in arrival order. */
interface Pending {
  readonly sessions: Map<string, Session>;
  readonly messages: UnlabelledMessageRow[];
  readonly parts: PartRow[];
  readonly labels: Map<string, Labels>;
  readonly checkpoints: (() => void)[];
  bytes: number;
}

export class Ingest {
  readonly #tables: IngestTables;
  readonly #options: IngestOptions;
  readonly #limits: IngestLimits;
  readonly #validator = new EventValidator();
  readonly #tally = {
    sessions: NO_ROWS,
    messages: NO_ROWS,
    parts: NO_ROWS,
    relabelled: 0,
    rejected: 0,
    commits: 0,
  };
  readonly #writers: {
    readonly sessions: AbsentRows<typeof SESSIONS>;
    readonly messages: AbsentRows<typeof MESSAGES>;
    readonly parts: AbsentRows<typeof PARTS>;
  };
  #pending: Pending = emptyPending();
  #session: Session | undefined;
  #message: Message | undefined;
  #parts: Part[] = [];
  #partBytes = 0;
  /** The commit under way: one at a time, while the next batch is being filled. */
  #commit: Promise<void> = Promise.resolve();
  #isCommitting = false;
  /** Events since the event loop last turned. */
  #unturned = 0;

  constructor(tables: IngestTables, options: IngestOptions) {
    this.#tables = tables;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#writers = {
      sessions: new AbsentRows(tables.sessions),
      messages: new AbsentRows(tables.messages),
      parts: new AbsentRows(tables.parts),
    };
  }

  /** Takes events in the order of spec.md#adapter-integrity-event-ordering. Waits only when a batch is full. */
  async add(events: Iterable<Event>): Promise<void> {
    for (const event of events) {
      const violation = this.#validator.check(event);
      if (violation !== undefined) {
        this.#tally.rejected += 1;
        this.#options.onViolation?.(violation, event);
      } else if (event.kind === "session") this.#startSession(event.session);
      else if (event.kind === "message") this.#startMessage(event.message);
      else this.#addPart(event.part);
      if (this.#isFull()) await this.#startCommit({ final: false });
      else if (this.#isCommitting && ++this.#unturned >= EVENTS_PER_TURN) await this.#turn();
    }
  }

  /** Lets the commit take its next step: a source that never waits would keep every answer of the engine waiting. */
  async #turn(): Promise<void> {
    this.#unturned = 0;
    await setImmediate();
  }

  /**
   * Says that a source was read to its end: `reached` is called once everything given so far is durable, session rows
   * included. The next event must be a session.
   */
  checkpoint(reached: () => void): void {
    this.#endMessage();
    this.#session = undefined;
    this.#pending.checkpoints.push(reached);
  }

  /** Commits everything given so far, session rows included. Nothing is held afterwards. */
  async flush(): Promise<IngestSummary> {
    this.#endMessage();
    this.#session = undefined;
    await this.#startCommit({ final: true });
    await this.#commit;
    return this.summary();
  }

  /** Waits for the commit under way and drops what is not committed: it will be read again. */
  async stop(): Promise<IngestSummary> {
    await this.#commit;
    this.#pending = emptyPending();
    return this.summary();
  }

  summary(): IngestSummary {
    return { ...this.#tally };
  }

  #startSession(session: Session): void {
    this.#endMessage();
    this.#session = session;
    this.#pending.labels.set(session.id, { source_agent: session.source_agent, project: session.project });
    if (!this.#pending.sessions.has(session.id)) this.#pending.sessions.set(session.id, session);
    else this.#tally.sessions = sum(this.#tally.sessions, { inserted: 0, matched: 1 });
  }

  #startMessage(message: Message): void {
    this.#endMessage();
    this.#message = message;
  }

  #addPart(part: Part): void {
    this.#parts.push(part);
    const row = partRow(part);
    this.#pending.parts.push(row);
    const bytes = partBytes(row);
    this.#partBytes += bytes;
    this.#pending.bytes += bytes + ROW_OVERHEAD;
  }

  /** The message is complete when anything but its parts follows: only now its indexed text is known. */
  #endMessage(): void {
    const message = this.#message;
    if (message === undefined) return;
    const facts = { searchText: searchText(message, this.#parts), partBytes: this.#partBytes };
    const row = messageRow(message, facts, this.#now());
    this.#message = undefined;
    this.#parts = [];
    this.#partBytes = 0;
    this.#pending.messages.push(row);
    this.#pending.bytes +=
      row.options.length + (row.content?.length ?? 0) + (row.search_text?.length ?? 0) + ROW_OVERHEAD;
  }

  #isFull(): boolean {
    const { messages, parts, sessions, bytes } = this.#pending;
    return messages.length + parts.length + sessions.size >= this.#limits.rows || bytes >= this.#limits.bytes;
  }

  /** Hands the batch to the store and starts the next one. The session still open keeps its row back. */
  async #startCommit({ final }: { readonly final: boolean }): Promise<void> {
    await this.#commit;
    const batch = this.#pending;
    this.#pending = emptyPending();
    const open = final ? undefined : this.#session;
    if (open !== undefined) {
      const row = batch.sessions.get(open.id);
      if (row !== undefined) this.#pending.sessions.set(open.id, row);
      batch.sessions.delete(open.id);
      this.#pending.labels.set(open.id, { source_agent: open.source_agent, project: open.project });
    }
    this.#isCommitting = true;
    this.#commit = this.#write(batch, open?.id).finally(() => {
      this.#isCommitting = false;
    });
    // A failure is reported by the next await of #commit, not as an unhandled rejection in between.
    this.#commit.catch(() => undefined);
  }

  async #write(batch: Pending, open: string | undefined): Promise<void> {
    const hasRows = batch.sessions.size + batch.messages.length + batch.parts.length > 0;
    if (hasRows) await this.#writeRows(batch, open);
    for (const reached of batch.checkpoints) reached();
    if (hasRows) this.#options.onCommit?.(this.summary());
  }

  async #writeRows(batch: Pending, open: string | undefined): Promise<void> {
    const [stored] = await Promise.all([
      this.#tables.labelsOf(batch.labels.keys()),
      this.#writers.parts.lookUp(batch.parts.map(({ session_id }) => session_id)),
      this.#writers.messages.lookUp(batch.messages.map(({ session_id }) => session_id)),
      this.#writers.sessions.lookUp(batch.sessions.keys()),
    ]);
    const labels = new Map([...batch.labels, ...stored]);
    const parts = batch.parts.toSorted(bySession);
    this.#tally.parts = sum(this.#tally.parts, await this.#writers.parts.insert(parts, open));
    const messages = batch.messages.map((row) => labelled(row, labels)).toSorted(bySession);
    this.#tally.messages = sum(this.#tally.messages, await this.#writers.messages.insert(messages, open));
    const now = this.#now();
    const sessions = [...batch.sessions.values()]
      .filter((session) => this.#isAcceptable(session, stored))
      .map((session): SessionRow => sessionRow(session, now));
    this.#tally.sessions = sum(
      this.#tally.sessions,
      await this.#writers.sessions.insert(sessions, undefined),
    );
    this.#tally.commits += 1;
  }

  /** Labels are immutable, because messages carry copies of them: a session that says otherwise is not stored. */
  #isAcceptable(session: Session, stored: ReadonlyMap<string, Labels>): boolean {
    const known = stored.get(session.id);
    if (known === undefined) return true;
    if (known.source_agent === session.source_agent && known.project === session.project.toWellFormed())
      return true;
    this.#tally.relabelled += 1;
    return false;
  }

  #now(): number {
    return this.#options.clock.now() * 1000;
  }
}

const NO_ROWS: Inserted = { inserted: 0, matched: 0 };

/** Some milliseconds of work. */
const EVENTS_PER_TURN = 200;

/** Bytes that a row costs beside its long texts. */
const ROW_OVERHEAD = 200;

function emptyPending(): Pending {
  return { sessions: new Map(), messages: [], parts: [], labels: new Map(), checkpoints: [], bytes: 0 };
}

function labelled(row: UnlabelledMessageRow, labels: ReadonlyMap<string, Labels>): MessageRow {
  const { source_agent, project } = labels.get(row.session_id) ?? { source_agent: "", project: "" };
  return { ...row, source_agent, project };
}

function sum(a: Inserted, b: Inserted): Inserted {
  return { inserted: a.inserted + b.inserted, matched: a.matched + b.matched };
}

/** Keeps a session together in its table; the sort is stable, so its rows stay in log order. */
function bySession(a: { readonly session_id: string }, b: { readonly session_id: string }): number {
  if (a.session_id === b.session_id) return 0;
  return a.session_id < b.session_id ? -1 : 1;
}
