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
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errors.ts";
import { makeFolders, PRIVATE_FILE } from "./folders.ts";
import type { JsonValue } from "./json.ts";
import { stringifyJson, tryParseJson } from "./json.ts";
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
  for (const line of readLines(path)) {
    const parsed = tryParseJson(line);
    if (parsed.kind === "value") values.push(parsed.value);
    else damaged += 1;
  }
  return { values, damaged };
}

/** The same, unparsed. */
export function readLines(path: string): readonly string[] {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
  const lines = content.toString("utf8", 0, content.lastIndexOf(NEWLINE) + 1).split("\n");
  return lines.filter((line) => line !== "");
}

export function appendLog(path: string, values: readonly JsonValue[]): void {
  appendLines(path, values.map(stringifyJson));
}

/** Adds lines of JSON behind the last terminated one, and waits until they are on the disk. */
export function appendLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  written(path, () => {
    makeFolders(dirname(path));
    const file = openSync(path, "a+", PRIVATE_FILE);
    try {
      repairTail(file);
      writeSync(file, `${lines.join("\n")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** Says of which folder an error is, which the system does not where a disk is full. */
function written(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unusable(dirname(path), STATE, error);
  }
}

/** Cuts an unterminated line that a crash left behind; one byte is read when there is none. */
function repairTail(file: number): void {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  if (size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE)) return;
  const content = Buffer.alloc(size);
  readSync(file, content, 0, size, 0);
  ftruncateSync(file, content.lastIndexOf(NEWLINE) + 1);
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
      writeFileSync(file, [...lines, ""].join("\n"));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  });
}
