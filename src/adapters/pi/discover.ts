/** Finds pi's sessions: every log below the root, each only stat-ed. */
import { join } from "node:path";
import { isFolder, keysBelow, walk } from "../seam/discovery.ts";
import type { AdapterEnv, Issue, Place, Unit } from "../seam/index.ts";
import { ADAPTER, EXTENSION, idInName, stemOf } from "./names.ts";

const BATCH = 512;

/** What extensions leave beside the sessions: streams of events, no sessions (docs/adapters/pi.md#not-ingested). */
const ARTIFACTS = "subagent-artifacts";

/** `PI_CODING_AGENT_DIR` replaces the default folder, `PI_CODING_AGENT_SESSION_DIR` is one more for sessions. */
export async function places(machine: AdapterEnv): Promise<readonly Place[]> {
  const agent = expand(machine.env["PI_CODING_AGENT_DIR"], machine.home);
  const sessions = expand(machine.env["PI_CODING_AGENT_SESSION_DIR"], machine.home);
  const wanted: Place[] = [
    agent === undefined
      ? { root: join(machine.home, ".pi", "agent", "sessions"), origin: "default" }
      : { root: join(agent, "sessions"), origin: "environment" },
    ...(sessions === undefined ? [] : [{ root: sessions, origin: "environment" as const }]),
  ];
  const found: Place[] = [];
  for (const place of wanted) {
    const isListed = found.some(({ root }) => root === place.root);
    if (!isListed && (await isFolder(place.root))) found.push(place);
  }
  return found;
}

export async function* units(place: Place, signal?: AbortSignal): AsyncGenerator<readonly (Unit | Issue)[]> {
  const walked = await walk(place.root, {
    accepts: (name) => name.endsWith(EXTENSION),
    enters: (name) => name !== ARTIFACTS,
    signal,
  });
  const issues = walked.faults.map(({ path, message }): Issue => ({
    kind: "unreadable",
    adapter: ADAPTER,
    path,
    message,
  }));
  if (issues.length > 0) yield issues;
  const keyOf = keysBelow(place.root);
  const claimed = new Set<string>();
  let batch: Unit[] = [];
  for (const stamp of walked.files) {
    const id = idInName(stemOf(stamp.path));
    // The first file with a session's name has its id, everyone else is a copy.
    const isCopy = id !== undefined && claimed.has(id);
    if (id !== undefined) claimed.add(id);
    batch.push({
      key: keyOf(stamp.path),
      files: [stamp],
      ...(isCopy ? { found: { copy: true } } : {}),
    });
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** As the client reads such a setting. */
function expand(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined;
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}
