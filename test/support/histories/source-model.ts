/**
 * A client's source as a history sees it: what its client wrote, kept apart from what pond made of it, so that the one
 * can be held against the other. A state is a plain value; operations make new ones.
 */
import { parseJson, stringifyJson } from "../../../src/base/json/json.ts";
import type { JsonObject, JsonValue } from "../../../src/base/json/json.ts";

/** One record as its client writes it. A message of opencode is one record with its parts. */
export interface Entry {
  /** What the client calls it; rewriting it keeps the name. */
  readonly id: string;
  readonly value: JsonObject;
  readonly parts?: readonly Entry[];
  /** What its text can be found by: no two records that were not copied share one. */
  readonly word?: string;
  /** Milliseconds since 1970: when the client last wrote it. */
  readonly at: number;
}

/** Everything that one session has in one place at one time. */
export interface State {
  readonly entries: readonly Entry[];
  /** Behind the last newline: whole, it is data; torn, it is not yet. */
  readonly open?: { readonly entry: Entry; readonly isWhole: boolean };
  /** Files beside the log by name. */
  readonly sides: Readonly<Record<string, string>>;
}

export const TURNS = ["prompt", "answer", "tool", "branch"] as const;
export type Turn = (typeof TURNS)[number];

/** What a new record is made of. */
export interface Draft {
  readonly turn: Turn;
  /** Rises by one with each record that is made in a history. */
  readonly number: number;
  readonly word: string;
  readonly at: number;
}

/** A file on disk, in the client's own form. */
export type FileContent = string;

/** Rows of a database by table. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, JsonValue>>[]>>;

/** Files by path below the place; each as a list of canonical texts, one a record. */
export type Records = ReadonlyMap<string, readonly string[]>;

/** Which of the sessions of a history: the second is a child of the first. */
export type SessionNumber = 0 | 1;

export interface SourceModel {
  readonly label: string;
  readonly adapter: string;
  /** Files one by one, or rows of one database that all sessions of a place share. */
  readonly container: { readonly kind: "files" } | { readonly kind: "database"; readonly path: string };
  /** True where records stand in one file, one after the other: only there a line can be torn. */
  readonly isLog: boolean;
  /** Records at the start of a session that no operation takes away. */
  readonly heads: number;
  storedId(session: SessionNumber): string;
  /** The file or database that names the source, below the place. */
  path(session: SessionNumber): string;
  start(session: SessionNumber): State;
  /** The state with one more turn, which may be several records. */
  append(state: State, draft: Draft, session: SessionNumber): State;
  /** Files beside the log that may come, change and go. */
  sideNames(session: SessionNumber): readonly string[];
  sideContent(choice: "A" | "B"): string;
  files(session: SessionNumber, state: State): ReadonlyMap<string, FileContent>;
  rows?(session: SessionNumber, state: State): Rows;
  /** What a native restore of exactly this state writes. */
  records(session: SessionNumber, state: State): Records;
}

/** Every history starts here; nothing in it waits for the machine's clock. */
export const START = Date.UTC(2026, 0, 1);

export const instant = (at: number): string => new Date(at).toISOString();

/** The same record with another text: under its id, with everything else as it was. */
export function reword(entry: Entry, word: string, at: number): Entry {
  if (entry.word === undefined) return entry;
  const [before, parts] = [entry.word, entry.parts];
  return {
    ...entry,
    value: replaceIn(entry.value, before, word),
    ...(parts === undefined
      ? {}
      : { parts: parts.map((part) => ({ ...part, value: replaceIn(part.value, before, word), at })) }),
    word,
    at,
  };
}

function replaceIn(value: JsonObject, before: string, after: string): JsonObject {
  return parseJson(stringifyJson(value).replaceAll(before, after)) as JsonObject;
}

/** The records that count: a torn line does not. */
export function settledEntries({ entries, open }: State): readonly Entry[] {
  return open?.isWhole === true ? [...entries, open.entry] : entries;
}

/** The client ends the line that it had begun. */
export function closed({ entries, open, ...rest }: State): State {
  return { ...rest, entries: open === undefined ? entries : [...entries, open.entry] };
}

/** Equal values have equal texts: keys in order, numbers as JavaScript prints them. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export const canonicalBytes = (bytes: string | Uint8Array): string =>
  `bytes:${Buffer.from(bytes as string).toString("base64")}`;

/** Lines of a log, the last one as far as it was written. */
export function printLog({ entries, open }: State): string {
  const lines = entries.map(({ value }) => `${stringifyJson(value)}\n`).join("");
  if (open === undefined) return lines;
  const line = stringifyJson(open.entry.value);
  return lines + (open.isWhole ? line : tornLine(open.entry));
}

function tornLine({ value }: Entry): string {
  const line = stringifyJson(value);
  return line.slice(0, Math.floor(line.length / 2));
}

/** A line that nobody ends is kept as it stands once its file has settled, as every read that is looked at has it. */
export function canonicalLog(state: State): readonly string[] {
  const records = settledEntries(state).map(({ value }) => canonical(value));
  return state.open?.isWhole === false ? [...records, canonicalBytes(tornLine(state.open.entry))] : records;
}
