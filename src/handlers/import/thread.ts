/**
 * What the threads of an import say to each other. The thread that owns store and state is asked for work and for the
 * tables; a worker is asked to run. Sources and cursors travel as JSON text, which keeps their numbers exact.
 */
import type { AdapterEnv, FileStamp, OpenedPlace, Place, Unit } from "../../adapters/index.ts";
import { PondError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json/json.ts";
import { parseJson, stringifyJson } from "../../base/json/json.ts";
import type { Calls } from "../../base/thread-calls.ts";
import type { IngestLimits, TableCalls } from "../../sessions/ingest/index.ts";
import type { Reached } from "../../state/index.ts";
import type { ImportOutcome } from "./outcome.ts";
import type { ImportHost, ImportTask } from "./importer.ts";

/** Answered by the owner of the store. */
export interface HostCalls extends Calls, TableCalls {
  readonly next: (nothing: undefined) => readonly RemoteTask[];
  readonly stored: ImportHost["stored"];
  readonly restored: (nothing: undefined) => ReturnType<ImportHost["restored"]>;
  readonly restoredLists: ImportHost["restoredLists"];
  readonly prefix: ImportHost["prefix"];
  readonly reached: (sources: readonly RemoteReached[]) => Promise<void> | void;
  readonly done: ImportHost["done"];
}

/** Answered by a worker. */
export interface WorkerCalls extends Calls {
  readonly run: (order: WorkOrder) => Promise<ImportOutcome>;
  readonly stop: (nothing: undefined) => void;
}

export interface WorkOrder {
  readonly adapter: string;
  readonly reader: string;
  readonly machine: AdapterEnv;
  /** Each thread opens them once. */
  readonly places: readonly Place[];
  readonly limits: IngestLimits;
  /** As of the tables. */
  readonly isDoubtful: boolean;
  /** As of an ingest. */
  readonly patienceMs?: number | undefined;
}

export interface RemoteTask {
  readonly order: number;
  readonly key: string;
  readonly files: readonly FileStamp[];
  readonly bytes: number;
  /** Which of the order's places. */
  readonly place: number;
  readonly found?: string;
  readonly cursor?: string;
}

export interface RemoteReached extends Omit<Reached, "cursor"> {
  readonly cursor: string;
}

export function taskToSend(
  { unit, cursor, order, bytes, opened }: ImportTask,
  places: readonly Place[],
): RemoteTask {
  return {
    order,
    bytes,
    key: unit.key,
    files: unit.files,
    place: places.indexOf(opened.place),
    ...(unit.found === undefined ? {} : { found: stringifyJson(unit.found) }),
    ...(cursor === undefined ? {} : { cursor: stringifyJson(cursor) }),
  };
}

export function taskReceived(
  { order, bytes, ...task }: RemoteTask,
  places: readonly OpenedPlace[],
): ImportTask {
  const opened = places[task.place];
  if (opened === undefined) throw new PondError("internal", `a source of an unknown place: ${task.key}`);
  const { key, files } = task;
  const unit: Unit = task.found === undefined ? { key, files } : { key, files, found: parseJson(task.found) };
  const cursor: JsonValue | undefined = task.cursor === undefined ? undefined : parseJson(task.cursor);
  return { order, bytes, unit, opened, ...(cursor === undefined ? {} : { cursor }) };
}
