/** Files of a client that nobody wrote to for long, so that nothing of them waits for more. */
import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A JSONL log; `time` in seconds since 1970, another one for each version of it. */
export function writeLog(path: string, records: readonly object[], time = 1): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  utimesSync(path, time, time);
}

/** The records of one. */
export function readLog(path: string): unknown[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

/** A fixture of test/fixtures/adapters where its client would keep it. */
export function copyFixture(name: string, to: string): void {
  cpSync(join(import.meta.dirname, "../fixtures/adapters", name), to, { recursive: true });
  age(to);
}

export function age(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), 1, 1);
}
