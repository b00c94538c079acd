/** What could not be looked at, as lines for people. Pure. */
import { oneLine } from "./text.ts";

interface Place {
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

/** Where and what, on one line; some messages begin with their path. */
export function located({ path, line, message }: Place): string {
  const what = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
  return oneLine(`${line === undefined ? path : `${path}:${line}`}: ${what}`);
}

export function notLookedAt(adapter: string, issues: readonly Omit<Place, "line">[]): string[] {
  return issues.map(({ path, message }) => `  ${adapter}: not examined: ${located({ path, message })}`);
}
