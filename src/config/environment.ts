/**
 * The only reader of `process.env` (spec.md#config-environment). Everything else is given an Environment, so that
 * a test, or a second store in one process, can have its own. A door of this room of its own: it loads nothing.
 */
import { homedir } from "node:os";

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Where relative paths of the command line start. */
  readonly cwd: string;
}

/** The machine and the user that this process runs for. */
export function processEnvironment(): Environment {
  return { env: process.env, home: homedir(), platform: process.platform, cwd: workingFolder() };
}

/** Somebody may have deleted it: then what is named relative to it is not there, and everything else works. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env["PWD"] ?? homedir();
  }
}
