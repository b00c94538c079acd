/** The folder of real session files, which is not part of the project: POND_SAMPLES, else what `unpack` prints. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const UNPACK = resolve(import.meta.dirname, "../../../shared/samples/unpack");

/** Where the samples' folder has another name than the adapter. */
const FOLDERS: Readonly<Record<string, string>> = { "codex-cli": "codex" };

/** The samples of one adapter, or undefined when there are none on this machine. */
export function samplesOf(adapter: string): string | undefined {
  const root = samplesRoot();
  const folder = root === undefined ? undefined : join(root, FOLDERS[adapter] ?? adapter);
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

/** What to say when there are none. */
export const NO_SAMPLES = "no samples: set POND_SAMPLES to their folder";

function samplesRoot(): string | undefined {
  const configured = process.env["POND_SAMPLES"];
  if (configured !== undefined && configured !== "") return configured;
  if (!existsSync(UNPACK)) return undefined;
  return execFileSync(UNPACK, { encoding: "utf8" }).trim();
}
