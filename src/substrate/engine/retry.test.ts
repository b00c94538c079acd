/** Retry is bounded, jittered, and only for what a second try can change. Texts are the engine's own. */
import { describe, expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { type Fault, faultOf, type RetryPolicy, withRetry } from "./retry.ts";

const TEXTS: readonly (readonly [Fault, string])[] = [
  [
    "conflict",
    "lance error: Retryable commit conflict for version 4: This Rewrite transaction was preempted by concurrent transaction Update at version 4. Please retry.",
  ],
  [
    "conflict",
    "Failed to execute merge insert: GenericFailure, lance error: Too many concurrent writers. Attempted 10 retries.",
  ],
  [
    "conflict",
    "Too many concurrent writers. Attempted 7 times, but failed on retry_timeout of 30.000 seconds.",
  ],
  [
    "conflict",
    "lance error: Incompatible transaction: This UpdateConfig transaction is incompatible with concurrent transaction UpdateConfig at version 4., /x.rs:1641:34",
  ],
  ["disk_full", "LanceError(IO): No space left on device (os error 28)"],
  ["permission", "LanceError(IO): Permission denied (os error 13)"],
  ["missing", "Table 'x' was not found Caused by: Dataset at path /a/b/x.lance was not found"],
  ["exists", "Table 'x' already exists"],
  ["stale", "lance error: Not found: a/b/data/0100.lance, /src/x.rs:1:2"],
  ["corrupt", "LanceError(IO): file size is too small"],
  ["corrupt", "failed to fill whole buffer"],
  ["other", "Schema Error: Provided schema does not match existing table schema"],
];

function policy(attempts: number, sleeps: number[]): RetryPolicy {
  const clock: Clock = { now: () => 0, sleep: (ms) => (sleeps.push(ms), Promise.resolve()) };
  return { clock, random: () => 0.5, attempts, baseMs: 100, capMs: 1000 };
}

const failing = (text: string, times: number) => {
  let calls = 0;
  return {
    run: () => (calls++ < times ? Promise.reject(new Error(text)) : Promise.resolve("done")),
    what: "write to notes",
    where: "/store",
  };
};

describe("retry", () => {
  test.each(TEXTS)("%s: %s", (fault, text) => {
    expect(faultOf(new Error(text))).toBe(fault);
  });

  test("a lost race is tried again after growing, jittered waits", async () => {
    const sleeps: number[] = [];
    const result = await withRetry(policy(10, sleeps), failing("Retryable commit conflict for version 4", 6));
    expect(result).toEqual({ value: "done", attempts: 7 });
    expect(sleeps).toEqual([50, 100, 200, 400, 500, 500]);
  });

  test("used-up attempts are a conflict that tells their number", async () => {
    const sleeps: number[] = [];
    await expect(
      withRetry(policy(3, sleeps), failing("Too many concurrent writers", 9)),
    ).rejects.toMatchObject({
      code: "conflict",
      reason: "busy",
      data: { attempts: 3 },
    });
    expect(sleeps).toHaveLength(2);
  });

  test.each([
    ["No space left on device (os error 28)", "storage_unavailable", "disk_full"],
    ["Permission denied (os error 13)", "storage_unavailable", "permission"],
    ["Schema Error: nope", "internal", undefined],
  ])("%s is not tried again", async (text, code, reason) => {
    const sleeps: number[] = [];
    await expect(withRetry(policy(9, sleeps), failing(text, 9))).rejects.toMatchObject({ code, reason });
    expect(sleeps).toEqual([]);
  });

  test("what runs before a retry is told the fault", async () => {
    const faults: Fault[] = [];
    const call = {
      ...failing("Not found: a/data/1.lance", 2),
      beforeRetry: async (fault: Fault) => void faults.push(fault),
    };
    await withRetry(policy(9, []), call);
    expect(faults).toEqual(["stale", "stale"]);
  });
});
