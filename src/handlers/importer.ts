/**
 * Reads sources of one client into the tables, in whichever thread it runs. A cursor advances only after the commit that
 * holds the rows before it; a source that cannot be read is an issue, the others go on.
 */
import { setImmediate } from "node:timers/promises";
import type { Adapter, AdapterEnv, AdapterYield, Cursor, Issue, Place, Unit } from "../adapters/index.ts";
import { stampText } from "../adapters/registry.ts";
import type { Clock } from "../base/clock.ts";
import { isPondError, toPondError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { parseJson, stringifyJson } from "../base/json.ts";
import type { Event, SessionId } from "../model/index.ts";
import { describeKey, entityOf } from "../model/index.ts";
import type { IngestLimits, IngestTables, SessionStore } from "../sessions/index.ts";
import { Ingest } from "../sessions/index.ts";
import type { Reached, SourceName } from "../state/index.ts";
import type { ImportOutcome } from "./import-outcome.ts";
import { IssueTally } from "./import-outcome.ts";
import { isCursor, sourceName } from "./sweep.ts";

/** A source to read. */
export interface ImportTask {
  /** Its place among all sources of this import: of several issues of a kind the first one is shown. */
  readonly order: number;
  readonly unit: Unit;
  readonly place: Place;
  readonly bytes: number;
  /** Where the last committed read stopped; absent: from the start. */
  readonly cursor?: JsonValue;
}

/** What an importer is given by the thread that owns the store and the state. */
export interface ImportHost {
  readonly tables: IngestTables;
  readonly stored: (sessions: readonly SessionId[]) => ReturnType<SessionStore["revisions"]>;
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
  readonly machine: AdapterEnv;
  readonly limits: IngestLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const BREATH_MS = 10;

export async function runImporter(settings: ImportSettings, host: ImportHost): Promise<ImportOutcome> {
  return new Importer(settings, host).run();
}

class Importer {
  readonly #settings: ImportSettings;
  readonly #host: ImportHost;
  readonly #ingest: Ingest;
  readonly #tally = { read: 0, waiting: 0, superseded: 0, messages: 0 };
  readonly #issues = new IssueTally();
  #reached: Reached[] = [];
  #order = 0;
  #breathed = 0;

  constructor(settings: ImportSettings, host: ImportHost) {
    this.#settings = settings;
    this.#host = host;
    this.#ingest = new Ingest(host.tables, {
      clock: settings.clock,
      limits: settings.limits,
      onViolation: ({ message }, event) => {
        const path = describeKey(entityOf(event));
        this.#count({ kind: "unexpected_shape", adapter: settings.adapter.name, path, message });
      },
      onCommit: () => this.#advance(),
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
    for (let tasks = await this.#host.next(); tasks.length > 0; tasks = await this.#host.next())
      for (const task of tasks) {
        if (signal.aborted) break;
        await this.#import(task);
        await this.#breathe();
      }
    const stored = signal.aborted ? await this.#ingest.stop() : await this.#ingest.flush();
    await this.#advance();
    const { read, waiting, superseded } = this.#tally;
    const { issues, examples } = this.#issues;
    return { read, waiting, superseded, stored, issues, examples };
  }

  /** Small sources are read without ever waiting: signals, timers and the store get their turn here. */
  async #breathe(): Promise<void> {
    const now = this.#settings.clock.now();
    if (now - this.#breathed < BREATH_MS) return;
    await setImmediate();
    this.#breathed = now;
  }

  async #advance(): Promise<void> {
    const reached = this.#reached;
    this.#reached = [];
    if (reached.length > 0) await this.#host.reached(reached);
  }

  async #import(task: ImportTask): Promise<void> {
    const { adapter, signal } = this.#settings;
    this.#order = task.order;
    const before = this.#tally.messages;
    try {
      await this.#read(task);
      this.#tally.read += 1;
    } catch (error) {
      if (signal.aborted) return;
      const fault = toPondError(error);
      // The store failing is no fault of the source: it ends the sync, with the store's own error.
      if (this.#ingest.isFailed) await this.#ingest.stop();
      if (isStoreFault(error)) throw fault;
      const path = task.unit.files[0]?.path ?? task.unit.key;
      this.#count({ kind: "unreadable", adapter: adapter.name, path, message: fault.message });
    }
    this.#host.done({ bytes: task.bytes, messages: this.#tally.messages - before });
  }

  async #read({ unit, place, cursor }: ImportTask): Promise<void> {
    const { adapter, machine, clock, signal } = this.#settings;
    const source = sourceName(adapter, place, unit);
    const batches = adapter.read(unit, {
      place,
      machine,
      now: clock.now(),
      signal,
      stored: this.#host.stored,
      prefix: { load: () => this.#prefixOf(source) },
      ...(isCursor(cursor) ? { cursor } : {}),
    });
    try {
      for await (const batch of batches) await this.#take(batch, source);
    } finally {
      await this.#ingest.endSession();
    }
  }

  async #prefixOf(source: SourceName): Promise<JsonValue | undefined> {
    const text = await this.#host.prefix(source);
    return text === undefined ? undefined : parseJson(text);
  }

  async #take(batch: readonly AdapterYield[], source: SourceName): Promise<void> {
    let events: Event[] = [];
    for (const item of batch) {
      if (item.kind === "issue") this.#count(item.issue);
      else if (item.kind === "waiting") this.#tally.waiting += 1;
      else if (item.kind === "superseded") this.#tally.superseded += 1;
      else if (item.kind === "checkpoint") {
        await this.#ingest.add(events);
        events = [];
        const stamp = stampText(Object.values(item.cursor.files));
        const cursor = jsonOf(item.cursor);
        const prefix = item.prefix === undefined ? undefined : stringifyJson(item.prefix);
        await this.#ingest.checkpoint(() => this.#reached.push({ source, stamp, cursor, prefix }));
      } else {
        if (item.kind === "message") this.#tally.messages += 1;
        events.push(item);
      }
    }
    await this.#ingest.add(events);
  }

  #count(issue: Issue): void {
    this.#issues.count({ order: this.#order, issue });
  }
}

/** Told by the store itself. What the system refuses a reader, such as a file that is another's, is its source's fault. */
function isStoreFault(error: unknown): boolean {
  return isPondError(error) && (error.code === "storage_unavailable" || error.code === "conflict");
}

/** A cursor is made of JSON values only; its type says so more precisely than JsonValue can. */
function jsonOf(cursor: Cursor): JsonValue {
  const files = Object.fromEntries(Object.entries(cursor.files).map(([path, file]) => [path, { ...file }]));
  return cursor.state === undefined ? { files } : { files, state: cursor.state };
}
