/** The process: its words, streams and signals go to run(), its exit code comes back. */
import { toPondError } from "../base/errors.ts";
import { processEnvironment } from "../config/environment.ts";
import { exitCode } from "./terminal/exit.ts";
import { createOutput, processSinks } from "./terminal/output.ts";
import { run } from "./run.ts";
import { abortOnSignals } from "./terminal/signals.ts";
import { keepPrivate } from "./terminal/umask.ts";
import { ROOT } from "./verbs.ts";

keepPrivate();

const sinks = processSinks();

// A throw that no verb awaits is a bug: one line for people, no half-printed stack, and not the exit code of success.
process.on("uncaughtException", (error) => {
  const verbose = process.argv.includes("--verbose") || process.argv.includes("-v");
  createOutput(sinks, { json: false, verbose, quiet: false, color: () => false }).error(toPondError(error));
  process.exit(exitCode({ error }));
});
// Node announces its experimental parts (sqlite) on stderr: nothing that a user of pond can act on.
process.removeAllListeners("warning");

// process.exit: all output is written by now, and a verb's idle handles must not keep the process.
process.exit(
  await run(process.argv.slice(2), {
    root: ROOT,
    env: processEnvironment(),
    sinks,
    signal: abortOnSignals(),
  }),
);
