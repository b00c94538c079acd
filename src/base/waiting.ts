/** Waiting that ends: not later than a bound of time, not after Ctrl-C, whatever is waited for. */
import type { Clock } from "./clock.ts";

/**
 * A bound of time for several tasks in a row. Who is late is left alone: nobody is told what it answers then, nor how it
 * fails.
 */
export class TimeLimit implements Disposable {
  readonly #over = new AbortController();
  readonly #late: Promise<"late">;

  constructor(clock: Pick<Clock, "sleep">, ms: number) {
    this.#late = clock.sleep(ms, this.#over.signal).then(() => "late");
    this.#late.catch(() => undefined);
  }

  of<T>(task: Promise<T>): Promise<T | "late"> {
    task.catch(() => undefined);
    return Promise.race([task, this.#late]);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}

/** The task's answer, or the signal's reason as soon as it is aborted: a call of the engine cannot be called back. */
export async function unlessAborted<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  task.catch(() => undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([task, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
