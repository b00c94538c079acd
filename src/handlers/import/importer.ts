/**
 * Reads sources of one client into the tables, in whichever thread it runs. A cursor advances only after the commit that
 * holds the rows before it; a source that cannot be read is an issue, the others go on.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type {
  Adapter,
  AdapterYield,
  Cursor,
  Issue,
  OpenedPlace,
  StoredHashes,
  ReadState,
  Unit,
} from "../../adapters/index.ts";
import { stampText } from "../../adapters/registry.ts";
import type { Clock } from "../../base/clock.ts";
import { isPondError, toPondError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject, parseJson, stringifyJson } from "../../base/json/json.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import type { Event, SessionId } from "../../model/index.ts";
import { describeKey } from "../../model/index.ts";
import { entityOf } from "../../model/events/index.ts";
import type { Durable, IngestLimits, IngestTables } from "../../sessions/ingest/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { hashNumber } from "../../sessions/index.ts";
import { Ingest } from "../../sessions/ingest/index.ts";
import type { Reached, SourceName } from "../../state/index.ts";
import type { ImportOutcome } from "./outcome.ts";
import { IssueTally } from "./outcome.ts";
import type { KnownRestore } from "./known-restores.ts";
import type { LoadLists } from "./restored-copies.ts";
import { withFirstTurns } from "./restored-copies.ts";
import type { Verdict } from "./restored-sessions.ts";
import { RestoredSessions } from "./restored-sessions.ts";
import { isCursor, sourceName } from "../sources/sweep.ts";
import type { FoundWait } from "../sources/waits.ts";
import { MOST_WAITS, newestChange } from "../sources/waits.ts";

/** A source to read. */
export interface ImportTask {
  /** Its place among all sources of this import: of several issues of a kind the first one is shown. */
  readonly order: number;
  readonly unit: Unit;
  /** The place that it is in, opened in this thread. */
  readonly opened: OpenedPlace;
  readonly bytes: number;
  /** Where the last committed read stopped; absent: from the start. */
  readonly cursor?: JsonValue;
}

/** What an importer is given by the thread that owns the store and the state. */
export interface ImportHost {
  readonly tables: IngestTables;
  /** The hashes that are stored of records, by session and record. */
  readonly stored: (sessions: readonly SessionId[]) => ReturnType<SessionStore["storedHashes"]>;
  /** What was restored into this client from sessions of others. */
  readonly restored: () => Promise<readonly KnownRestore[]>;
  /** What was written into some of these sessions. */
  readonly restoredLists: LoadLists;
  /** What was kept with the cursor of a source, to go on behind it. */
  readonly prefix: (source: SourceName) => Promise<string | undefined> | string | undefined;
  /** The next sources; none means that there are no more. */
  readonly next: () => Promise<readonly ImportTask[]> | readonly ImportTask[];
  /** Sources that are durable up to these cursors. */
  readonly reached: (sources: readonly Reached[]) => Promise<void> | void;
  /** A source was read, or could not be. */
  readonly done: (source: { readonly bytes: number; readonly messages: number }) => void;
}

export interface ImportSettings {
  readonly adapter: Adapter;
  /** Who reads (`readerId`). */
  readonly reader: string;
  readonly limits: IngestLimits;
  /** As of an ingest. */
  readonly patienceMs?: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const BREATH_MS = 10;

/** How often a source is read again where another writer stored other values under its ids at the same moment. */
const MOST_READS = 5;

/** A source while it is read. */
interface Reading {
  readonly task: ImportTask;
  readonly source: SourceName;
  /** Its state could not be recorded: it is read again, and its cursor does not move. */
  isUnfinished: boolean;
  /** Something that it told was refused. */
  hasRefused: boolean;
}

/** How far a source was read, once all before it is durable. */
interface ImportCheckpoint {
  readonly reading: Reading;
  readonly reached: Reached;
}

export async function runImporter(settings: ImportSettings, host: ImportHost): Promise<ImportOutcome> {
  return new Importer(settings, host).run();
}

class Importer {
  readonly #settings: ImportSettings;
  readonly #host: ImportHost;
  readonly #ingest: Ingest<ImportCheckpoint, Reading>;
  readonly #tally = { read: 0, waiting: 0, superseded: 0, messages: 0 };
  readonly #issues = new IssueTally();
  readonly #waits = new Map<string, FoundWait>();
  #unfinished: Reading[] = [];
  #reading: Reading | undefined;
  #restored = new RestoredSessions();
  #isIncomplete = false;
  #order = 0;
  #breathed = 0;

  constructor(settings: ImportSettings, host: ImportHost) {
    this.#settings = settings;
    this.#host = host;
    this.#ingest = new Ingest(host.tables, {
      clock: settings.clock,
      limits: settings.limits,
      patienceMs: settings.patienceMs,
      onViolation: ({ message }, event) => {
        const path = describeKey(entityOf(event));
        this.#count({ kind: "unexpected_shape", adapter: settings.adapter.name, path, message });
        // What was refused is no absence: the state says that it lacks something, and the source is read again.
        if (this.#reading !== undefined) this.#reading.hasRefused = true;
      },
      onCommit: (durable) => this.#advance(durable),
    });
  }

  async run(): Promise<ImportOutcome> {
    try {
      return await this.#run();
    } catch (error) {
      // What is under way ends before the store and its lock are let go of; its own failure is told already, or follows.
      await this.#ingest.stop().catch(() => undefined);
      throw error;
    }
  }

  async #run(): Promise<ImportOutcome> {
    const { signal } = this.#settings;
    this.#restored = new RestoredSessions(await this.#host.restored(), this.#host.restoredLists);
    for (let tasks = await this.#host.next(); tasks.length > 0; tasks = await this.#host.next())
      for (const task of tasks) {
        if (signal.aborted) break;
        await this.#import(task);
        await this.#breathe();
      }
    await this.#readAgain();
    const stored = signal.aborted ? await this.#ingest.stop() : await this.#ingest.flush();
    const { read, waiting, superseded } = this.#tally;
    const { issues, examples } = this.#issues;
    const waits = [...this.#waits.values()];
    const isIncomplete = this.#isIncomplete;
    return { read, waiting, waits, superseded, stored, issues, examples, isIncomplete };
  }

  /** From their start, by when what others stored is seen: other values of the same records are versions then. */
  async #readAgain(): Promise<void> {
    const { signal, adapter } = this.#settings;
    for (let round = 1; !signal.aborted; round += 1) {
      await this.#ingest.flush();
      const unfinished = this.#unfinished;
      this.#unfinished = [];
      for (const { task } of unfinished) {
        const { cursor: _, ...whole } = task;
        if (round < MOST_READS) await this.#import(whole, "again");
        else {
          const path = task.unit.files[0]?.path ?? task.unit.key;
          const message = "other processes kept writing the same session at the same time: sync again";
          this.#count({ kind: "unreadable", adapter: adapter.name, path, message });
        }
      }
      if (unfinished.length === 0) return;
    }
  }

  /** Small sources are read without ever waiting: signals, timers and the store get their turn here. */
  async #breathe(): Promise<void> {
    const now = this.#settings.clock.now();
    if (now - this.#breathed < BREATH_MS) return;
    await setImmediate();
    this.#breathed = now;
  }

  /** Moves the cursors of sources that are durable; what is to be read again keeps its own. */
  async #advance({ checkpoints, unfinished }: Durable<ImportCheckpoint, Reading>): Promise<void> {
    for (const reading of unfinished) {
      if (!reading.isUnfinished) this.#unfinished.push(reading);
      reading.isUnfinished = true;
    }
    const sound = checkpoints.filter(({ reading }) => !reading.isUnfinished && !reading.hasRefused);
    if (sound.length > 0) await this.#host.reached(sound.map(({ reached }) => reached));
  }

  async #import(task: ImportTask, time: "first" | "again" = "first"): Promise<void> {
    const { adapter, signal } = this.#settings;
    this.#order = task.order;
    const before = this.#tally.messages;
    try {
      await this.#read(task);
      if (time === "first") this.#tally.read += 1;
    } catch (error) {
      if (signal.aborted) return;
      const fault = toPondError(error);
      // The store failing is no fault of the source: it ends the sync, with the store's own error.
      if (this.#ingest.isFailed) await this.#ingest.stop();
      if (isStoreFault(error)) throw fault;
      const path = task.unit.files[0]?.path ?? task.unit.key;
      this.#count({ kind: "unreadable", adapter: adapter.name, path, message: fault.message });
    }
    if (time === "first") this.#host.done({ bytes: task.bytes, messages: this.#tally.messages - before });
  }

  async #read(task: ImportTask): Promise<void> {
    const source = sourceName(this.#settings.adapter, task.opened.place, task.unit);
    const reading = (of: ImportTask): Reading => ({
      task: of,
      source,
      isUnfinished: false,
      hasRefused: false,
    });
    const { cursor: _, ...whole } = task;
    // Where a source contains many sessions, as a database does.
    const hasMany = task.opened.inventory !== undefined;
    const isExpected = this.#restored.mayBeIn(task.unit, task.opened);
    if (!isExpected && (await this.#takeAll(reading(task))) === undefined) return;
    // A database says all of a session that changed.
    let looked = hasMany ? task : whole;
    let verdict = await this.#restored.lookAt(this.#open(looked, source));
    if (hasMany && verdict.isNew && verdict.isIncomplete) {
      // What belongs to a session that was carried on is there too, and has not changed.
      looked = whole;
      verdict = await this.#restored.lookAt(this.#open(looked, source));
    }
    this.#isIncomplete ||= verdict.isIncomplete;
    // What was restored is not stored as long as nobody carries it on.
    const isFromStart = hasMany ? looked === whole : verdict.isNew;
    await this.#takeAll(reading(isFromStart ? whole : task), verdict);
  }

  /** `verdict`: what it has of what was restored; absent where nobody has looked. */
  async #takeAll(reading: Reading, verdict?: Verdict): Promise<"in doubt" | undefined> {
    this.#reading = reading;
    this.#ingest.startSource();
    const { task, source } = reading;
    const batches = this.#open(task, source);
    const isLookedAt = verdict !== undefined || !this.#restored.isAny;
    try {
      for await (const batch of isLookedAt ? batches : withFirstTurns(batches)) {
        if (!isLookedAt && (await this.#restored.isInDoubt(batch))) return "in doubt";
        await this.#take(verdict === undefined ? batch : this.#restored.take(batch, verdict), reading);
      }
      return undefined;
    } finally {
      await this.#ingest.endSession();
    }
  }

  #open({ unit, opened, cursor }: ImportTask, source: SourceName): AsyncIterable<readonly AdapterYield[]> {
    const { clock, signal } = this.#settings;
    return opened.read(unit, {
      now: clock.now(),
      signal,
      stored: async (sessions) => hashesOf(await this.#host.stored(sessions)),
      prefix: { load: () => this.#prefixOf(source) },
      ...(isCursor(cursor) ? { cursor } : {}),
    });
  }

  async #prefixOf(source: SourceName): Promise<JsonValue | undefined> {
    const text = await this.#host.prefix(source);
    return text === undefined ? undefined : parseJson(text);
  }

  async #take(batch: readonly AdapterYield[], reading: Reading): Promise<void> {
    let events: Event[] = [];
    const flushed = async (): Promise<void> => {
      await this.#ingest.add(events);
      events = [];
    };
    for (const item of batch) {
      if (item.kind === "issue") this.#count(item.issue);
      else if (item.kind === "waiting") this.#wait(item, reading.task);
      else if (item.kind === "superseded") this.#tally.superseded += 1;
      else if (item.kind === "record") {
        await flushed();
        await this.#ingest.addStored(item.session, item.record, item.positioned);
      } else if (item.kind === "state") {
        await flushed();
        await this.#endState(item.session, item.state, reading);
      } else if (item.kind === "checkpoint") {
        await flushed();
        const { source } = reading;
        const stamp = stampText(item.cursor.files);
        const cursor = jsonOf(item.cursor);
        const prefix = item.prefix === undefined ? undefined : stringifyJson(item.prefix);
        await this.#ingest.checkpoint({ reading, reached: { source, stamp, cursor, prefix } });
      } else {
        if (item.kind === "message") this.#tally.messages += 1;
        events.push(item);
      }
    }
    await this.#ingest.add(events);
  }

  async #endState(session: SessionId, state: ReadState, reading: Reading): Promise<void> {
    const { adapter, reader } = this.#settings;
    const path = realPathOf(state.path);
    const isFile = reading.task.opened.inventory === undefined;
    const times = this.#restored.timesBefore(session, isFile ? { reader, path } : { reader });
    const name = [adapter.name, reader, path, ...(times === 0 ? [] : [times])];
    const source = valueHash(name).slice(0, 20);
    const { kept, present, isWhole, records, digest, side, key, form, recorded } = state;
    await this.#ingest.endState(
      {
        session_id: session,
        source,
        adapter: adapter.name,
        reader,
        path,
        key,
        form,
        records,
        digest,
        side,
        kept,
        present,
        isWhole: isWhole && !reading.hasRefused,
        ...(recorded === undefined ? {} : { recorded }),
      },
      reading,
    );
  }

  /** Of a source in which several sessions wait, the first that is over counts. */
  #wait({ reason, from }: Extract<AdapterYield, { kind: "waiting" }>, { unit }: ImportTask): void {
    this.#tally.waiting += 1;
    const path = unit.files[0]?.path ?? unit.key;
    const known = this.#waits.get(path);
    if (known === undefined && this.#waits.size >= MOST_WAITS) return;
    if (known === undefined || (from ?? 0) < (known.from ?? 0))
      this.#waits.set(path, { path, reason, changed: newestChange(unit), from });
  }

  #count(issue: Issue): void {
    this.#issues.count({ order: this.#order, issue });
  }
}

/** The same source by whatever path it was found; of one that was packed meanwhile its folder tells. */
export function realPathOf(path: string): string {
  for (const [folder, name] of [[path, ""] as const, [dirname(path), basename(path)] as const])
    try {
      return join(realpathSync.native(folder), name);
    } catch {
      // The next one, or as it was given.
    }
  return path;
}

function hashesOf(stored: Awaited<ReturnType<ImportHost["stored"]>>): ReadonlyMap<SessionId, StoredHashes> {
  return new Map(
    [...stored].map(([session, records]) => [
      session,
      {
        has: (record: string, hash: string) => records.get(record)?.includes(hashNumber(hash)) === true,
        isKnown: (record: string) => records.has(record),
      },
    ]),
  );
}

/** Told by the store itself. What the system refuses a reader, such as a file that is another's, is its source's fault. */
function isStoreFault(error: unknown): boolean {
  return isPondError(error) && (error.code === "storage_unavailable" || error.code === "conflict");
}

/**
 * A cursor is made of JSON values only; its type says so more precisely than JsonValue can. It says that states were
 * recorded up to it.
 */
function jsonOf(cursor: Cursor): JsonValue {
  const files = Object.fromEntries(Object.entries(cursor.files).map(([path, file]) => [path, { ...file }]));
  return { files, recorded: true, ...(cursor.state === undefined ? {} : { state: cursor.state }) };
}

/** False for what an older pond remembered: its source is read once more, from its start (spec.md#sources-state). */
export function isRecorded(cursor: JsonValue | undefined): boolean {
  return isJsonObject(cursor) && cursor["recorded"] === true;
}
