/**
 * Canonical events into the store (spec.md#session-ingest): streamed, in batches bounded by rows and bytes, adding
 * only rows that are absent. A batch is filled while others are being written.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Event, Message, Part, Session, Violation } from "../model/index.ts";
import { EventValidator, searchText } from "../model/index.ts";
import type { Added, BatchBuilder } from "../substrate/index.ts";
import type { Stored } from "./commits.ts";
import { Commits } from "./commits.ts";
import { partBytes, partRow, sessionRow } from "./encode.ts";
import { IngestBatch } from "./ingest-batch.ts";
import type { SESSIONS } from "./schema.ts";
import type { IngestTables } from "./tables.ts";

export interface IngestLimits {
  /** Rows of all tables that are held before a commit. */
  readonly rows: number;
  /** Bytes of text and payload that are held before a commit. */
  readonly bytes: number;
}

export const DEFAULT_LIMITS: IngestLimits = { rows: 30_000, bytes: 10_000_000 };

export interface IngestSummary extends Stored {
  /** Events that break a rule of the model, not stored. */
  readonly rejected: number;
}

export interface IngestOptions {
  readonly clock: Clock;
  readonly limits?: IngestLimits;
  /** Called for each event that breaks a rule; the stream goes on. */
  readonly onViolation?: (violation: Violation, event: Event) => void;
  /**
   * Called once a batch is durable and its checkpoints are reached, with what is stored so far. Waited for; where it
   * fails, the batch has failed.
   */
  readonly onCommit?: (summary: IngestSummary) => Promise<void> | void;
}

export class Ingest {
  readonly #tables: IngestTables;
  readonly #options: IngestOptions;
  readonly #limits: IngestLimits;
  readonly #validator = new EventValidator();
  readonly #commits: Commits;
  /** Never filled: tells which rows can be. */
  readonly #sessionRows: BatchBuilder<typeof SESSIONS>;
  #batch: IngestBatch;
  #session: Session | undefined;
  #message: Message | undefined;
  #parts: Part[] = [];
  #partBytes = 0;
  /** Sessions that came again in one batch, as they were or under other labels. */
  readonly #again = { repeated: 0, relabelled: 0 };
  #rejected = 0;
  /** Events since the event loop last turned. */
  #unturned = 0;

  constructor(tables: IngestTables, options: IngestOptions) {
    this.#tables = tables;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#sessionRows = tables.sessions.batch();
    this.#batch = new IngestBatch(tables);
    this.#commits = new Commits(tables, () => options.onCommit?.(this.summary()));
  }

  /** Takes events in the order of spec.md#adapter-integrity-event-ordering. Waits only when a batch is full. */
  async add(events: Iterable<Event>): Promise<void> {
    for (const event of events) {
      const violation = this.#validator.check(event);
      if (violation !== undefined) {
        this.#rejected += 1;
        if (violation.alsoRefused !== undefined) this.#refuseMessage();
        this.#options.onViolation?.(violation, event);
      } else if (this.#take(event) === "full") {
        await this.#startCommit();
        this.#take(event);
      }
      if (this.#isFull()) await this.#startCommit();
      else if (this.#commits.areUnderWay && ++this.#unturned >= EVENTS_PER_TURN) await this.#turn();
    }
  }

  /** Lets the commits take their next step: a source that never waits would keep every answer of the engine waiting. */
  async #turn(): Promise<void> {
    this.#unturned = 0;
    await setImmediate();
  }

  /**
   * Says that a source was read to its end: `reached` is called once everything given so far is durable, session rows
   * included. The next event must be a session.
   */
  async checkpoint(reached: () => void): Promise<void> {
    await this.endSession();
    this.#batch.checkpoints.push(reached);
  }

  /** Ends the message that is open: with its source, whose fault it is if no row can hold it. */
  async endSession(): Promise<void> {
    if (this.#endMessage() === "full") {
      await this.#startCommit();
      this.#endMessage();
    }
    this.#session = undefined;
  }

  /** Commits everything given so far, session rows included. Nothing is held afterwards. */
  async flush(): Promise<IngestSummary> {
    await this.endSession();
    await this.#startCommit();
    await this.#commits.all();
    return this.summary();
  }

  /** A batch could not be written: nothing that is given from now on will be. */
  get isFailed(): boolean {
    return this.#commits.areFailed;
  }

  /** Waits for the commits under way and drops what is not committed: it will be read again. */
  async stop(): Promise<IngestSummary> {
    await this.#commits.all();
    this.#batch = new IngestBatch(this.#tables);
    this.#session = undefined;
    this.#forgetMessage();
    return this.summary();
  }

  summary(): IngestSummary {
    const { stored } = this.#commits;
    const { inserted, matched } = stored.sessions;
    return {
      ...stored,
      sessions: { inserted, matched: matched + this.#again.repeated },
      relabelled: stored.relabelled + this.#again.relabelled,
      rejected: this.#rejected,
    };
  }

  /** "full": nothing was taken, the batch must go first. */
  #take(event: Event): "full" | undefined {
    if (event.kind === "part") return this.#addPart(event.part);
    if (this.#endMessage() === "full") return "full";
    if (event.kind === "message") this.#message = event.message;
    else {
      const row = sessionRow(event.session, this.#now());
      // Written with a batch of many sources: one that the table cannot hold fails its own source, here.
      this.#sessionRows.check(row);
      this.#session = event.session;
      const added = this.#batch.addSession(row);
      if (added !== "added") this.#again[added] += 1;
    }
    return undefined;
  }

  #addPart(part: Part): "full" | undefined {
    const row = partRow(part);
    try {
      if (this.#batch.parts.add(row) === "full") return "full";
    } catch (error) {
      // A message whose row is there has all its parts: without one of them it is not stored.
      this.#forgetMessage();
      throw error;
    }
    this.#parts.push(part);
    this.#partBytes += partBytes(row);
    return undefined;
  }

  /** The message is complete when anything but its parts follows: only now its indexed text is known. */
  #endMessage(): "full" | undefined {
    const message = this.#message;
    if (message === undefined) return this.#forgetMessage();
    const facts = {
      searchText: searchText(message, this.#parts),
      partBytes: this.#partBytes,
      ingested_at: this.#now(),
    };
    let added: Added | undefined;
    try {
      added = this.#batch.addMessage(message, facts);
    } finally {
      // One that no row can hold is its source's failure, and not that of all sources behind it.
      if (added !== "full") this.#forgetMessage();
    }
    return added === "full" ? "full" : undefined;
  }

  /** Parts of it that came before stay alone, as after a crash: nobody is shown them. */
  #refuseMessage(): void {
    this.#rejected += 1;
    this.#forgetMessage();
  }

  #forgetMessage(): undefined {
    this.#message = undefined;
    this.#parts = [];
    this.#partBytes = 0;
  }

  #isFull(): boolean {
    return this.#batch.rows >= this.#limits.rows || this.#batch.bytes >= this.#limits.bytes;
  }

  /** Hands the batch to the store and starts the next one. The session still open keeps its row back. */
  async #startCommit(): Promise<void> {
    await this.#commits.room();
    const batch = this.#batch;
    this.#batch = new IngestBatch(this.#tables);
    const open = this.#session?.id;
    const goesOn = open !== undefined && batch.holdBack(open, this.#batch);
    this.#commits.start(batch, goesOn ? open : undefined);
  }

  #now(): number {
    return this.#options.clock.now() * 1000;
  }
}

/** Some milliseconds of work. */
const EVENTS_PER_TURN = 200;
