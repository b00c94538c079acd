/** The session datasets as the rest of pond sees them: ingest in, canonical objects out. */
import { corrupt } from "./tables/options-text.ts";
import { readFacts, readTexts } from "./states/message-texts.ts";
import type { MessageText, TextRow } from "./states/message-texts.ts";
import { allEnded } from "../base/all-ended.ts";
import type { Clock } from "../base/clock.ts";
import { isPondError } from "../base/errors.ts";
import type { MessageKey, Part, Session, SessionId } from "../model/index.ts";
import type { PartOutline } from "../model/tree/index.ts";
import type { PondFacts } from "../model/derived/index.ts";
import type { SessionState } from "../model/events/index.ts";
import { describeKey } from "../model/index.ts";
import { loadTree, stateOf } from "../model/tree/index.ts";
import type { MaintainOptions, MaintenanceReport, PutBack, Store, TableHealth } from "../substrate/index.ts";
import type { Predicate } from "../substrate/engine/predicate.ts";
import type { RecoveryIssue } from "../substrate/local/index.ts";
import { openStore } from "../substrate/index.ts";
import type { MessageHead } from "./read/heads.ts";
import { findHeads, readHeads } from "./read/heads.ts";
import type { IngestOptions } from "./ingest/ingest.ts";
import { Ingest } from "./ingest/ingest.ts";
import { readMessageOutlines } from "./states/message-outlines.ts";
import { readOtherPartOutlines, readPayloadSizes } from "./read/parts.ts";
import type { DamagedSession } from "./states/read.ts";
import { findMessage, readAllSessions, readChildren, readHashes, readSessions } from "./states/read.ts";
import type { RowRef, StoredMessage, StoredPart } from "./states/row-ref.ts";
import { rowsOf } from "./states/row-ref.ts";
import type { SessionRowStates } from "./states/read-row-states.ts";
import { readRowStates } from "./states/read-row-states.ts";
import type { MayHold, Needles } from "./signatures/signatures.ts";
import { Signatures } from "./signatures/signatures.ts";
import type { TextTable } from "./signatures/signed-texts.ts";
import { Summaries } from "./summaries/summaries.ts";
import type { SummaryList } from "./summaries/summary-list.ts";
import type { Vectors } from "./vectors/vectors.ts";
import type { BodyOptions } from "./read/leaves.ts";
import { readPartBodies } from "./read/leaves.ts";
import type { IsWhole, StateName } from "./repair/put-back.ts";
import type { KeptPlaces } from "./states/state-anchors.ts";
import { anchorStates, keptPlaces } from "./states/state-anchors.ts";
import { dropStates, putBackProven, putBackStates, putBackUnproven } from "./repair/put-back.ts";
import type { RestoredMessages, RestoreHead, RestoreRecord } from "./tables/restore-records.ts";
import { readRestoreRecords, readRestoresInto, recordRestores, Restores } from "./tables/restore-records.ts";
import {
  countRecovered,
  recoverSessions,
  recoverState,
  takeOutMessages,
  takeOutRecovered,
} from "./repair/recover.ts";
import { missingIn } from "./damage.ts";
import type { MESSAGES } from "./tables/schema.ts";
import { isVectorTable, SOURCES } from "./tables/schema.ts";
import { ingestTables, lostTables, SessionTables } from "./tables/tables.ts";
import { readVersions } from "./tables/versions.ts";
import { StateViews } from "./read/state-views.ts";
import type { StateHead } from "./tables/states.ts";
import type { StoreTreeOptions } from "./read/tree.ts";
import { StoreTree } from "./read/tree.ts";
import { readStateHeads } from "./tables/versions.ts";

/** Where the sessions are: an address of the substrate, a namespace, and what the object store needs to be told. */
export interface Storage {
  readonly url: string;
  readonly namespace: string;
  readonly options: Readonly<Record<string, string>>;
}

/** How to open a store: to write to it, with tables that it has lost made anew, or to read it. */
export interface OpenOptions {
  readonly create: boolean;
  /** Only a repair does: whoever else would write is refused, since rows would be missed by nobody. */
  readonly remakesLost?: boolean;
}

/** Opens the store, making it if asked. Without `create`, a store that is not there is undefined. */
export function openSessionStore(
  storage: Storage,
  options: OpenOptions & { readonly create: true },
): Promise<SessionStore>;
export function openSessionStore(storage: Storage, options: OpenOptions): Promise<SessionStore | undefined>;
export async function openSessionStore(
  storage: Storage,
  { create, remakesLost = false }: OpenOptions,
): Promise<SessionStore | undefined> {
  try {
    const { namespace, options } = storage;
    const { missing, lost } = create ? await missingIn(storage) : { missing: [], lost: [] };
    if (lost.length > 0 && !remakesLost) throw lostTables(lost);
    const store = await openStore(storage.url, { namespace, create, storageOptions: options });
    // Before the table is there again: cursors that call its rows stored must not outlive a kill in between.
    if (lost.length > 0) await store.forgetMarks();
    // Before messages get the version that tells of it: cut off in between, an older store would seem to have lost it.
    if (missing.includes(SOURCES.name)) await store.table(SOURCES);
    return await SessionStore.open(store);
  } catch (error) {
    if (!create && isPondError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

export class SessionStore implements AsyncDisposable {
  /** For the rooms beside this one that query the tables themselves (search). */
  readonly tables: SessionTables;
  readonly #store: Store;
  readonly #summaries: Summaries;
  readonly #signatures: Signatures;
  readonly #restores: Restores;
  #vectors: Vectors | undefined;

  private constructor(store: Store, tables: SessionTables) {
    this.#store = store;
    this.tables = tables;
    this.#summaries = new Summaries(store, tables);
    this.#signatures = new Signatures(store, tables);
    this.#restores = new Restores(tables);
  }

  static async open(store: Store): Promise<SessionStore> {
    return new SessionStore(store, await SessionTables.open(store));
  }

  /** The store's own identity: a store made anew at the same place has another one. */
  id(): Promise<string> {
    return this.#store.id();
  }

  /** The same of a store that is only read; undefined where it has none, or lost it. */
  knownId(): Promise<string | undefined> {
    return this.#store.knownId();
  }

  /** Leaves a mark of a reader, after rows that it stored, and says it (spec.md#sync-marks). */
  leaveMark(reader: string): Promise<string> {
    return this.#store.leaveMark(reader);
  }

  /** Has every reader read its sources again: rows were lost that their cursors call stored. */
  forgetMarks(): Promise<void> {
    return this.#store.forgetMarks();
  }

  ingest<C = never, S = never>(options: IngestOptions<C, S>): Ingest<C, S> {
    return new Ingest(ingestTables(this.tables), options);
  }

  async session(id: string): Promise<Session | undefined> {
    const sessions = await readSessions(this.tables, [id]);
    return sessions.values().next().value;
  }

  sessions(ids: Iterable<string>): Promise<Map<SessionId, Session>> {
    return readSessions(this.tables, ids);
  }

  /** The ids of the messages of some sessions, in whatever version. */
  async messageIds(sessions: readonly string[]): Promise<Map<string, Set<string>>> {
    const versions = await readVersions(this.tables, { sessions });
    const bySession = Map.groupBy(versions, ({ session_id }) => session_id);
    return new Map(
      [...bySession].map(([session, own]) => [session, new Set(own.map(({ record }) => record))]),
    );
  }

  /** Every session row, in no particular order, in bounded memory; those that cannot be read are told apart. */
  allSessions(onDamage: (session: DamagedSession) => void): AsyncIterable<Session> {
    return readAllSessions(this.tables, onDamage);
  }

  children(parent: SessionId): Promise<Session[]> {
    return readChildren(this.tables, parent);
  }

  /** The sessions as trees, with payloads unless told otherwise. */
  tree(options: StoreTreeOptions = { payloads: true }): StoreTree {
    return new StoreTree(this.tables, options);
  }

  /** Titles, counts, spans and sizes of all sessions, as of now. */
  summaries(): Promise<SummaryList> {
    return this.#summaries.list();
  }

  /** Stores the summaries of what changed, so that the next list need not compute them: as of the end of `meanwhile`. */
  refreshSummaries(meanwhile: Promise<unknown> = Promise.resolve()): Promise<void> {
    return this.#summaries.refresh(meanwhile);
  }

  /** Which sessions may hold what is looked for in a table; undefined where only a look at all of them can tell. */
  mayHold(table: TextTable, needles: Needles): Promise<MayHold | undefined> {
    return this.#signatures.mayHold(table, needles);
  }

  /** Where the rows of some sessions stand, by session. */
  rowStates(sessions: readonly string[]): Promise<ReadonlyMap<string, SessionRowStates>> {
    return readRowStates(this.tables, sessions);
  }

  /** Sessions whose rows were lost and made anew from their messages. */
  countRecovered(): Promise<number> {
    return countRecovered(this.tables);
  }

  /** Notes what a restore wrote (spec.md#sources-restored). */
  recordRestores(records: readonly RestoreRecord[]): Promise<void> {
    return recordRestores(this.tables, records);
  }

  /** Where some sessions were restored to, the newest first. */
  restoresOf(sessions: Iterable<string>): Promise<readonly RestoreHead[]> {
    return this.#restores.of(sessions);
  }

  /** What pond restored from other sessions, by the beginning of the id that it has there; of a whole id only that. */
  restoredBeginning(text: string): Promise<readonly RestoreHead[]> {
    return this.#restores.beginning(text);
  }

  /** What was restored into a client. */
  restoresInto(adapter: string): Promise<readonly RestoreHead[]> {
    return readRestoresInto(this.tables, adapter);
  }

  /** What restores wrote into some sessions, of others; the oldest first. */
  restoreRecords(sessions: readonly SessionId[]): Promise<readonly RestoreRecord[]> {
    return readRestoreRecords(this.tables, sessions);
  }

  /** What each message of some sessions says, as far as pond restored it there. */
  async restoredMessages(sessions: readonly SessionId[]): Promise<ReadonlyMap<SessionId, RestoredMessages>> {
    const records = await this.restoreRecords(await this.#restores.targets(sessions));
    const bySession = Map.groupBy(records, ({ session }) => session);
    return new Map(
      [...bySession].map(([session, own]) => [
        session,
        new Map(own.flatMap(({ messages }) => [...messages])),
      ]),
    );
  }

  /** Every message of a session in order, bodies unread. */
  messageOutlines(session: SessionId): Promise<readonly StoredMessage[]> {
    return readMessageOutlines(this.tables, session);
  }

  /** The hashes that are stored of records, for readers of sources that tell everything whenever something changed. */
  storedHashes(sessions: readonly SessionId[], isDoubtful?: boolean): ReturnType<typeof readHashes> {
    return readHashes(this.tables, sessions, isDoubtful);
  }

  /** Every row of a session with payloads, whatever its sources hold now; those that cannot be read are left out. */
  async everything(id: SessionId): Promise<SessionState | undefined> {
    if ((await this.session(id)) === undefined) return undefined;
    const { value } = await loadTree(this.tree({ payloads: true, view: "everything" }), id, { depth: 0 });
    return stateOf(value);
  }

  /** Every recorded state of a session, to be restored or proven; undefined where its row is not there. */
  views(id: SessionId): Promise<StateViews | undefined> {
    return StateViews.load(this.tables, id);
  }

  /** What is recorded of a client's sources. */
  stateHeads(adapter: string): Promise<StateHead[]> {
    return readStateHeads(this.tables, adapter);
  }

  /** What names and places the messages of some rows, in the order given. */
  heads(rows: readonly bigint[]): Promise<readonly MessageHead[]> {
    return readHeads(this.tables, rows);
  }

  /** The same of the messages that a filter leaves, in no particular order, at most `limit`. */
  findHeads(options: {
    readonly where: Predicate<typeof MESSAGES>;
    readonly limit?: number;
  }): Promise<readonly MessageHead[]> {
    return findHeads(this.tables, options);
  }

  /** The texts of some messages, in the order given. */
  texts(messages: readonly TextRow[]): Promise<readonly MessageText[]> {
    return readTexts(this.tables, messages);
  }

  /** The facts that pond keeps about some messages, in the order given. */
  facts(messages: readonly StoredMessage[]): Promise<readonly PondFacts[]> {
    return readFacts(this.tables, rowsOf(messages));
  }

  /** The parts of messages of any sessions that are not merely text, in the order of the keys given. */
  otherPartOutlines(keys: readonly MessageKey[]): Promise<readonly (readonly StoredPart[])[]> {
    return readOtherPartOutlines(this.tables, keys);
  }

  /** The bodies of parts, in the order given; undefined where one cannot be read. */
  parts(outlines: readonly StoredPart[], options: BodyOptions): Promise<(Part | undefined)[]> {
    return readPartBodies(this.tables, outlines, options);
  }

  /** Sizes of the payloads of file parts, by row. */
  payloadSizes(parts: readonly PartOutline<RowRef>[]): Promise<ReadonlyMap<bigint, number>> {
    return readPayloadSizes(this.tables, parts);
  }

  findMessage(id: string): Promise<MessageKey[]> {
    return findMessage(this.tables, id);
  }

  /** A whole session with payloads, or undefined when its row is not there (yet). Throws where one row is damaged. */
  async state(id: SessionId): Promise<SessionState | undefined> {
    if ((await this.session(id)) === undefined) return undefined;
    const { value, issues } = await loadTree(this.tree(), id, { depth: 0 });
    const [damage] = issues.filter(({ kind }) => kind !== "cut");
    if (damage !== undefined) throw corrupt(`${describeKey(damage.key)}: ${damage.message}`);
    return stateOf(value);
  }

  /** Indexes folded, fragments merged, old versions removed, where the plan says that it pays. */
  async maintain(options: MaintainOptions = {}): Promise<readonly MaintenanceReport[]> {
    const reports = await allEnded(this.tables.all.map((table) => table.maintain(options)));
    await this.#summaries.maintain(options);
    await this.#signatures.maintain(options);
    await this.#store.tidyMarks();
    const vectors = await this.#anyVectors();
    return vectors === undefined ? reports : [...reports, ...(await vectors.maintain(options))];
  }

  /** The same, and the summaries and signatures of what changed, which are made meanwhile. */
  async updateIndexes(options: MaintainOptions = {}): Promise<readonly MaintenanceReport[]> {
    const maintenance = this.maintain(options);
    const [reports] = await allEnded([
      maintenance,
      this.refreshSummaries(maintenance),
      this.#signatures.refresh({ all: options.force === true }),
    ]);
    return reports;
  }

  /** Numbers of each table, and what maintenance would do. */
  async health(): Promise<readonly TableHealth[]> {
    const all = await Promise.all(this.tables.all.map((table) => table.health()));
    return [...all, ...((await (await this.#anyVectors())?.health()) ?? [])];
  }

  /** The vectors of messages. They are loaded when they are first asked for: most stores have none. */
  async vectors(): Promise<Vectors> {
    const { Vectors: Loaded } = await import("./vectors/vectors.ts");
    return (this.#vectors ??= new Loaded(this.#store, this.tables));
  }

  /** Undefined where the store has none. */
  async #anyVectors(): Promise<Vectors | undefined> {
    const names = await this.#store.tables();
    return names.some(isVectorTable) ? this.vectors() : undefined;
  }

  /** A table by its name, for repairs; undefined where this pond has none of that name. */
  table(name: string): SessionTables["all"][number] | undefined {
    return this.tables.all.find(({ spec }) => spec.name === name);
  }

  /** Stores rows again that a repair kept and whose sessions are proven. */
  putBackProven(): Promise<PutBack> {
    return putBackProven(this.tables);
  }

  /** Stores recorded states again that a repair kept, before any source is read. Says which. */
  putBackStates(): ReturnType<typeof putBackStates> {
    return putBackStates(this.tables);
  }

  /** Takes out recorded states that are damaged themselves, for good. */
  dropStates(states: readonly StateName[]): Promise<void> {
    return dropStates(this.tables, states);
  }

  /** Where the rows were that a repair took out. */
  keptPlaces(): Promise<KeptPlaces> {
    return keptPlaces(this.tables);
  }

  /** Lets recorded states find rows that were read again, by where they were before. */
  anchorStates(places: KeptPlaces): Promise<void> {
    return anchorStates(this.tables, places);
  }

  /** Stores what else a repair kept, once the sources were read again. */
  putBackUnproven(isWhole: IsWhole): Promise<PutBack> {
    return putBackUnproven(this.tables, isWhole);
  }

  /** Makes the rows of sessions anew that lost them, from what their messages say. Says whose. */
  recoverSessions(clock: Clock): Promise<readonly string[]> {
    return recoverSessions(this.tables, clock);
  }

  /** Takes out rows that were made so, and says how many. */
  takeOutRecovered(): Promise<number> {
    return takeOutRecovered(this.tables);
  }

  /** Takes out what is stored of some messages, so that their source is read again. Says how many rows. */
  takeOutMessages(session: SessionId, ids: readonly string[]): Promise<number> {
    return takeOutMessages(this.tables, session, ids);
  }

  /** Records a state of the rows of a session that no state has; false where there are none. */
  recoverState(session: SessionId, clock: Clock): Promise<boolean> {
    return recoverState(this.tables, session, clock);
  }

  /** Rows of all tables together. */
  async countRows(): Promise<number> {
    const counts = await Promise.all(this.tables.all.map((table) => table.count()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Lets go of the derived summaries: they were computed of rows that are gone. */
  async dropSummaries(): Promise<void> {
    await this.#summaries.drop();
  }

  /** The same of signatures. */
  async dropSignatures(): Promise<void> {
    await this.#signatures.drop();
  }

  /** What had to be repaired when the tables were opened; empty nearly always. */
  recoveryIssues(): readonly RecoveryIssue[] {
    return this.#store.issues;
  }

  /** The newest version of each table. */
  async versions(): Promise<Readonly<Record<string, number>>> {
    const entries = this.tables.all.map(async (table) => [table.spec.name, await table.version()] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}
