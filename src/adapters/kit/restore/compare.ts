/**
 * Is a restored file equal, record by record and by value, to the source it came from
 * (spec.md#adapter-native-restore-lossless)? Key order, white space and spellings of equal numbers are not data.
 */
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { PondError } from "../../../base/errors.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import { firstDifference, isJsonObject, stringifyJson, tryParseJson } from "../../../base/json/json.ts";
import { compareRows } from "./compare-rows.ts";
import type { JsonlItem } from "../log/jsonl.ts";
import { JsonlSplitter, readJsonl } from "../log/jsonl.ts";
import type { RawLine } from "../files/raw-line.ts";
import type { RestoredFile, RestoredRows } from "./restore.ts";
import { isRawLine } from "../files/raw-line.ts";
import { SourceFile } from "../files/source-file.ts";
import { SqliteFile } from "../database/sqlite.ts";
import { isSettled, stampOf } from "../files/stamp.ts";
import { decodeText } from "../files/text-file.ts";
import type { ZstdFault } from "../files/zstd.ts";
import { readWholeZstd, readZstd } from "../files/zstd.ts";

export interface FileComparison {
  /** The restored file's path. */
  readonly path: string;
  /** Records of the source: lines that hold one, 1 for a file that is one value. */
  readonly records: number;
  readonly equal: number;
  /** Where the two first differ; absent when they are equal. */
  readonly difference?: RecordDifference;
  /** Restored records that the source has no longer, where it has none that was not restored equal and in order. */
  readonly extra?: number;
  /** Rows of the source by table, where it is a database. */
  readonly tables?: ReadonlyMap<string, number>;
}

export interface RecordDifference {
  /** 0-based position of the record. */
  readonly record: number;
  /** 1-based line of the source, where it has lines. */
  readonly line?: number;
  /** JSON pointer into the record. */
  readonly pointer: string;
  /** What the source has there, shortened; absent when it has nothing. */
  readonly source?: string;
  /** What was restored, shortened; absent when nothing was. */
  readonly restored?: string;
}

/** Compares restored files with their sources; keeps the database open that several sessions came from. */
export class FileComparer implements AsyncDisposable {
  readonly #scratch: string;
  readonly #now: number | undefined;
  #database: SqliteFile | undefined;

  /**
   * `scratch` is a folder of pond's own, for databases that can only be read from a copy. `now`, in milliseconds since
   * 1970, decides whether an unterminated last line is data; without it, one that was not restored never is.
   */
  constructor(scratch: string, now?: number) {
    this.#scratch = scratch;
    this.#now = now;
  }

  /** `source` may be compressed as `.zst`. */
  async compare(restored: RestoredFile, source: string): Promise<FileComparison> {
    if (restored.kind !== "rows") return compareWhole(restored, source, this.#now);
    if (this.#database?.path !== source) {
      await this[Symbol.asyncDispose]();
      this.#database = await SqliteFile.open(source, this.#scratch);
    }
    const { difference, counts: tables, ...found } = compareRows(this.#database, restored);
    const counts = { ...found, tables };
    if (difference === undefined) return { path: restored.path, ...counts };
    const { record, pointer, left, right } = difference;
    return { path: restored.path, ...counts, difference: { record, pointer, ...sides(left, right) } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    await database?.[Symbol.asyncDispose]();
  }
}

/** Compares one restored file with the file at `source`. */
export async function compareFile(
  restored: RestoredFile,
  source: string,
  scratch = tmpdir(),
): Promise<FileComparison> {
  await using comparer = new FileComparer(scratch);
  return await comparer.compare(restored, source);
}

async function compareWhole(
  restored: Exclude<RestoredFile, RestoredRows>,
  source: string,
  now: number | undefined,
): Promise<FileComparison> {
  if (restored.kind === "jsonl") return compareRecords(restored, source, now);
  const bytes = await readWhole(source);
  const difference =
    restored.kind === "bytes"
      ? differenceOfBytes(bytes, restored.data)
      : differenceOfJson(bytes, restored.value);
  const equal = difference === undefined ? 1 : 0;
  return { path: restored.path, records: 1, equal, ...(difference === undefined ? {} : { difference }) };
}

/** True when every record of the source is there, equal, in order, and nothing else is. */
export function isEqualFile(comparison: FileComparison): boolean {
  return comparison.difference === undefined;
}

/** One line for people: where and how the two differ. */
export function describeDifference({ path, records, difference, extra }: FileComparison): string {
  if (difference === undefined) return `${path}: equal`;
  if (extra !== undefined)
    return `${path}: all ${records} records are stored, with ${extra} more that the file has no longer`;
  const { record, line, pointer, source = "nothing", restored = "nothing" } = difference;
  const where = line === undefined ? `record ${record}` : `record ${record} (line ${line})`;
  return `${path}: ${where} at ${pointer === "" ? "its root" : pointer}: ${source} became ${restored}`;
}

async function compareRecords(
  { path, records: restored }: Extract<RestoredFile, { kind: "jsonl" }>,
  source: string,
  now = 0,
): Promise<FileComparison> {
  let records = 0;
  let equal = 0;
  let difference: RecordDifference | undefined;
  /** Behind the restored record that the last one of the source was found as; the end when one was not found. */
  let found = 0;
  let isAllThere = true;
  const reading = itemsOf(source);
  let batch = await reading.next();
  for (; batch.done !== true; batch = await reading.next())
    for (const item of batch.value) {
      if (item.kind === "tail") continue;
      // A tail is compared where it was stored, and missed where it should have been by now.
      if (
        isTail(item) &&
        restored[records] === undefined &&
        !isSettled(stampOf(source, statSync(source)), now)
      )
        continue;
      const here = differenceOfItem(item, restored[records], records);
      if (here === undefined) equal += 1;
      else difference ??= here;
      if (difference !== undefined)
        while (found < restored.length && differenceOfItem(item, restored[found], records) !== undefined)
          found += 1;
      isAllThere &&= found < restored.length;
      found += 1;
      records += 1;
    }
  const fault = batch.value;
  isAllThere &&= fault === undefined;
  if (fault !== undefined)
    difference ??= { record: records, pointer: "", source: `${fault.message} at byte ${fault.offset}` };
  const next = restored[records];
  if (next !== undefined) difference ??= { record: records, pointer: "", restored: shorten(next) };
  if (difference === undefined) return { path, records, equal };
  return { path, records, equal, difference, ...(isAllThere && { extra: restored.length - records }) };
}

/** What is data only because its file is settled. */
function isTail(item: Exclude<JsonlItem, { kind: "tail" }>): boolean {
  return !item.terminated && (item.kind === "bad_line" || !isJsonObject(item.value));
}

function differenceOfItem(
  item: Exclude<JsonlItem, { kind: "tail" }>,
  restored: JsonValue | RawLine | undefined,
  record: number,
): RecordDifference | undefined {
  const at = { record, line: item.line };
  const source = valueOf(item);
  if (restored === undefined) return { ...at, pointer: "", source: shorten(source) };
  if (isRawLine(source) || isRawLine(restored)) {
    if (isRawLine(source) && isRawLine(restored) && Buffer.compare(source.raw, restored.raw) === 0)
      return undefined;
    return { ...at, pointer: "", ...sides(source, restored) };
  }
  const found = firstDifference(source, restored);
  if (found === undefined) return undefined;
  return { ...at, pointer: found.path, ...sides(found.left, found.right) };
}

/** A line past the reader's bound has no bytes here, and so equals nothing. */
function valueOf(item: Exclude<JsonlItem, { kind: "tail" }>): JsonValue | RawLine {
  if (item.kind === "record") return item.value;
  return "raw" in item ? { raw: item.raw } : { raw: new Uint8Array() };
}

function differenceOfBytes(source: Uint8Array, restored: Uint8Array): RecordDifference | undefined {
  if (Buffer.compare(source, restored) === 0) return undefined;
  return {
    record: 0,
    pointer: "",
    source: `${source.length} bytes`,
    restored: `${restored.length} other bytes`,
  };
}

function differenceOfJson(source: Uint8Array, restored: JsonValue): RecordDifference | undefined {
  const decoded = decodeText(source);
  const parsed = decoded.ok ? tryParseJson(decoded.text) : undefined;
  if (parsed?.kind !== "value")
    return { record: 0, pointer: "", source: "bytes that are not JSON", restored: shorten(restored) };
  const found = firstDifference(parsed.value, restored);
  return found && { record: 0, pointer: found.path, ...sides(found.left, found.right) };
}

function sides(
  source: JsonValue | RawLine | undefined,
  restored: JsonValue | RawLine | undefined,
): Pick<RecordDifference, "source" | "restored"> {
  if (source === undefined) return restored === undefined ? {} : { restored: shorten(restored) };
  if (restored === undefined) return { source: shorten(source) };
  const [left, right] = [textOf(source), textOf(restored)];
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  return { source: cut(left, same), restored: cut(right, same) };
}

const shorten = (value: JsonValue | RawLine): string => cut(textOf(value), 0);

const textOf = (value: JsonValue | RawLine): string =>
  isRawLine(value) ? Buffer.from(value.raw).toString("latin1") : stringifyJson(value);

/** Characters that are shown, and how many of them before the place where two texts begin to differ. */
const SHOWN = { all: 120, before: 40 };

/** What stands around a place of a text. */
function cut(text: string, at: number): string {
  const from = text.length > SHOWN.all ? Math.max(0, at - SHOWN.before) : 0;
  const shown = text.slice(from, from + SHOWN.all);
  return `${from > 0 ? "..." : ""}${shown}${from + shown.length < text.length ? "..." : ""}`;
}

/** Returns what of the source cannot be read: it equals nothing. */
async function* itemsOf(path: string): AsyncGenerator<readonly JsonlItem[], ZstdFault | undefined> {
  using file = SourceFile.open(path);
  if (!path.endsWith(".zst")) return yield* plainItemsOf(file);
  const splitter = new JsonlSplitter();
  const reading = readZstd(file);
  let next = await reading.next();
  for (; next.done !== true; next = await reading.next()) yield splitter.push(next.value);
  yield splitter.finish(true);
  return next.value;
}

async function* plainItemsOf(file: SourceFile): AsyncGenerator<readonly JsonlItem[], undefined> {
  yield* readJsonl(file, { settledSize: file.size });
  return undefined;
}

async function readWhole(path: string): Promise<Uint8Array> {
  if (!path.endsWith(".zst")) return await readFile(path);
  using file = SourceFile.open(path);
  const whole = await readWholeZstd(file);
  if (whole instanceof Uint8Array) return whole;
  throw new PondError("validation_failed", `${path}: ${whole.message} at byte ${whole.offset}`, {
    reason: "corrupt",
  });
}
