/** Where pi has a session of an id: in the folder of whichever directory, or in the root of a place that is one folder. */
import { join } from "node:path";
import { filesIn, foldersIn } from "../seam/discovery.ts";
import type { Place, PresentSession } from "../seam/index.ts";
import { EXTENSION, idInName, stemOf } from "./names.ts";

export async function present(id: string, { root }: Place): Promise<readonly PresentSession[]> {
  const found: PresentSession[] = [];
  for (const folder of [root, ...(await foldersIn(root))])
    for (const name of await filesIn(folder))
      if (name.endsWith(EXTENSION) && idInName(stemOf(name)) === id) found.push({ path: join(folder, name) });
  return found;
}
