/**
 * An append-only file of JSON lines: the newline is the commit marker (spec.md#jsonl-commit-marker), a torn tail is
 * repaired on the next append, a line that is not JSON is skipped and counted. Rewriting is atomic.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../errors.ts";
import { makeFolders, PRIVATE_FILE } from "./folders.ts";
import type { JsonValue } from "../json/json.ts";
import { stringifyJson, tryParseJson } from "../json/json.ts";
import { STATE, unusable } from "./unusable.ts";

const NEWLINE = 0x0a;

export interface LogContent {
  readonly values: readonly JsonValue[];
  /** Terminated lines that could not be read. */
  readonly damaged: number;
}

/** Everything in the log; an absent file is an empty log. */
export function readLog(path: string): LogContent {
  const values: JsonValue[] = [];
  let damaged = 0;
  for (const { bytes, start, end } of linesOf(path)) {
    const parsed = tryParseJson(bytes.toString("utf8", start, end));
    if (parsed.kind === "value") values.push(parsed.value);
    else damaged += 1;
  }
  return { values, damaged };
}

/** A line of a log, in bytes: those from `start` up to `end` of `bytes`, which stand at `offset` of the log. */
export interface LogLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
}

/** How much of a log is held at once. */
const CHUNK = 1 << 20;

/** Every terminated line that is not empty, unparsed; its bytes are to be used before the next one is asked for. */
export function* linesOf(path: string): Generator<LogLine> {
  const file = openIfThere(path);
  if (file === undefined) return;
  try {
    let bytes = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, fstatSync(file).size)));
    /** Where the first byte stands in the log, and how many there are. */
    let [from, held] = [0, 0];
    for (;;) {
      const read = readSync(file, bytes, held, bytes.length - held, from + held);
      if (read === 0) return;
      held += read;
      let start = 0;
      const content = bytes.subarray(0, held);
      for (let end = content.indexOf(NEWLINE); end !== -1; end = content.indexOf(NEWLINE, start)) {
        if (end > start) yield { bytes, start, end, offset: from + start };
        start = end + 1;
      }
      // What a line has so far goes on with the next chunk, a larger one if it fills this.
      const next = start === 0 && held === bytes.length ? Buffer.allocUnsafe(bytes.length * 2) : bytes;
      bytes.copy(next, 0, start, held);
      bytes = next;
      from += start;
      held -= start;
    }
  } finally {
    closeSync(file);
  }
}

/** Some bytes of a log; undefined where it has fewer. */
export function readAt(path: string, offset: number, length: number): Buffer | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  try {
    const bytes = Buffer.allocUnsafe(length);
    return readSync(file, bytes, 0, length, offset) === length ? bytes : undefined;
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

export function appendLog(path: string, values: readonly JsonValue[]): void {
  appendLines(path, values.map(stringifyJson));
}

/** Adds lines of JSON behind the last terminated one, and waits until they are on the disk. Where the first one stands. */
export function appendLines(path: string, lines: readonly string[]): number {
  if (lines.length === 0) return 0;
  return written(path, () => {
    makeFolders(dirname(path));
    const file = openSync(path, "a+", PRIVATE_FILE);
    try {
      const end = repairTail(file);
      writeFileSync(file, `${lines.join("\n")}\n`);
      fsyncSync(file);
      return end;
    } finally {
      closeSync(file);
    }
  });
}

/** Says of which folder an error is, which the system does not where a disk is full. */
function written<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unusable(dirname(path), STATE, error);
  }
}

/** Cuts an unterminated line that a crash left behind; one byte is read when there is none. Where the log ends. */
function repairTail(file: number): number {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  if (size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE)) return size;
  const content = Buffer.alloc(size);
  readSync(file, content, 0, size, 0);
  const end = content.lastIndexOf(NEWLINE) + 1;
  ftruncateSync(file, end);
  return end;
}

/** Replaces the whole log, or leaves it as it was. */
export function rewriteLog(path: string, values: readonly JsonValue[]): void {
  rewriteLines(path, values.map(stringifyJson));
}

export function rewriteLines(path: string, lines: Iterable<string>): void {
  const draft = `${path}.new`;
  written(path, () => {
    makeFolders(dirname(path));
    const file = openSync(draft, "w", PRIVATE_FILE);
    try {
      let chunk = "";
      for (const line of lines) {
        chunk += `${line}\n`;
        if (chunk.length < CHUNK) continue;
        writeFileSync(file, chunk);
        chunk = "";
      }
      writeFileSync(file, chunk);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  });
}
