/** Starting a client in the terminal of pond: finding its command, giving it the streams, and its exit code. */
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { constants as system } from "node:os";
import { delimiter, join } from "node:path";
import { PondError } from "../../base/errors.ts";
import { shellLine } from "../../base/shell.ts";
import type { Environment } from "../../config/environment.ts";
import { handSignalsTo } from "./signals.ts";
import { withInheritedMask } from "./umask.ts";

/** The file that a command's name stands for; undefined where none of the folders of PATH has it. */
export function findCommand(name: string, { env, platform }: Environment): string | undefined {
  const endings = platform === "win32" ? (env["PATHEXT"] ?? ".EXE;.CMD").split(";") : [""];
  for (const folder of (env["PATH"] ?? "").split(delimiter))
    for (const ending of folder === "" ? [] : endings) {
      const path = join(folder, `${name}${ending}`);
      if (isExecutable(path)) return path;
    }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    // A folder of PATH that may not be entered has no command for this user.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface ClientStart {
  /** Commands, each word by word: the last is the client, those before it give it the session. */
  readonly steps: readonly (readonly string[])[];
  /** Where to start it; where pond was started when absent. */
  readonly directory?: string;
  readonly environment: Environment;
}

/** The exit code of the client. Throws where what comes before it fails. */
export async function startClient({ steps, directory, environment }: ClientStart): Promise<number> {
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    const code = await runStep(step, { directory, environment, isLast });
    if (isLast) return code;
    if (code !== 0)
      throw new PondError(
        "internal",
        `${shellLine(step)} ended with exit code ${code}, so the session cannot be resumed`,
        {
          hint: "its own message is above; run it yourself to see more",
        },
      );
  }
  return 0;
}

async function runStep(
  [name = "", ...args]: readonly string[],
  at: { readonly directory: string | undefined; readonly environment: Environment; readonly isLast: boolean },
): Promise<number> {
  const file = findCommand(name, at.environment) ?? name;
  // The answer is the client's: what is printed on the way to it is not.
  const stdio = at.isLast ? ("inherit" as const) : (["ignore", 2, 2] as const);
  const child = withInheritedMask(() =>
    spawn(file, args, {
      stdio: typeof stdio === "string" ? stdio : [...stdio],
      ...(at.directory === undefined ? {} : { cwd: at.directory }),
    }),
  );
  handSignalsTo(child);
  return new Promise((resolve, reject) => {
    child.on("error", (cause) =>
      reject(
        new PondError("internal", `${name} cannot be started: ${cause.message}`, {
          hint: `run it yourself: ${shellLine([name, ...args])}`,
          cause,
        }),
      ),
    );
    child.on("exit", (code, by) => resolve(code ?? 128 + (by === null ? 0 : system.signals[by])));
  });
}
