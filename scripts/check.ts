/**
 * The one gate: types, lint, tests. Every step runs even when one before it failed, so that one run shows all that
 * is wrong; the last line is "N passed, N failed", a failed step that is no test counted as one failure.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What vitest's JSON reporter writes, as far as it is counted here. */
interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const scratch = mkdtempSync(join(tmpdir(), "pond-check-"));
const report = join(scratch, "tests.json");

const failedSteps = ["types", "lint"].filter((step) => !succeeds("run", "--silent", step));
const testsSucceed = succeeds(
  "test",
  "--silent",
  "--",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
);
const tests = countsOf(report, testsSucceed);
rmSync(scratch, { recursive: true });

for (const step of failedSteps) console.log(`npm run ${step} failed: its messages are above`);
const failed = tests.failed + failedSteps.length;
console.log(
  `${tests.passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`,
);
process.exitCode = failed === 0 ? 0 : 1;

function succeeds(...args: readonly string[]): boolean {
  // CI: a snapshot that is missing fails, it is not written.
  return spawnSync("npm", args, { stdio: "inherit", env: { ...process.env, CI: "true" } }).status === 0;
}

function countsOf(file: string, succeeded: boolean): Counts {
  let read: TestReport;
  try {
    read = JSON.parse(readFileSync(file, "utf8")) as TestReport;
  } catch {
    // The build failed, or the runner itself did: nothing was tested.
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const unloadable = read.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  const counted = read.numFailedTests + unloadable.length;
  return {
    passed: read.numPassedTests,
    // An error outside any test fails the run all the same.
    failed: succeeded ? counted : Math.max(counted, 1),
    skipped: read.numPendingTests + read.numTodoTests,
  };
}
