/** The one place that turns an end into an exit code (spec.md#cli-exit-codes). */
import { ClosedPipe } from "./output.ts";

/** How a verb that did answer ended: all of it, with failures that it has reported, or as the client that it started. */
export type Outcome = "done" | "failures" | { readonly exitCode: number };

export type End =
  | { readonly outcome: Outcome }
  | { readonly error: unknown }
  | { readonly interruptedBy: "SIGINT" | "SIGTERM" };

/** 0 done, 1 done with failures, 2 could not answer; 128 + signal when interrupted; that of a client that was started. */
export function exitCode(end: End): number {
  if ("interruptedBy" in end) return end.interruptedBy === "SIGINT" ? 130 : 143;
  if ("outcome" in end) {
    if (typeof end.outcome === "object") return end.outcome.exitCode;
    return end.outcome === "done" ? 0 : 1;
  }
  // The reader (head, less) has what it wanted.
  return end.error instanceof ClosedPipe ? 0 : 2;
}
