import { expect, test } from "vitest";
import type { AdapterYield, Unit } from "../sources/reading.ts";
import { untilUnreadable } from "./read-log.ts";

const UNIT: Unit = { key: "a.jsonl", files: [] };
const TOLD: readonly AdapterYield[] = [{ kind: "waiting", reason: "told" }];

async function* failing(error: unknown): AsyncGenerator<readonly AdapterYield[]> {
  yield TOLD;
  throw error;
}

const fault = (code: string): Error => Object.assign(new Error(`${code}: read`), { code });

async function toldOf(error: unknown, signal?: AbortSignal): Promise<unknown[]> {
  return Array.fromAsync(untilUnreadable(failing(error), UNIT, { adapter: "x", signal }));
}

test("a source that cannot be read is an issue behind what was told of it", async () => {
  expect(await toldOf(fault("EACCES"))).toEqual([
    TOLD,
    [
      {
        kind: "issue",
        issue: { kind: "unreadable", adapter: "x", path: "a.jsonl", message: "EACCES: read" },
      },
    ],
  ]);
});

test("a source that went away is no fault", async () => {
  expect(await toldOf(fault("ENOENT"))).toEqual([TOLD]);
});

test("what is no fault of the source is thrown on, and so is an abort", async () => {
  await expect(toldOf(new TypeError("a slip"))).rejects.toThrow("a slip");
  await expect(toldOf(fault("EBADF"), AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
});
