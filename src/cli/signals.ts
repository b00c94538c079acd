/** Ctrl-C: the first asks the verb to stop, the second ends the process at once. */
import { exitCode } from "./exit.ts";

export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly by: "SIGINT" | "SIGTERM";

  constructor(by: "SIGINT" | "SIGTERM") {
    super(`interrupted by ${by}`);
    this.by = by;
  }
}

/** A signal that is aborted with Interrupted. */
export function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const by of ["SIGINT", "SIGTERM"] as const)
    process.on(by, () => {
      if (controller.signal.aborted) process.exit(exitCode({ interruptedBy: by }));
      controller.abort(new Interrupted(by));
    });
  return controller.signal;
}
