/**
 * Writes batches: parts before messages and messages before the rows of their sessions, so that a session whose row is
 * there is whole, and one cut short by a crash is completed by the next run, never skipped (spec.md#session-ingest).
 * Two batches are under way at a time: one starts on a table when the one before has left it. The session rows of some
 * batches are written together: a commit costs as much for one row as for a thousand, and each leaves a fragment.
 */
import type { BatchBuilder, KeySet, TableSpec } from "../substrate/index.ts";
import type { SessionRow } from "./encode.ts";
import type { IngestBatch } from "./ingest-batch.ts";
import { isSameLabels } from "./ingest-batch.ts";
import type { IngestTables, Inserted, RowTarget, SessionLabels } from "./tables.ts";

export interface Stored {
  readonly sessions: Inserted;
  readonly messages: Inserted;
  readonly parts: Inserted;
  /** Sessions whose labels differ from the stored ones: the row is rejected, its messages go under the stored labels. */
  readonly relabelled: number;
  /** Batches that added something. */
  readonly commits: number;
}

/** What the store had of the sessions of a batch, and how they are labelled. */
interface Known {
  readonly labels: SessionLabels;
  readonly messages: readonly KeySet[];
  readonly parts: readonly KeySet[];
}

/** A batch whose session rows are still to be written. */
interface Held {
  readonly rows: readonly SessionRow[];
  /** Further sessions of the batch, that have a row. */
  readonly matched: number;
  readonly checkpoints: readonly (() => void)[];
  /** It added something already. */
  readonly isCounted: boolean;
}

const MOST_UNDER_WAY = 2;
/** What a crash may cost: these batches are read again. */
const MOST_HELD = { batches: 4, bytes: 4_000_000 };
/** Messages that are looked up by their ids, in one question. */
const FEW = 500;

export class Commits {
  readonly #tables: IngestTables;
  readonly #onCommit: () => Promise<void> | void;
  readonly #stored = { sessions: NO_ROWS, messages: NO_ROWS, parts: NO_ROWS, relabelled: 0, commits: 0 };
  #last = UnderWay.over();
  #underWay: UnderWay[] = [];
  #held: Held[] = [];
  #heldBytes = 0;
  /** The session that goes on in the next batch, and what the store had of it before its first one. */
  #open: { readonly id: string; readonly known: Promise<Known> } | undefined;

  /** `onCommit` is called once batches are durable and their checkpoints reached; its failure is theirs. */
  constructor(tables: IngestTables, onCommit: () => Promise<void> | void) {
    this.#tables = tables;
    this.#onCommit = onCommit;
  }

  get stored(): Stored {
    return { ...this.#stored };
  }

  get areUnderWay(): boolean {
    return this.#underWay.length > 0;
  }

  /** Waits until another batch may start. Throws what a batch under way failed with. */
  async room(): Promise<void> {
    while (this.#underWay.length >= MOST_UNDER_WAY) await this.#underWay[0]?.end.promise;
    // One that failed is no longer under way, and fails all after it.
    if (this.#last.isFailed) await this.all();
  }

  /** A batch failed, and with it all that come. */
  get areFailed(): boolean {
    return this.#last.isFailed;
  }

  /** Waits until everything is durable, or has failed: nothing is under way afterwards. */
  async all(): Promise<void> {
    await Promise.allSettled(this.#underWay.map(({ end }) => end.promise));
    try {
      await this.#last.end.promise;
      await this.#release();
    } catch (error) {
      // What came before is whole but for the rows that are held.
      await this.#release().catch(() => undefined);
      // Rows that could not be written are no longer held: nothing may be told as durable behind them.
      this.#last = UnderWay.failed(error);
      throw error;
    }
  }

  /** `open`: the session that goes on in the next batch. */
  start(batch: IngestBatch, open: string | undefined): void {
    const [before, mine] = [this.#last, new UnderWay()];
    const going = this.#open;
    const known = this.#lookUp(batch, { before: going?.id, next: open });
    if (open === undefined) this.#open = undefined;
    // Only what this batch looked up: what is known of sessions that are over is let go of.
    else if (open !== going?.id) this.#open = { id: open, known };
    this.#last = mine;
    this.#underWay.push(mine);
    this.#write(batch, together(known, going?.known), { before, mine })
      .catch((error: unknown) => mine.fail(error))
      .finally(() => {
        this.#underWay = this.#underWay.filter((each) => each !== mine);
      });
  }

  async #write(
    batch: IngestBatch,
    lookedUp: Promise<Known>,
    { before, mine }: { readonly before: UnderWay; readonly mine: UnderWay },
  ): Promise<void> {
    const stored = this.#stored;
    const known = await lookedUp;
    await before.parts.promise;
    const parts = await insert(this.#tables.parts, batch.parts, known.parts);
    stored.parts = sum(stored.parts, parts);
    mine.parts.resolve();
    await before.messages.promise;
    batch.relabel(known.labels.agreed);
    const messages = await insert(this.#tables.messages, batch.messages, known.messages);
    stored.messages = sum(stored.messages, messages);
    mine.messages.resolve();
    await before.end.promise;
    this.#hold(batch, known.labels, parts.inserted + messages.inserted > 0);
    if (this.#held.length >= MOST_HELD.batches || this.#heldBytes >= MOST_HELD.bytes) await this.#release();
    mine.end.resolve();
  }

  /** Labels are immutable, because messages carry copies of them: a session that says otherwise is not stored. */
  #hold(batch: IngestBatch, { stored, agreed }: SessionLabels, isCounted: boolean): void {
    const accepted = [...batch.sessions.values()].filter((session) =>
      isSameLabels(session, agreed.get(session.id) ?? session),
    );
    this.#stored.relabelled += batch.sessions.size - accepted.length;
    if (isCounted) this.#stored.commits += 1;
    const rows = accepted.filter(({ id }) => !stored.has(id));
    this.#heldBytes += rows.reduce((bytes, { options }) => bytes + options.length, 0);
    this.#held.push({
      rows,
      matched: accepted.length - rows.length,
      checkpoints: batch.checkpoints,
      isCounted,
    });
  }

  /** Writes the session rows that are held: what was given up to here is durable now. */
  async #release(): Promise<void> {
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    this.#heldBytes = 0;
    const rows = held.flatMap((each) => each.rows);
    const inserted = await this.#writeSessions(rows);
    const matched = held.reduce((count, each) => count + each.matched, rows.length - inserted);
    this.#stored.sessions = sum(this.#stored.sessions, { inserted, matched });
    if (inserted > 0 && !held.some(({ isCounted }) => isCounted)) this.#stored.commits += 1;
    for (const { checkpoints } of held) for (const reached of checkpoints) reached();
    await this.#onCommit();
  }

  async #writeSessions(all: readonly SessionRow[]): Promise<number> {
    const { sessions } = this.#tables;
    let inserted = 0;
    let rows = sessions.batch();
    for (const session of all) {
      if (rows.add(session) !== "full") continue;
      inserted += (await sessions.insert(rows.finish())).inserted;
      rows = sessions.batch();
      rows.add(session);
    }
    if (rows.rows > 0) inserted += (await sessions.insert(rows.finish())).inserted;
    return inserted;
  }

  /**
   * What the store has of the sessions of a batch, so that it is not written to it again; of the one that goes on from
   * the batch `before` that is known. A session without a row is new, or was cut short: the insert itself leaves alone
   * what is there.
   */
  async #lookUp(
    batch: IngestBatch,
    { before, next }: { readonly before: string | undefined; readonly next: string | undefined },
  ): Promise<Known> {
    const labels = await this.#tables.labelsOf(batch.labels);
    const ids = [...labels.stored.keys()].filter((id) => id !== before);
    // A few new messages of a session that may be long; what goes on in the next batch is looked up once for all.
    const isFew = next === undefined && batch.messageIds.length <= FEW;
    const [messages, parts] = await this.#keysOf(ids, isFew ? batch.messageIds : undefined);
    return { labels, messages, parts };
  }

  /** Of these messages, or of all messages of the sessions. */
  async #keysOf(
    sessions: readonly string[],
    messages: readonly string[] | undefined,
  ): Promise<readonly [readonly KeySet[], readonly KeySet[]]> {
    if (sessions.length === 0) return [[], []];
    const [values, place] = messages === undefined ? ([sessions, 0] as const) : ([messages, 1] as const);
    const [ofMessages, ofParts] = await Promise.all([
      this.#tables.messages.knownKeys(values, place),
      this.#tables.parts.knownKeys(values, place),
      // That the sessions have rows is known by their labels; to ask for the keys makes sure that the rows stay.
      this.#tables.sessions.knownKeys(sessions),
    ]);
    return [[ofMessages], [ofParts]];
  }
}

/** A batch on its way, as the next one sees it. */
class UnderWay {
  /** Resolved when it has left the table. */
  readonly parts = Promise.withResolvers<void>();
  readonly messages = Promise.withResolvers<void>();
  readonly end = Promise.withResolvers<void>();
  isFailed = false;

  constructor() {
    // A failure is reported by whoever waits next, not as an unhandled rejection in between.
    for (const { promise } of this.#gates) promise.catch(() => undefined);
  }

  static over(): UnderWay {
    const over = new UnderWay();
    for (const gate of over.#gates) gate.resolve();
    return over;
  }

  static failed(error: unknown): UnderWay {
    const failed = new UnderWay();
    failed.fail(error);
    return failed;
  }

  fail(error: unknown): void {
    this.isFailed = true;
    for (const gate of this.#gates) gate.reject(error);
  }

  get #gates() {
    return [this.parts, this.messages, this.end];
  }
}

const NO_ROWS: Inserted = { inserted: 0, matched: 0 };

async function together(own: Promise<Known>, before: Promise<Known> | undefined): Promise<Known> {
  const [known, earlier] = await Promise.all([own, before]);
  return {
    labels: known.labels,
    messages: [...known.messages, ...(earlier?.messages ?? [])],
    parts: [...known.parts, ...(earlier?.parts ?? [])],
  };
}

async function insert<S extends TableSpec>(
  table: RowTarget<S>,
  rows: BatchBuilder<S>,
  known: readonly KeySet[],
): Promise<Inserted> {
  const offered = rows.offered;
  for (const keys of known) if (keys.size > 0) rows.drop(keys);
  const inserted = rows.rows === 0 ? 0 : (await table.insert(rows.finish())).inserted;
  return { inserted, matched: offered - inserted };
}

function sum(a: Inserted, b: Inserted): Inserted {
  return { inserted: a.inserted + b.inserted, matched: a.matched + b.matched };
}
