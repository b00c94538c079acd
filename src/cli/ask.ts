/** A question on a terminal. The question goes to stderr, so that stdout stays the result. */
import { createInterface } from "node:readline/promises";
import { terminal } from "./output.ts";

/** True when somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY;
}

/** The answer, or the default for an empty one. */
export async function ask(question: string, fallback: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: terminal(), terminal: true });
  try {
    const answer = (await lines.question(`${question} [${fallback}] `, { signal })).trim();
    return answer === "" ? fallback : answer;
  } finally {
    lines.close();
  }
}
