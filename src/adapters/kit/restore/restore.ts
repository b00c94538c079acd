/** What a serialize face returns (spec.md#adapter-restore): files by value, and what could not come along. */
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { stringifyJson } from "../../../base/json/json.ts";
import type { SessionId } from "../../../model/index.ts";
import type { ContextRule } from "../foreign/context.ts";
import type { HandedOver } from "../foreign/handed-over.ts";
import type { Loss } from "../foreign/losses.ts";
import type { RawLine } from "../files/raw-line.ts";
import { isRawLine } from "../files/raw-line.ts";

/** A file relative to the client's root. Records are values, so that they compare without printing them. */
export type RestoredFile =
  | { readonly kind: "jsonl"; readonly path: string; readonly records: readonly (JsonValue | RawLine)[] }
  | { readonly kind: "json"; readonly path: string; readonly value: JsonValue }
  | { readonly kind: "bytes"; readonly path: string; readonly data: Uint8Array }
  | RestoredRows;

/** Rows of a database, for the comparison with it: no client is given a database by pond. */
export interface RestoredRows {
  readonly kind: "rows";
  readonly path: string;
  readonly tables: readonly RestoredTable[];
}

export interface RestoredTable {
  readonly name: string;
  /** The condition on which the rows of this session are chosen, with one parameter, and its value. */
  readonly where: string;
  readonly value: string;
  /** The columns that name a row among them. */
  readonly key: readonly string[];
  readonly rows: readonly RestoredRow[];
}

export interface RestoredRow {
  readonly columns: JsonObject;
  /** Columns that hold JSON text, as values. */
  readonly json: JsonObject;
}

/** Which session a file tells, so that it can be read back and compared with what was stored. */
export interface RestoredLog {
  readonly path: string;
  readonly session: SessionId;
  /** What a foreign target was given to say; absent for a native restore, which says all that is stored. */
  readonly handedOver?: HandedOver;
}

/** A lineage as files of a client, with what was lost and how to resume it. */
export interface Restored {
  readonly fidelity: "native" | "foreign";
  readonly files: readonly RestoredFile[];
  /** One for each session of the lineage that has a log of its own. */
  readonly logs: readonly RestoredLog[];
  readonly losses: readonly Loss[];
  readonly resume: Resume;
}

/** How to go on with the session in the target client. */
export interface Resume {
  /** The session's id there. */
  readonly id: string;
  /** Where the client is to be started; empty when nothing tells. */
  readonly directory: string;
  /** The client's command, word by word. */
  readonly words: readonly string[];
  /** The same up to the path of a log, for one that the client does not find by its id from every directory. */
  readonly byPath?: readonly string[];
  /** Where the client takes files in by a command instead of finding them: what to run first, with each of which files. */
  readonly imports?: { readonly words: readonly string[]; readonly files: readonly string[] };
}

/** How a lineage is to be written. */
export interface SerializeOptions {
  /** Decided by the caller from the origin, never by the adapter (spec.md#adapter-native-restore-lossless). */
  readonly fidelity: "native" | "foreign";
  /**
   * `source`: each file where the source had it, which is what verify compares. `client`: where the client of this
   * machine looks for it, relative to its default place.
   */
  readonly layout: "source" | "client";
  /** Rewrites a recorded path for this machine (`--map-path old=new`); the identity when nothing is mapped. */
  readonly mapPath: (path: string) => string;
  /** Milliseconds since 1970, for files that are named by time. */
  readonly now: number;
  /** Of a foreign restore: what the model of the session's own client still had (`Adapter.restore.context`). */
  readonly context?: ContextRule | undefined;
}

/** The bytes of a restored file: one line a record, each ended by a newline. */
export function printFile(file: RestoredFile): Uint8Array {
  if (file.kind === "bytes") return file.data;
  if (file.kind === "json") return Buffer.from(`${stringifyJson(file.value)}\n`);
  if (file.kind === "rows")
    throw new PondError("validation_failed", `${file.path} is a database, which pond does not write`, {
      reason: "unsupported",
      hint: "restore for the client instead of to where the session came from",
    });
  const newline = Buffer.from("\n");
  return Buffer.concat(
    file.records.flatMap((record) => [
      isRawLine(record) ? record.raw : Buffer.from(stringifyJson(record)),
      newline,
    ]),
  );
}
