/** What a serialize face returns (spec.md#adapter-restore): files by value, and what could not come along. */
import { PondError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { stringifyJson } from "../../base/json.ts";
import type { MessageWithParts, Part, SessionId } from "../../model/index.ts";
import type { ContextRule } from "./foreign/context.ts";
import type { HandedOver } from "./foreign/handed-over.ts";

/** A line that was not JSON when it was read: it goes back byte for byte. */
export interface RawLine {
  readonly raw: Uint8Array;
}

/** No JSON value holds bytes, so the two never look alike. */
export function isRawLine(record: JsonValue | RawLine): record is RawLine {
  return typeof record === "object" && record !== null && "raw" in record && record.raw instanceof Uint8Array;
}

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

/** What may be lost, in the same words for every client, and whom it matters to: the model, or only the record of it. */
const AFFECTS = {
  "failure of a tool": "model",
  "file in a prompt": "model",
  "file in a tool result": "model",
  "file in an answer": "model",
  "history before the fork": "model",
  "instructions from its client": "model",
  "middle of a long tool result": "model",
  "note from its client": "model",
  reasoning: "model",
  "summary of a compaction": "model",
  "text beside a summary": "model",
  "tool call that the provider ran": "model",
  "tool result without its call": "model",
  "answer that was broken off": "record",
  approval: "record",
  "copy of a session": "record",
  "file beside the session": "record",
  "link to a parent session": "record",
  "bookkeeping record": "record",
  "rows beside the session": "record",
  "session that it belongs to": "record",
  "text kept from the model": "record",
  "system message": "record",
  title: "record",
  "turn of another branch": "record",
  "unanswered tool call": "record",
  "value that is not JSON": "record",
} as const;

export type LossKind = keyof typeof AFFECTS;

/** Something of the canonical session that the target cannot express. */
export interface Loss {
  readonly what: LossKind;
  readonly why: string;
  readonly count: number;
  /** `model`: the model knew it and does not know it any more. `record`: nothing that it was sent. */
  readonly affects: "model" | "record";
}

/** Which session a file tells, so that it can be read back and compared with what was stored. */
export interface RestoredLog {
  readonly path: string;
  readonly session: SessionId;
  /** What a foreign target was given to say; absent for a native restore, which says all that is stored. */
  readonly handedOver?: HandedOver;
}

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

/** Parts of a session that its target does not say, or not as they were. */
export interface LostParts {
  /** Not said at all. */
  readonly parts: ReadonlySet<Part>;
  /** Results that are said, but not whether they are failures. */
  readonly failures: ReadonlySet<Part>;
}

/** Collects losses by kind, and which parts of the session at hand are among them. */
export class LossReport {
  readonly #losses = new Map<string, Omit<Loss, "count"> & { count: number }>();
  #past: ReadonlySet<Part> = new Set();
  #unflagged: ReadonlySet<Part> = new Set();
  #unsent: ReadonlySet<Part> = new Set();
  #pieces: ReadonlySet<Part> = new Set();
  #parts = new Set<Part>();
  #failures = new Set<Part>();

  /** Parts of the session at hand that its model no longer had: what is lost of them is no loss to another one. */
  setPast(messages: readonly MessageWithParts[]): void {
    this.#past = new Set(messages.flatMap(({ parts }) => parts));
  }

  /** Results of the session at hand whose failure its model was not told: that it is not told again is a loss to the record. */
  setUnflagged(parts: readonly Part[]): void {
    this.#unflagged = new Set(parts);
  }

  /** Thoughts of the session at hand: those that its client does not send again, and further pieces of one, which count once. */
  setThoughts({
    unsent,
    pieces,
  }: {
    readonly unsent: readonly Part[];
    readonly pieces: readonly Part[];
  }): void {
    this.#unsent = new Set(unsent);
    this.#pieces = new Set(pieces);
  }

  /** `part`: what is not said. It is not looked for when the restore is read back. */
  add(what: LossKind, why: string, part?: Part): void {
    if (part !== undefined) this.#parts.add(part);
    if (part !== undefined && this.#pieces.has(part)) return;
    const isSent = part === undefined || !this.#unsent.has(part);
    this.#count(what, isSent ? why : "its own client does not send it again", part);
  }

  /** A result that is said, but not that it is a failure. */
  addFailure(why: string, part: Part): void {
    this.#failures.add(part);
    const isTold = !this.#unflagged.has(part);
    this.#count("failure of a tool", isTold ? why : `${why}; its own model was not told either`, part);
  }

  /** A part that is said, and cut by the client when it sends it. */
  addCut(what: LossKind, why: string, part: Part): void {
    this.#count(what, why, part);
  }

  /** The parts that were lost since this was last asked: of one session, because a fork repeats its parent's. */
  takeParts(): LostParts {
    const lost = { parts: this.#parts, failures: this.#failures };
    this.#parts = new Set();
    this.#failures = new Set();
    this.#past = new Set();
    this.#unflagged = new Set();
    this.#unsent = new Set();
    this.#pieces = new Set();
    return lost;
  }

  #count(what: LossKind, why: string, part: Part | undefined): void {
    const isUntold = what === "failure of a tool" && part !== undefined && this.#unflagged.has(part);
    const isPast = part !== undefined && (this.#past.has(part) || this.#unsent.has(part));
    const affects = isUntold || isPast ? "record" : AFFECTS[what];
    const key = `${affects}\0${what}\0${why}`;
    const loss = this.#losses.get(key);
    if (loss === undefined) this.#losses.set(key, { what, why, affects, count: 1 });
    else loss.count += 1;
  }

  /** What the model loses first. */
  list(): readonly Loss[] {
    return [...this.#losses.values()].toSorted(
      (a, b) => Number(a.affects === "record") - Number(b.affects === "record"),
    );
  }
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
