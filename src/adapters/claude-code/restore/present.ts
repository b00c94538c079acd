/** Where Claude Code has a session of an id: in the folder of whichever project. */
import { filesInFolders } from "../../kit/sources/discovery.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";

export async function present(id: string, place: Place): Promise<readonly PresentSession[]> {
  // A subagent has no log of its own that the client opens.
  return id.includes("/") ? [] : filesInFolders(place, `${id}.jsonl`);
}
