/** Where pi has a session of an id: in the folder of whichever directory, or in a place that is one folder. */
import { join } from "node:path";
import { filesIn, foldersIn } from "../../kit/sources/discovery.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";
import { EXTENSION, idInName, stemOf } from "../layout.ts";

export async function present(id: string, { path: place }: Place): Promise<readonly PresentSession[]> {
  const found: PresentSession[] = [];
  for (const folder of [place, ...(await foldersIn(place))])
    for (const name of await filesIn(folder))
      if (name.endsWith(EXTENSION) && idInName(stemOf(name)) === id) found.push({ path: join(folder, name) });
  return found;
}
