/** Ctrl-C and SIGTERM: the first asks the verb to stop and bounds how long that may take, the second ends the process. */
import type { ChildProcess } from "node:child_process";
import { exitCode } from "./exit.ts";

export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly by: "SIGINT" | "SIGTERM";

  constructor(by: "SIGINT" | "SIGTERM") {
    super(`interrupted by ${by}`);
    this.by = by;
  }
}

/**
 * A call of the engine cannot be called back, and an object store may keep it for minutes: a verb that has not stopped by
 * then is ended, as a kill would (spec.md#cli-signals). What is committed stays.
 */
const STOP_MS = 8000;

/**
 * While a client has the terminal, Ctrl-C is for the client to answer, and what asks pond to end asks the client. Nothing
 * is listened to afterwards: the client's end is pond's.
 */
export function handSignalsTo(client: ChildProcess): void {
  for (const by of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.removeAllListeners(by);
  process.on("SIGINT", () => undefined);
  for (const by of ["SIGTERM", "SIGHUP"] as const) process.on(by, () => client.kill(by));
}

/** A signal that is aborted with Interrupted. */
export function abortOnSignals({ stopMs = STOP_MS }: { readonly stopMs?: number } = {}): AbortSignal {
  const controller = new AbortController();
  for (const by of ["SIGINT", "SIGTERM"] as const) {
    const end = (): void => process.exit(exitCode({ interruptedBy: by }));
    process.on(by, () => {
      if (controller.signal.aborted) return end();
      controller.abort(new Interrupted(by));
      setTimeout(end, stopMs).unref();
    });
  }
  return controller.signal;
}
