/** Finds pi's sessions: every log below the root, each only stat-ed. */
import { join } from "node:path";
import { batchesOf, issuesOf, keysBelow, walk } from "../seam/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../seam/index.ts";
import { ADAPTER, EXTENSION } from "./names.ts";

/** What extensions leave beside the sessions: streams of events, no sessions (docs/adapters/pi.md#not-ingested). */
const ARTIFACTS = "subagent-artifacts";

/** `PI_CODING_AGENT_DIR` replaces the default folder, `PI_CODING_AGENT_SESSION_DIR` is one more for sessions. */
export function looks(machine: AdapterEnv): readonly Place[] {
  const agent = expand(machine.env["PI_CODING_AGENT_DIR"], machine.home);
  const sessions = expand(machine.env["PI_CODING_AGENT_SESSION_DIR"], machine.home);
  return [
    agent === undefined
      ? { root: join(machine.home, ".pi", "agent", "sessions"), origin: "default" }
      : { root: join(agent, "sessions"), origin: "environment", variable: "PI_CODING_AGENT_DIR" },
    ...(sessions === undefined
      ? []
      : [{ root: sessions, origin: "environment" as const, variable: "PI_CODING_AGENT_SESSION_DIR" }]),
  ];
}

export async function* units(place: Place, signal?: AbortSignal): AsyncGenerator<readonly (Unit | Issue)[]> {
  const walked = await walk(place.root, {
    accepts: (name) => name.endsWith(EXTENSION),
    enters: (name) => name !== ARTIFACTS,
    signal,
  });
  yield issuesOf(walked.faults, ADAPTER);
  const keyOf = keysBelow(place.root);
  yield* batchesOf(walked.files.map((stamp): Unit => ({ key: keyOf(stamp.path), files: [stamp] })));
}

/** As the client reads such a setting. */
function expand(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined;
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}
