/**
 * What a source holds now, read by its adapter as sync reads it, from its start and into nothing: the state of each of its
 * sessions, or why there is none.
 */
import type { Adapter, AdapterYield, Issue, OpenedPlace, ReadState, Unit } from "../../adapters/index.ts";
import { linkTo, NO_RECORDS } from "../../adapters/index.ts";
import { toPondError } from "../../base/errors.ts";
import type { SessionId } from "../../model/index.ts";
import type { Context } from "../context/context.ts";
import { realPathOf } from "./importer.ts";

/** Adapters hold back what a young source may still go on with: here it is read as it stands. */
export const SETTLED_MS = 366 * 24 * 3_600_000;

export interface ReadSession {
  readonly session: SessionId;
  readonly state: ReadState;
  /** The real path of what was read. */
  readonly path: string;
  /** The chain of the records up to some numbers of them that were asked for. */
  readonly links: ReadonlyMap<number, string>;
}

export interface DryRead {
  readonly sessions: readonly ReadSession[];
  readonly issues: readonly Issue[];
  /** True where something is too incomplete to import. */
  readonly isWaiting: boolean;
  readonly superseded: readonly { readonly session: SessionId; readonly differences: number }[];
}

export interface Source {
  readonly adapter: Adapter;
  readonly unit: Unit;
  readonly opened: OpenedPlace;
}

/** Told of each record of a session, by its id and the hash of its value. */
export type OnRecord = (session: SessionId, record: { readonly id: string; readonly hash: string }) => void;

export interface DryReading {
  /** At which numbers of records the chain of a session is wanted. */
  readonly wanted?: (session: SessionId) => ReadonlySet<number>;
  readonly onRecord?: OnRecord;
  /** True: only what sync would tell now, without what it holds back. */
  readonly asSyncReads?: boolean;
}

export async function dryRead(context: Context, source: Source, reading: DryReading = {}): Promise<DryRead> {
  const { adapter, unit, opened } = source;
  const reader = new Reader(reading);
  const { signal } = context;
  try {
    for await (const batch of opened.read(unit, {
      now: context.clock.now() + (reading.asSyncReads === true ? 0 : SETTLED_MS),
      signal,
    }))
      for (const item of batch) reader.take(item);
  } catch (error) {
    signal.throwIfAborted();
    const path = unit.files[0]?.path ?? unit.key;
    const { message } = toPondError(error);
    reader.issues.push({ kind: "unreadable", adapter: adapter.name, path, message });
  }
  return reader;
}

class Reader implements DryRead {
  readonly sessions: ReadSession[] = [];
  readonly issues: Issue[] = [];
  readonly superseded: { readonly session: SessionId; readonly differences: number }[] = [];
  isWaiting = false;
  readonly #reading: DryReading;
  #session: SessionId | undefined;
  #chain = NO_RECORDS;
  #records = 0;
  #wanted: ReadonlySet<number> = new Set();
  #links = new Map<number, string>();

  constructor(reading: DryReading) {
    this.#reading = reading;
  }

  take(item: AdapterYield): void {
    if (item.kind === "issue") this.issues.push(item.issue);
    else if (item.kind === "waiting") this.isWaiting = true;
    else if (item.kind === "superseded") this.superseded.push(item);
    else if (item.kind === "session") this.#start(item.session.id);
    else if (item.kind === "record") this.#pass(item.session, item.record, item.positioned);
    else if (item.kind === "message" && item.record !== undefined && item.record.piece === 0)
      this.#pass(item.message.session_id, item.record, item.message.seq !== undefined);
    else if (item.kind === "state") this.#end(item.session, item.state);
  }

  #start(session: SessionId): void {
    if (this.#session === session) return;
    this.#session = session;
    this.#chain = NO_RECORDS;
    this.#records = 0;
    this.#links = new Map();
    this.#wanted = this.#reading.wanted?.(session) ?? new Set();
  }

  /** The same chain as the reader's own: a link for each record that has a position. */
  #pass(
    session: SessionId,
    record: { readonly id: string; readonly hash: string; readonly value?: string },
    positioned: boolean,
  ): void {
    this.#start(session);
    this.#reading.onRecord?.(session, record);
    if (!positioned) return;
    this.#records += 1;
    this.#chain = linkTo(this.#chain, record.value ?? record.hash);
    if (this.#wanted.has(this.#records)) this.#links.set(this.#records, this.#chain);
  }

  #end(session: SessionId, state: ReadState): void {
    this.#start(session);
    this.sessions.push({ session, state, path: realPathOf(state.path), links: this.#links });
    this.#session = undefined;
  }
}
