/** Where Codex has a session of an id: among the sessions of whichever day, or among those that were archived. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { argumentWords } from "../../../base/shell.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";
import { parseRolloutName, plainName, sessionIdOf } from "../layout.ts";

export async function present(id: string, { path: home }: Place): Promise<readonly PresentSession[]> {
  const live = await rolloutsIn(join(home, "sessions"), id);
  const archived = await rolloutsIn(join(home, "archived_sessions"), id);
  // It resumes no archived one (tried with 0.166.0 and 0.169.0).
  const getBack = ["codex", "unarchive", ...argumentWords(id)];
  return [...live.map((path) => ({ path })), ...archived.map((path) => ({ path, getBack }))];
}

async function rolloutsIn(folder: string, id: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const found = names.filter((path) => {
    const name = parseRolloutName(basename(plainName(path)));
    return name !== undefined && sessionIdOf(name) === id;
  });
  return found.map((path) => join(folder, path));
}
