/** Starts a TypeScript file in a process of its own and tells its lines as they come. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

export interface Child {
  readonly lines: readonly string[];
  /** Resolves with the line when a line satisfies the test; undefined when the process ends first. */
  seen(test: (line: string, lines: readonly string[]) => boolean): Promise<string | undefined>;
  kill(): void;
  /** Resolves with the exit code (null when killed) and stderr. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

export function startChild(script: string, job: unknown): Child {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, script), JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const waiters = new Set<() => void>();
  let stderr = "";
  let over = false;
  const wake = (): void => {
    for (const waiter of waiters) waiter();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<{ code: number | null; stderr: string }>((done) =>
    child.on("close", (code) => {
      over = true;
      wake();
      done({ code, stderr });
    }),
  );
  return {
    lines,
    ended,
    kill: () => child.kill("SIGKILL"),
    seen: (test) =>
      new Promise((done) => {
        const look = (): void => {
          const found = lines.findLast((line) => test(line, lines));
          if (found === undefined && !over) return;
          waiters.delete(look);
          done(found);
        };
        waiters.add(look);
        look();
      }),
  };
}
