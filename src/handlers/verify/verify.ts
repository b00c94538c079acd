/**
 * `verify`: proof, source by source and both ways, that what is on disk is stored and restores equal to it
 * (spec.md#keep-verify). Each source is read as sync reads it, into nothing; what is recorded of it is restored natively in
 * memory and compared record by record. Nothing is written.
 */
import type { FileComparer as Comparer } from "../../adapters/restore.ts";
import type { Inventory, Unit } from "../../adapters/index.ts";
import { FileComparer } from "../../adapters/restore.ts";
import { isSettled } from "../../adapters/index.ts";
import { stampTextOf } from "../../adapters/registry.ts";
import { isPondError, toPondError } from "../../base/errors.ts";
import { brandOf } from "../../model/derived/index.ts";
import { describeKey, sessionId } from "../../model/index.ts";
import type { SessionId } from "../../model/index.ts";
import type { SessionStore, StateViews } from "../../sessions/index.ts";
import type { StateHead } from "../../sessions/states/index.ts";
import { hashNumber } from "../../sessions/index.ts";
import type { Cursors } from "../../state/index.ts";
import { restoredStamps } from "../../state/besides.ts";
import { knownReaderId } from "../../state/index.ts";
import type { SourceFilter } from "../../wire/sources.ts";
import type { ClientVerification, SourceVerdict, VerifyProgress, VerifyReport } from "../../wire/verify.ts";
import { countAbsent } from "./absent-sources.ts";
import { compareSource, isTouched, UnitCoverage } from "./compare-source.ts";
import type { Context } from "../context/context.ts";
import type { DryRead, Source, ReadSession } from "../import/dry-read.ts";
import { dryRead, SETTLED_MS } from "../import/dry-read.ts";
import { requireStore } from "../context/existing.ts";
import { realPathOf } from "../import/importer.ts";
import { proveState } from "./prove-state.ts";
import { RecordedStates } from "./recorded-states.ts";
import { rememberedSync } from "../context/remembered.ts";
import type { Sweep } from "../sources/sweep.ts";
import { isFresh, sourceName, sweepEverything } from "../sources/sweep.ts";
import { lostReport } from "./lost-sources.ts";
import { knownRestores, restoredLists } from "../import/known-restores.ts";
import { RestoredSessions } from "../import/restored-sessions.ts";
import { VerifyTally } from "./report.ts";

export async function verify(
  context: Context,
  filter: SourceFilter,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<VerifyReport> {
  const store = await requireStore(context);
  const remembered = await rememberedSync(context);
  const cursors = typeof remembered === "string" ? undefined : remembered.cursors;
  const restores = restoredStamps(context.config.paths.state);
  const clients: ClientVerification[] = [];
  // A client without a place may have had one when its sources were recorded: then they are gone.
  await using sweeps = await sweepEverything(context, filter);
  for (const sweep of sweeps.clients) {
    const heads = await store.stateHeads(sweep.adapter.name);
    const isHere = sweep.places.length + sweep.issues.length > 0;
    if (!isHere && heads.length === 0) continue;
    const recorded = new RecordedStates(heads, knownReaderId(context.config.paths.state));
    await using comparer = new FileComparer(context.machine.scratch, context.clock.now());
    const known = await knownRestores(store, sweep.adapter.name);
    const restored = new RestoredSessions(known, (sessions) => restoredLists(store, sessions));
    const job = { store, sweep, cursors, restores, restored, recorded, comparer };
    const verifier = new Verifier(context, job);
    const client = await verifier.run(filter, onProgress);
    if (isHere || hasCounted(client)) clients.push(client);
  }
  const lost = await lostReport(context, store, remembered);
  const unrecorded = clients.length === 0 ? await countSessions(store, filter) : 0;
  return {
    clients,
    ...(unrecorded === 0 ? {} : { unrecorded }),
    ...(lost === undefined ? {} : { lost }),
  };
}

/** Of the clients that are asked for. */
async function countSessions(store: SessionStore, { adapters }: SourceFilter): Promise<number> {
  let sessions = 0;
  for await (const { source_agent } of store.allSessions(() => undefined))
    if (adapters?.includes(brandOf(source_agent)) !== false) sessions += 1;
  return sessions;
}

interface Job {
  readonly store: SessionStore;
  readonly sweep: Sweep;
  readonly cursors: Cursors | undefined;
  /** Files that a restore wrote, as they were then. */
  readonly restores: ReadonlyMap<string, string>;
  /** What was restored into this client from sessions of others. */
  readonly restored: RestoredSessions;
  readonly recorded: RecordedStates;
  readonly comparer: Comparer;
}

/** Of one client. */
class Verifier {
  readonly #context: Context;
  readonly #job: Job;
  readonly #tally: VerifyTally;
  /** Sources that told nothing, by their paths and keys: what is recorded of them is not gone. */
  readonly #unread = new Set<string>();
  #views: { readonly session: string; readonly views: Promise<StateViews | undefined> } | undefined;

  constructor(context: Context, job: Job) {
    this.#context = context;
    this.#job = job;
    const { adapter, seen, issues } = job.sweep;
    this.#tally = new VerifyTally(adapter.name, { sources: seen, issues });
  }

  async run(
    filter: SourceFilter,
    onProgress: (progress: VerifyProgress) => void,
  ): Promise<ClientVerification> {
    const { sweep, recorded } = this.#job;
    const { adapter, stale } = sweep;
    await this.#lookForDamage();
    for (const [done, { unit, opened }] of stale.entries()) {
      this.#context.signal.throwIfAborted();
      await this.#verify({ adapter, unit, opened });
      onProgress({ client: adapter.title, done: done + 1, total: stale.length });
    }
    const inspected = {
      places: sweep.places.map(({ place }) => place),
      isEverywhere: filter.paths === undefined,
      unread: this.#unread,
      hidden: sweep.issues.map(({ path }) => path),
    };
    countAbsent(recorded, inspected, this.#tally);
    return this.#tally.finish();
  }

  /** Rows of sessions that cannot be read are of no source any more. */
  async #lookForDamage(): Promise<void> {
    const { store, sweep } = this.#job;
    const sessions = store.allSessions(({ id, source_agent, message }) => {
      if (brandOf(source_agent) === sweep.adapter.name)
        this.#tally.unequal(`${describeKey({ id })} cannot be read: ${message}`);
    });
    for await (const _ of sessions) this.#context.signal.throwIfAborted();
  }

  async #verify(source: Source): Promise<void> {
    const { recorded } = this.#job;
    const wanted = (session: SessionId): ReadonlySet<number> => recorded.countsOf(session);
    const read = await dryRead(this.#context, source, { wanted });
    this.#look(source, read);
    const coverage = new UnitCoverage();
    const verdicts = new Set<Verdict>();
    for (const readSession of read.sessions) {
      this.#tally.count("sessions");
      const verdict = await this.#verifySession(source, readSession, coverage);
      verdicts.add(verdict);
      if (verdict !== "damaged" && verdict !== "unstored") this.#tally.count(verdict);
    }
    const isComplete = !read.isWaiting && read.superseded.length === 0 && verdicts.size === 1;
    if (isComplete && verdicts.has("recorded")) await this.#lookForMissing(source, coverage);
  }

  /** What a source told besides the states of its sessions. */
  #look({ unit }: Source, { sessions, issues, isWaiting, superseded }: DryRead): void {
    const path = pathOf(unit);
    if (isWaiting) this.#tally.count("waiting");
    this.#tally.count("superseded", superseded.length);
    for (const { differences } of superseded) this.#tally.count("superseded_records", differences);
    // What is told all the same is stored as it is and compared; of these nothing is, or not all of it.
    const faults = issues.filter(({ kind }) => sessions.length === 0 || HIDES.has(kind));
    for (const issue of faults) this.#tally.issue(issue);
    const isRead = sessions.length > 0;
    const isEmpty = !isRead && !isWaiting && superseded.length + issues.length === 0;
    // What is recorded of a log that was emptied stays, as that of any other that was rewritten.
    if (isEmpty) this.#tally.count(this.#job.recorded.isKnownAt(realPathOf(path)) ? "changed" : "empty");
    if (isRead && !isWaiting && issues.length === 0) return;
    this.#unread.add(unit.key).add(realPathOf(path));
  }

  async #verifySession(source: Source, readSession: ReadSession, coverage: UnitCoverage): Promise<Verdict> {
    const match = this.#job.recorded.match(readSession);
    if (match.kind !== "recorded" && (await this.#isOnlyRestored(source, readSession))) return "restored";
    if (match.kind === "unknown") return this.#verifyUnknown(source, readSession, coverage);
    const { head } = match;
    const views = await this.#viewsOf(head.session_id);
    if (views === undefined) return this.#damaged([`session ${head.session_id} has no row that can be read`]);
    if (match.kind === "recorded") return this.#compare(source, readSession, { views, head, coverage });
    if (this.#isRestored(source)) return "restored";
    if (match.kind !== "held" && (await this.#isHeldBack(source, readSession)))
      return this.#prove(source, readSession, { views, head, coverage, kind: "held" });
    if (match.kind !== "held" && this.#isMissed(source)) {
      this.#tally.count("missed");
      this.#tally.unstored(
        `${pathOf(source.unit)}: session ${readSession.session} is not stored as it is now, but sync considers it unchanged`,
      );
      return "unstored";
    }
    return this.#prove(source, readSession, { views, head, coverage, kind: match.kind });
  }

  /** True where sync holds back what is on disk and not stored, because more may come: that is no news. */
  async #isHeldBack(source: Source, { session }: ReadSession): Promise<boolean> {
    const { clock } = this.#context;
    if (source.unit.files.every((file) => isSettled(file, clock.now()))) return false;
    const { sessions } = await dryRead(this.#context, source, { asSyncReads: true });
    const readSession = sessions.find((each) => each.session === session);
    if (readSession === undefined || this.#job.recorded.match(readSession).kind === "recorded") return true;
    // Without it there is nothing but what was restored, which sync does not store.
    return this.#isOnlyRestored(source, { session }, clock.now());
  }

  /** The stamps are those of the last sync, and yet what was read then was something else. */
  #isMissed({ adapter, unit, opened }: Source): boolean {
    const { cursors } = this.#job;
    return cursors !== undefined && isFresh(cursors, sourceName(adapter, opened.place, unit), unit);
  }

  /** A source that is as it was recorded: both ways. */
  async #compare(
    source: Source,
    readSession: ReadSession,
    { views, head, coverage }: Comparing,
  ): Promise<Verdict> {
    const view = views.view(head);
    if (view.damage.length > 0) return this.#damaged(view.damage);
    if (isListOfLines(head)) return this.#proveLines(source, { views, head, coverage });
    const strictness = "exact";
    const { comparer } = this.#job;
    try {
      const found = await compareSource(this.#context, view.state, {
        source,
        readSession,
        comparer,
        coverage,
        strictness,
      });
      const isAtWork = found.differences.length > 0 && isTouched(source.unit);
      if (isAtWork) return await this.#prove(source, readSession, { views, head, coverage, kind: "changed" });
      this.#count(found.files);
      for (const difference of found.differences) this.#tally.unequal(difference);
      return found.differences.length === 0 ? "recorded" : "damaged";
    } catch (error) {
      return this.#damaged([`session ${head.session_id} cannot be restored: ${toPondError(error).message}`]);
    }
  }

  async #proveLines(source: Source, comparing: Comparing): Promise<Verdict> {
    for (const { path } of source.unit.files) comparing.coverage.coverFile(path);
    const { head, views } = comparing;
    const { faults, hashes } = await proveState(source.adapter, head, views.view(head));
    if (faults.length > 0) return this.#damaged(faults);
    const records = hashes?.side.size ?? 0;
    this.#count([{ records, equal: records }]);
    return "recorded";
  }

  /** A source that is not as it was recorded: what is stored of it is proven, and compared where it only went on. */
  async #prove(
    source: Source,
    readSession: ReadSession,
    { views, head, coverage, kind }: Comparing & { readonly kind: "grown" | "changed" | "held" },
  ): Promise<Verdict> {
    const view = views.view(head);
    const { faults, hashes } = await proveState(source.adapter, head, view);
    if (faults.length > 0) return this.#damaged(faults);
    if (kind !== "grown") {
      const records = (hashes?.log.length ?? 0) + (hashes?.side.size ?? 0);
      this.#count([{ records, equal: records }]);
      return kind;
    }
    const { comparer } = this.#job;
    const comparing = { source, readSession, comparer, coverage, strictness: "grown" as const };
    const found = await compareSource(this.#context, view.state, comparing);
    this.#count(found.files);
    for (const difference of found.differences) this.#tally.unequal(difference);
    return found.differences.length === 0 ? kind : "damaged";
  }

  /** Nothing is recorded of this source, nor of what it holds. */
  async #verifyUnknown(source: Source, readSession: ReadSession, coverage: UnitCoverage): Promise<Verdict> {
    const { store, recorded } = this.#job;
    const views = recorded.isRecorded(readSession.session)
      ? undefined
      : await this.#viewsOf(readSession.session);
    // An older pond stored it, without a state: it is compared as it was then.
    if (views !== undefined) {
      const { state, damage } = views.everything();
      if (damage.length > 0) return this.#damaged(damage);
      const { comparer } = this.#job;
      const comparing = { source, readSession, comparer, coverage, strictness: "exact" as const };
      const found = await compareSource(this.#context, state, comparing);
      this.#count(found.files);
      for (const difference of found.differences) this.#tally.unequal(difference);
      return found.differences.length === 0 ? "recorded" : "damaged";
    }
    if (this.#isRestored(source)) return "restored";
    if (await this.#isHeldBack(source, readSession)) return "waiting";
    const { records, missing } = await this.#missingOf(store, source, readSession);
    if (missing === 0 && readSession.state.isWhole && records > 0) {
      this.#count([{ records, equal: records }]);
      return "contained";
    }
    const some =
      missing > 0
        ? `${missing} of its ${records} records ${missing === 1 ? "is" : "are"} not stored`
        : "it is only partly readable, and nothing like it is stored";
    const what = missing === records ? "not stored" : some;
    this.#tally.unstored(`${pathOf(source.unit)}: session ${readSession.session}: ${what}`);
    return "unstored";
  }

  /** How many records of a session on disk are stored in no version. */
  async #missingOf(
    store: SessionStore,
    source: Source,
    readSession: ReadSession,
  ): Promise<{ readonly records: number; readonly missing: number }> {
    // A line of a list whose session is gone was told of that session before.
    const { session } = readSession;
    const holders = [...new Set([session, ...this.#job.recorded.listedAt(readSession)])];
    const stored = [...(await store.storedHashes(holders)).values()];
    let [records, missing] = [0, 0];
    await dryRead(this.#context, source, {
      onRecord: (of, { id, hash }) => {
        if (of !== session) return;
        records += 1;
        if (!stored.some((hashes) => hashes.get(id)?.includes(hashNumber(hash)))) missing += 1;
      },
    });
    return { records, missing };
  }

  #isRestored({ unit }: Source): boolean {
    const { restores } = this.#job;
    return (
      unit.files.length > 0 &&
      unit.files.every((file) => restores.get(realPathOf(file.path)) === stampTextOf(file))
    );
  }

  /** Pond restored the session here from another client's, and nobody carried it on. */
  async #isOnlyRestored(
    { unit, opened }: Source,
    { session }: Pick<ReadSession, "session">,
    now = this.#context.clock.now() + SETTLED_MS,
  ): Promise<boolean> {
    const { restored } = this.#job;
    if (!restored.knows(session)) return false;
    const { signal } = this.#context;
    return (await restored.lookAt(opened.read(unit, { signal, now }))).untouched.has(session);
  }

  /** What is on disk must be accounted for by the sessions that were compared. */
  async #lookForMissing({ unit, opened }: Source, coverage: UnitCoverage): Promise<void> {
    const inventory: Inventory = (await opened.inventory?.(unit)) ?? {
      files: unit.files.map(({ path }) => path),
      tables: [],
    };
    const missing = coverage.missing(inventory);
    if (missing.length === 0 || isTouched(unit)) return;
    const path = pathOf(unit);
    for (const line of missing) this.#tally.unstored(line.startsWith(path) ? line : `${path}: ${line}`);
  }

  #damaged(lines: readonly string[]): "damaged" {
    this.#tally.unequal(...lines);
    return "damaged";
  }

  #count(files: readonly { readonly records: number; readonly equal: number }[]): void {
    for (const { records, equal } of files) {
      this.#tally.count("files");
      this.#tally.count("records", records);
      this.#tally.count("equal", equal);
    }
  }

  /** The last one is kept: the sources of a session often follow each other. */
  #viewsOf(session: string): Promise<StateViews | undefined> {
    // A row that cannot be read was named when all of them were looked at.
    if (this.#views?.session !== session)
      this.#views = { session, views: this.#job.store.views(sessionId(session)).catch(unlessCorrupt) };
    return this.#views.views;
  }
}

/** Of a client that has no place: there is something to say. */
const hasCounted = ({ gone, moved, elsewhere, unequal }: ClientVerification): boolean =>
  gone + moved + elsewhere + unequal > 0;

/** The file to look at. */
const pathOf = ({ files, key }: Unit): string => files[0]?.path ?? key;

function unlessCorrupt(error: unknown): undefined {
  if (!isPondError(error) || error.reason !== "corrupt") throw error;
  return undefined;
}

/** What became of a session of a source. */
type Verdict = SourceVerdict | "damaged" | "waiting";

interface Comparing {
  readonly views: StateViews;
  readonly head: StateHead;
  readonly coverage: UnitCoverage;
}

/** Kinds of issues that say that something on disk is not stored. */
const HIDES: ReadonlySet<string> = new Set(["unreadable", "too_long"]);

/** A file that holds lines of many sessions is not restored: its lines are proven by their digest. */
const isListOfLines = ({ form }: StateHead): boolean => form === "index";
