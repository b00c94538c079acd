/** Finds pi's sessions: every log below the place, each only stat-ed. */
import { join } from "node:path";
import { folderInVariable, unitsPerFile } from "../kit/sources/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../kit/sources/index.ts";
import { ADAPTER, EXTENSION } from "./layout.ts";

/** What extensions leave beside the sessions: streams of events, no sessions (docs/adapters/pi.md#not-ingested). */
const ARTIFACTS = "subagent-artifacts";

/** `PI_CODING_AGENT_DIR` replaces the default folder, `PI_CODING_AGENT_SESSION_DIR` is one more for sessions. */
export function defaultPlaces(machine: AdapterEnv): readonly Place[] {
  const agent = folderInVariable(machine, "PI_CODING_AGENT_DIR");
  const sessions = folderInVariable(machine, "PI_CODING_AGENT_SESSION_DIR");
  return [
    agent === undefined
      ? { path: join(machine.home, ".pi", "agent", "sessions"), origin: "default" }
      : { path: join(agent, "sessions"), origin: "environment", variable: "PI_CODING_AGENT_DIR" },
    ...(sessions === undefined
      ? []
      : [{ path: sessions, origin: "environment" as const, variable: "PI_CODING_AGENT_SESSION_DIR" }]),
  ];
}

export const units = (place: Place, signal?: AbortSignal): AsyncIterable<readonly (Unit | Issue)[]> =>
  unitsPerFile(place, {
    adapter: ADAPTER,
    accepts: (name) => name.endsWith(EXTENSION),
    enters: (name) => name !== ARTIFACTS,
    signal,
  });
