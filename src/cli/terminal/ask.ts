/** A question on a terminal. The question goes to stderr, so that stdout stays the result. */
import { createInterface } from "node:readline/promises";
import { PondError } from "../../base/errors.ts";
import { terminal } from "./output.ts";
import { oneLine } from "./text.ts";

/** True when somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY;
}

/** The answer, or the default for an empty one. Ctrl-C is a signal here as everywhere; Ctrl-D is no answer. */
export async function ask(question: string, fallback: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: terminal(), terminal: true });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = Promise.withResolvers<never>();
  lines.once("close", () => closed.reject(noAnswer()));
  try {
    const answering = lines.question(`${oneLine(`${question} [${fallback}]`)} `, { signal });
    const answer = (await Promise.race([answering, closed.promise])).trim();
    return answer === "" ? fallback : answer;
  } finally {
    closed.promise.catch(() => undefined);
    lines.close();
  }
}

const noAnswer = (): PondError =>
  new PondError("validation_failed", "there was no answer", {
    hint: "--yes uses the defaults and asks nothing",
  });
