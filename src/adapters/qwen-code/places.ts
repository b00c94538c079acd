/** Finds Qwen Code's sessions: every log below the place, each only stat-ed. */
import { join } from "node:path";
import { folderInVariable, unitsPerFile } from "../kit/sources/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../kit/sources/index.ts";
import { ADAPTER, EXTENSION } from "./layout.ts";

/** In the client's order: the first variable that is set names the folder. */
const VARIABLES = ["QWEN_RUNTIME_DIR", "QWEN_HOME"];

export function defaultPlaces(machine: AdapterEnv): readonly Place[] {
  for (const variable of VARIABLES) {
    const folder = folderInVariable(machine, variable);
    if (folder !== undefined) return [{ path: join(folder, "projects"), origin: "environment", variable }];
  }
  return [{ path: join(machine.home, ".qwen", "projects"), origin: "default" }];
}

export const units = (place: Place, signal?: AbortSignal): AsyncIterable<readonly (Unit | Issue)[]> =>
  unitsPerFile(place, { adapter: ADAPTER, accepts: (name) => name.endsWith(EXTENSION), signal });
