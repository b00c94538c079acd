/** Where opencode's sessions are (docs/adapters/opencode.md#layout): its data folder, and the database that is named. */
import { basename, dirname, isAbsolute, join } from "node:path";
import { isFolder, stampFile } from "../seam/discovery.ts";
import type { AdapterEnv, Place } from "../seam/index.ts";
import { ADAPTER, DATABASE } from "./layout.ts";

export async function places({ env, home }: AdapterEnv): Promise<readonly Place[]> {
  const shared = env["XDG_DATA_HOME"];
  const data = shared === undefined || shared === "" ? join(home, ".local", "share") : shared;
  const root = join(data, ADAPTER);
  const found: Place[] = [];
  if (await isFolder(root)) found.push({ root, origin: data === shared ? "environment" : "default" });
  const named = env["OPENCODE_DB"];
  if (named === undefined || named === "" || named === ":memory:") return found;
  const database = isAbsolute(named) ? named : join(root, named);
  const isInside = dirname(database) === root && DATABASE.test(basename(database));
  if (!isInside && (await stampFile(database)) !== undefined)
    found.push({ root: dirname(database), files: [database], origin: "environment" });
  return found;
}
