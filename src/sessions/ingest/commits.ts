/**
 * Writes batches: messages, then their parts, then the rows of their sessions and the states of their sources, so that what
 * a state holds is whole, and what a crash cut short is completed by the next run, never skipped (spec.md#session-ingest).
 * Two batches are under way at a time: one starts on a table when the one before has left it. The session rows of some
 * batches are written together: a commit costs as much for one row as for a thousand, and each leaves a fragment.
 */
import type { Clock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { joinKey } from "../../substrate/index.ts";
import type { Claim, StoredVersion, StoredVersions } from "../tables/claim.ts";
import type { SessionRow } from "../tables/encode.ts";
import type { EndedState, IngestBatch } from "./ingest-batch.ts";
import { isSameLabels } from "./ingest-batch.ts";
import { incompleteMessages } from "../tables/part-counts.ts";
import type { RecordedState } from "../tables/states.ts";
import { stateRow } from "../tables/states.ts";
import type { IngestTables, Inserted, SessionLabels } from "../tables/tables.ts";
import { byKey } from "../tables/versions.ts";

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
  readonly versions: readonly StoredVersion[];
  readonly states: readonly RecordedState[];
}

/** What commits made durable, in the values that were given with the batches. */
export interface Durable<C, S> {
  /** Everything before them is stored, session rows included. */
  readonly checkpoints: readonly C[];
  /** Sources of which a state could not be recorded: they are to be read again. */
  readonly unfinished: readonly S[];
}

type OnCommit<C, S> = (durable: Durable<C, S>) => Promise<void> | void;

/** A batch whose session rows and states are still to be written. */
interface Held<C, S> {
  readonly rows: readonly SessionRow[];
  /** Further sessions of the batch, that have a row. */
  readonly matched: number;
  readonly states: readonly EndedState<S>[];
  readonly known: Known;
  readonly checkpoints: readonly C[];
  /** It added something already. */
  readonly isCounted: boolean;
}

const MOST_UNDER_WAY = 2;
/** What a crash may cost: these batches are read again. */
const MOST_HELD = { batches: 4, bytes: 4_000_000, ms: 2000 };
/** Messages that are looked up by their ids, in one question. */
const FEW = 500;
/** To record a state whose number another process took. */
const MOST_ATTEMPTS = 5;

export class Commits<C, S> {
  readonly #tables: IngestTables;
  readonly #clock: Clock;
  readonly #onCommit: OnCommit<C, S>;
  readonly #stored = { sessions: NO_ROWS, messages: NO_ROWS, parts: NO_ROWS, relabelled: 0, commits: 0 };
  #last = InFlight.over();
  #underWay: InFlight[] = [];
  #held: Held<C, S>[] = [];
  #heldBytes = 0;
  /** When nothing was held last, in milliseconds since 1970. */
  #released: number;
  /** The session that goes on in the next batch, and what the store had of it before its first one. */
  #open: { readonly id: string; readonly known: Promise<Known> } | undefined;

  /** `onCommit` is called once batches are durable, with what they carried; its failure is theirs. */
  constructor(
    tables: IngestTables,
    { clock, onCommit }: { readonly clock: Clock; readonly onCommit: OnCommit<C, S> },
  ) {
    this.#tables = tables;
    this.#clock = clock;
    this.#onCommit = onCommit;
    this.#released = clock.now();
  }

  get stored(): Stored {
    return { ...this.#stored };
  }

  get areUnderWay(): boolean {
    return this.#underWay.length > 0;
  }

  /** Waits until another batch may start. Throws what a batch under way failed with. */
  async waitForSlot(): Promise<void> {
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
      this.#last = InFlight.failed(error);
      throw error;
    }
  }

  /** `open`: the session that goes on in the next batch. */
  start(batch: IngestBatch<C, S>, open: string | undefined): void {
    const [before, mine] = [this.#last, new InFlight()];
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
    batch: IngestBatch<C, S>,
    lookedUp: Promise<Known>,
    { before, mine }: { readonly before: InFlight; readonly mine: InFlight },
  ): Promise<void> {
    const known = await lookedUp;
    await before.messages.promise;
    batch.relabel(known.labels.agreed);
    const versions = await this.#writeMessages(batch, known);
    mine.messages.resolve();
    await before.parts.promise;
    const added = await this.#writeParts(batch, known);
    mine.parts.resolve();
    await before.end.promise;
    batch.tell(versions);
    this.#hold(batch, known, added);
    if (this.#isDue()) await this.#release();
    mine.end.resolve();
  }

  /**
   * Messages first: a row that is stored has its id, and whoever brings another value under it finds that out before any
   * of its parts is written. Gives what is stored now, as far as it matters.
   */
  async #writeMessages(batch: IngestBatch<C, S>, known: Known): Promise<StoredVersions> {
    const { messages, hashesOf, versions: look } = this.#tables;
    let versions = byKey(known.versions);
    const unhashed = batch.claims.flatMap(({ givenKey }) => {
      const version = versions.get(givenKey);
      return version?.hash === null ? [version] : [];
    });
    const hashes = new Map<StoredVersion, number | undefined>();
    if (unhashed.length > 0)
      for (const [at, hash] of (await hashesOf(unhashed)).entries()) {
        const version = unhashed[at];
        if (version !== undefined) hashes.set(version, hash);
      }
    for (const claim of batch.claims) claim.decide(versions, (version) => hashes.get(version));
    batch.keepOpenMessages();
    const open = batch.claims.filter(({ outcome }) => outcome === "open");
    const { inserted } = open.length === 0 ? NOTHING : await messages.insert(batch.messages.finish());
    if (inserted === open.length) for (const claim of open) claim.outcome = "new";
    else {
      // Rows that were cut off from their sessions, or that another writer stored at the same moment.
      versions = byKey(await look({ ids: batch.ids }));
      for (const claim of open) claim.confirm(versions);
    }
    const lost = batch.claims.filter(({ outcome }) => outcome === "lost");
    const refused = lost.find(({ draft }) => draft === undefined);
    if (refused !== undefined) throw lostTo(refused);
    const isNew = open.filter(({ outcome }) => outcome === "new").length;
    const matched = batch.claims.length - lost.length - isNew + batch.repeated.messages;
    this.#stored.messages = sum(this.#stored.messages, { inserted: isNew, matched });
    return versions;
  }

  /** The parts of new messages, and of stored ones that a crash left without some of theirs. */
  async #writeParts(batch: IngestBatch<C, S>, known: Known): Promise<boolean> {
    const { parts } = this.#tables;
    const offered = batch.parts.rows + batch.repeated.parts;
    const again = new Set(
      batch.partClaims.flatMap(({ outcome, stored }) =>
        outcome === "stored" && stored !== undefined ? [stored] : [],
      ),
    );
    const states = this.#tables.isDoubtful ? [] : known.states;
    const incomplete = await incompleteMessages(parts, [...again], states);
    for (const claim of batch.claims)
      if (incomplete.messages.has(claim.key)) claim.partsBefore = incomplete.parts?.joined;
    batch.keepParts((claim) => claim.outcome === "new" || incomplete.messages.has(claim.key));
    if (incomplete.parts !== undefined) batch.parts.drop(incomplete.parts);
    const inserted = batch.parts.rows === 0 ? 0 : (await parts.insert(batch.parts.finish())).inserted;
    this.#stored.parts = sum(this.#stored.parts, { inserted, matched: offered - inserted });
    return inserted > 0 || batch.claims.some(({ outcome }) => outcome === "new");
  }

  /** Labels are immutable, because messages carry copies of them: a session that says otherwise is not stored. */
  #hold(batch: IngestBatch<C, S>, known: Known, isCounted: boolean): void {
    const { stored, agreed } = known.labels;
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
      states: batch.states,
      known,
      checkpoints: batch.checkpoints,
      isCounted,
    });
  }

  #isDue(): boolean {
    if (this.#held.length >= MOST_HELD.batches || this.#heldBytes >= MOST_HELD.bytes) return true;
    return this.#clock.now() - this.#released >= MOST_HELD.ms;
  }

  /** Writes the session rows that are held: what was given up to here is durable now. */
  async #release(): Promise<void> {
    const held = this.#held;
    this.#released = this.#clock.now();
    if (held.length === 0) return;
    this.#held = [];
    this.#heldBytes = 0;
    const rows = held.flatMap((each) => each.rows);
    const inserted = await this.#writeSessions(rows);
    const matched = held.reduce((count, each) => count + each.matched, rows.length - inserted);
    this.#stored.sessions = sum(this.#stored.sessions, { inserted, matched });
    const { recorded, unfinished } = await this.#recordStates(held);
    if (inserted + recorded > 0 && !held.some(({ isCounted }) => isCounted)) this.#stored.commits += 1;
    await this.#onCommit({ checkpoints: held.flatMap(({ checkpoints }) => checkpoints), unfinished });
  }

  /** Records what sources hold now, after the rows that this is about; what is as it was is not recorded again. */
  async #recordStates(
    held: readonly Held<C, S>[],
  ): Promise<{ readonly recorded: number; readonly unfinished: readonly S[] }> {
    const now = this.#clock.now() * 1000;
    let ended = held.flatMap(({ states, known }) => states.map((state) => ({ ...state, known })));
    const unfinished: S[] = [];
    let recorded = 0;
    for (let attempt = 1; ended.length > 0; attempt += 1) {
      const rows: { readonly state: RecordedState; readonly of: (typeof ended)[number] }[] = [];
      // What was recorded meanwhile, of the same source, by one who reads with the same state folder.
      const fresh =
        attempt === 1 ? undefined : await this.#tables.states(ended.map(({ note }) => note.session_id));
      const taken = new Set<string>();
      for (const each of ended) {
        const { note, draft, known, source: of } = each;
        const before = (fresh ?? known.states).filter(
          ({ session_id, source }) => session_id === note.session_id && source === note.source,
        );
        const versions = known.versions.filter(({ session_id }) => session_id === note.session_id);
        const state = draft.finish(note, { before, versions, now });
        const key = joinKey([note.session_id, note.source]);
        if (state === "lost" || state === "not kept" || taken.has(key)) unfinished.push(of);
        else if (state !== undefined) rows.push({ state, of: each });
        taken.add(key);
      }
      const inserted = await this.#insertStates(rows.map(({ state }) => state));
      recorded += inserted;
      if (inserted === rows.length) break;
      if (attempt === MOST_ATTEMPTS) unfinished.push(...rows.map(({ of }) => of.source));
      ended = attempt === MOST_ATTEMPTS ? [] : rows.map(({ of }) => of);
    }
    return { recorded, unfinished };
  }

  async #insertStates(states: readonly RecordedState[]): Promise<number> {
    const { sources } = this.#tables;
    let inserted = 0;
    let rows = sources.batch();
    for (const state of states) {
      if (rows.add(stateRow(state)) !== "full") continue;
      inserted += (await sources.insert(rows.finish())).inserted;
      rows = sources.batch();
      rows.add(stateRow(state));
    }
    if (rows.rows > 0) inserted += (await sources.insert(rows.finish())).inserted;
    return inserted;
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
    batch: IngestBatch<C, S>,
    { before, next }: { readonly before: string | undefined; readonly next: string | undefined },
  ): Promise<Known> {
    const labels = await this.#tables.labelsOf(batch.labels);
    const sessions = [...labels.stored.keys()].filter((id) => id !== before);
    if (sessions.length === 0) return { labels, versions: [], states: [] };
    // A few new messages of a session that may be long; what goes on in the next batch is looked up once for all.
    const ids =
      next === undefined && !batch.needsSessions && batch.claims.length <= FEW ? batch.ids : undefined;
    const [versions, states] = await Promise.all([
      this.#tables.versions(ids === undefined ? { sessions } : { ids }),
      this.#tables.states(sessions),
      // That the sessions have rows is known by their labels; to ask for the keys makes sure that the rows stay.
      this.#tables.sessions.knownKeys(sessions),
    ]);
    return { labels, versions, states };
  }
}

function lostTo({ session, id }: Claim): PondError {
  return new PondError(
    "conflict",
    `another writer stored message ${id} of session ${session} with another value at the same moment`,
    { hint: "send it again: it is then stored as a separate version", data: { session_id: session, id } },
  );
}

/** A batch on its way, as the next one sees it. */
class InFlight {
  /** Resolved when it has left the table. */
  readonly parts = Promise.withResolvers<void>();
  readonly messages = Promise.withResolvers<void>();
  readonly end = Promise.withResolvers<void>();
  isFailed = false;

  constructor() {
    // A failure is reported by whoever waits next, not as an unhandled rejection in between.
    for (const { promise } of this.#gates) promise.catch(() => undefined);
  }

  static over(): InFlight {
    const over = new InFlight();
    for (const gate of over.#gates) gate.resolve();
    return over;
  }

  static failed(error: unknown): InFlight {
    const failed = new InFlight();
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

const NOTHING = { inserted: 0 };

async function together(own: Promise<Known>, before: Promise<Known> | undefined): Promise<Known> {
  const [known, earlier] = await Promise.all([own, before]);
  return {
    labels: known.labels,
    versions: [...known.versions, ...(earlier?.versions ?? [])],
    states: [...known.states, ...(earlier?.states ?? [])],
  };
}

function sum(a: Inserted, b: Inserted): Inserted {
  return { inserted: a.inserted + b.inserted, matched: a.matched + b.matched };
}
