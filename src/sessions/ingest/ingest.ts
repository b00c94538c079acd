/**
 * Canonical events into the store (spec.md#session-ingest): streamed, in batches bounded by rows and bytes, adding
 * only rows that are absent. A batch is filled while others are being written.
 */
import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Event, Message, Part, RecordPiece, Session } from "../../model/index.ts";
import type { Violation } from "../../model/events/index.ts";
import { encodeRepeats, searchText } from "../../model/derived/index.ts";
import { EventValidator } from "../../model/events/index.ts";
import type { BatchBuilder } from "../../substrate/index.ts";
import type { MessageClaim } from "../tables/claim.ts";
import { Claim } from "../tables/claim.ts";
import type { Durable, Stored } from "./commits.ts";
import { Commits } from "./commits.ts";
import { contentHash } from "../tables/content-hash.ts";
import type { PartRow } from "../tables/encode.ts";
import { partBytes, partRow, sessionRow } from "../tables/encode.ts";
import { IngestBatch } from "./ingest-batch.ts";
import type { PARTS, SESSIONS } from "../tables/schema.ts";
import type { StateNote } from "../tables/state-draft.ts";
import { StateDraft } from "../tables/state-draft.ts";
import type { IngestTables } from "../tables/tables.ts";

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

export interface IngestOptions<C = never, S = never> {
  readonly clock: Clock;
  readonly limits?: IngestLimits;
  /** The events are of a program outside, which is held to more (spec.md#model-own-facts). */
  readonly isOutside?: true;
  /**
   * The first batch goes with the source that is at its end after so long, however little it holds, and is waited for; the
   * next after twice as long, and so on: who is killed soon has come further than the one before. It costs some commits,
   * so it is for those who were killed.
   */
  readonly patienceMs?: number | undefined;
  /** Called for each event that breaks a rule; the stream goes on. */
  readonly onViolation?: (violation: Violation, event: Event) => void;
  /** Called with each message as it is put into a batch; what becomes of it is known once everything is flushed. */
  readonly onClaim?: (claim: MessageClaim) => void;
  /** Called once batches are durable, with what was given along. Waited for; where it fails, the batches have failed. */
  readonly onCommit?: (durable: Durable<C, S>) => Promise<void> | void;
}

/** A message that is open: its parts are still coming. */
interface OpenMessage {
  readonly message: Message;
  readonly record: RecordPiece | undefined;
  readonly parts: Part[];
  /** Its parts as rows, and how many of them are in a batch. */
  readonly rows: PartRow[];
  placed: number;
  /** Once it is in a batch. */
  claim?: Claim;
}

/**
 * `C`: what a checkpoint is to whoever reads, `S`: what a source is. They come back by `onCommit`, as they were given.
 */
export class Ingest<C = never, S = never> {
  readonly #tables: IngestTables;
  readonly #options: IngestOptions<C, S>;
  readonly #limits: IngestLimits;
  readonly #validator: EventValidator;
  readonly #commits: Commits<C, S>;
  /** Never filled: tell which rows can be. */
  readonly #sessionRows: BatchBuilder<typeof SESSIONS>;
  readonly #partRows: BatchBuilder<typeof PARTS>;
  #batch: IngestBatch<C, S>;
  #session: Session | undefined;
  #open: OpenMessage | undefined;
  /** The read that is under way: rows that it stores carry its name. */
  #origin = newReadName();
  /** The state that is being told of the open session. */
  #draft: StateDraft | undefined;
  /** The first message of the record that was told last: further pieces of it may follow. */
  #first: Claim | undefined;
  /** Sessions that came again in one batch, as they were or under other labels. */
  readonly #again = { repeated: 0, relabelled: 0 };
  #rejected = 0;
  #patienceMs: number;
  /** When the batch was begun, in milliseconds since 1970. */
  #begun: number;
  /** Events since the event loop last turned. */
  #unturned = 0;

  constructor(tables: IngestTables, options: IngestOptions<C, S>) {
    this.#tables = tables;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#validator = new EventValidator({ isOutside: options.isOutside === true });
    this.#sessionRows = tables.sessions.batch();
    this.#partRows = tables.parts.batch();
    this.#batch = new IngestBatch(tables);
    this.#patienceMs = options.patienceMs ?? Infinity;
    this.#begun = options.clock.now();
    this.#commits = new Commits(tables, {
      clock: options.clock,
      onCommit: (durable) => options.onCommit?.(durable),
    });
  }

  /** Takes events in the order of spec.md#adapter-integrity-event-ordering. Waits only when a batch is full. */
  async add(events: Iterable<Event>): Promise<void> {
    for (const event of events) {
      const violation = this.#validator.check(event);
      if (violation !== undefined) {
        this.#rejected += 1;
        if (violation.alsoRefused !== undefined) this.#refuseMessage();
        this.#options.onViolation?.(violation, event);
      } else while (this.#take(event) === "full") await this.#startCommit();
      if (this.#isFull()) await this.#startCommit();
      else if (this.#commits.areUnderWay && ++this.#unturned >= EVENTS_PER_TURN) await this.#turn();
    }
  }

  /** What follows is told by another read: of its sessions states will be recorded. */
  startSource(): void {
    this.#origin = newReadName();
    this.#draft = undefined;
  }

  /** A record of the open session that is not told again, in its place: as it is stored, or as the state before had it. */
  async addStored(session: string, record: RecordPiece, positioned: boolean): Promise<void> {
    await this.#endOpenMessage();
    this.#draft ??= new StateDraft();
    this.#batch.addStored({ draft: this.#draft, session, record, positioned });
  }

  /**
   * Ends what is told of a session: its state is recorded with the rows, once they are durable. Where it cannot be, the
   * source comes back as unfinished.
   */
  async endState(note: StateNote, source: S): Promise<void> {
    await this.#endOpenMessage();
    this.#batch.states.push({ draft: this.#draft ?? new StateDraft(), note, source });
    this.#draft = undefined;
  }

  /** Lets the commits take their next step: a source that never waits would keep every answer of the engine waiting. */
  async #turn(): Promise<void> {
    this.#unturned = 0;
    await setImmediate();
  }

  /**
   * Says that a source was read up to here: the checkpoint comes back once everything given so far is durable, session
   * rows included. The next event must be a session.
   */
  async checkpoint(checkpoint: C): Promise<void> {
    await this.endSession();
    this.#batch.checkpoints.push(checkpoint);
    if (this.#options.clock.now() - this.#begun < this.#patienceMs) return;
    await this.#startCommit();
    await this.#commits.all();
    this.#patienceMs *= 2;
  }

  /** Ends the message that is open: with its source, whose fault it is if no row can hold it. */
  async endSession(): Promise<void> {
    await this.#endOpenMessage();
    this.#session = undefined;
    this.#draft = undefined;
  }

  async #endOpenMessage(): Promise<void> {
    while (this.#endMessage() === "full") await this.#startCommit();
    this.#first = undefined;
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
    this.#draft = undefined;
    this.#open = undefined;
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
    if (event.kind === "part") return this.#takePart(event.part);
    if (this.#endMessage() === "full") return "full";
    if (event.kind === "message") {
      const { message, record } = event;
      this.#open = { message, record, parts: [], rows: [], placed: 0 };
      return undefined;
    }
    this.#first = undefined;
    const row = sessionRow(event.session, this.#now());
    // Written with a batch of many sources: one that the table cannot hold fails its own source, here.
    this.#sessionRows.check(row);
    if (this.#session?.id !== event.session.id) this.#draft = undefined;
    this.#session = event.session;
    const added = this.#batch.addSession(row);
    if (added !== "added") this.#again[added] += 1;
    return undefined;
  }

  /** A message is stored with all its parts or not at all. */
  #takePart(part: Part): undefined {
    const row = partRow(part);
    try {
      this.#partRows.check(row);
    } catch (error) {
      this.#open = undefined;
      throw error;
    }
    this.#open?.parts.push(part);
    this.#open?.rows.push(row);
  }

  /** The message is complete when anything but its parts follows: only now its indexed text is known. */
  #endMessage(): "full" | undefined {
    const open = this.#open;
    if (open === undefined) return undefined;
    let isPlaced = false;
    try {
      isPlaced = this.#place(open);
    } catch (error) {
      // One that no row can hold is its source's failure, and not that of all sources behind it.
      this.#open = undefined;
      throw error;
    }
    if (!isPlaced) return "full";
    this.#open = undefined;
    return undefined;
  }

  /** The message, then its parts: its row is what claims the id. False where the batch is full. */
  #place(open: OpenMessage): boolean {
    const { rows } = open;
    if (open.claim === undefined) {
      const claim = this.#claim(open);
      const facts = {
        searchText: searchText(open.message, open.parts),
        parts: rows.length,
        partBytes: rows.reduce((sum, row) => sum + partBytes(row), 0),
        ingested_at: this.#now(),
        hash: claim.hash,
        origin: this.#origin,
      };
      if (this.#batch.addMessage(claim, open.message, facts) === "full") return false;
      this.#options.onClaim?.(claim);
      open.claim = claim;
      if (claim.record.piece === 0) this.#first = claim;
    }
    for (; open.placed < rows.length; open.placed += 1) {
      const row = rows[open.placed];
      if (row !== undefined && this.#batch.addPart(row, open.claim) === "full") return false;
    }
    return true;
  }

  #claim({ message, record, parts }: OpenMessage): Claim {
    const { id, session_id: session, seq } = message;
    const given = record ?? { id, hash: contentHash(message, parts), piece: 0 };
    const isPiece = given.piece > 0 && this.#first?.record.id === given.id;
    if (record !== undefined) this.#draft ??= new StateDraft();
    return new Claim({
      session,
      id,
      record: given,
      repeats: encodeRepeats(message),
      seq,
      origin: this.#origin,
      first: isPiece ? this.#first : undefined,
      draft: record === undefined ? undefined : this.#draft,
    });
  }

  /** A message is stored with all its parts or not at all. */
  #refuseMessage(): void {
    this.#rejected += 1;
    this.#open = undefined;
  }

  #isFull(): boolean {
    return this.#batch.rows >= this.#limits.rows || this.#batch.bytes >= this.#limits.bytes;
  }

  /** Hands the batch to the store and starts the next one. The session still open keeps its row back. */
  async #startCommit(): Promise<void> {
    await this.#commits.waitForSlot();
    const batch = this.#batch;
    this.#batch = new IngestBatch(this.#tables);
    this.#begun = this.#options.clock.now();
    const open = this.#session?.id;
    const isContinued = open !== undefined && batch.holdBack(open, this.#batch);
    this.#commits.start(batch, isContinued ? open : undefined);
  }

  #now(): number {
    return this.#options.clock.now() * 1000;
  }
}

/** Some milliseconds of work. */
const EVENTS_PER_TURN = 200;

/** No two reads have the same name, on whatever machine: with a position it names one record. */
function newReadName(): string {
  return randomBytes(9).toString("base64url");
}
