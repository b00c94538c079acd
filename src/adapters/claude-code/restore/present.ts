/** Where Claude Code has a session of an id: in the folder of whichever project. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { foldersIn } from "../../kit/sources/discovery.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";

export async function present(id: string, { path: place }: Place): Promise<readonly PresentSession[]> {
  // A subagent has no log of its own that the client opens.
  if (id.includes("/")) return [];
  const paths = (await foldersIn(place)).map((folder) => join(folder, `${id}.jsonl`));
  return paths.filter((path) => existsSync(path)).map((path) => ({ path }));
}
