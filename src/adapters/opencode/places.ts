/** Where opencode's sessions are (docs/adapters/opencode.md#layout): its data folder, and the database that is named. */
import { basename, dirname, isAbsolute, join } from "node:path";
import type { AdapterEnv, Place } from "../seam/index.ts";
import { ADAPTER, DATABASE } from "./layout.ts";

export function looks({ env, home }: AdapterEnv): readonly Place[] {
  const shared = env["XDG_DATA_HOME"];
  const data: Place =
    shared === undefined || shared === ""
      ? { root: join(home, ".local", "share", ADAPTER), origin: "default" }
      : { root: join(shared, ADAPTER), origin: "environment", variable: "XDG_DATA_HOME" };
  const named = env["OPENCODE_DB"];
  if (named === undefined || named === "" || named === ":memory:") return [data];
  const database = isAbsolute(named) ? named : join(data.root, named);
  // Found by its folder already.
  if (dirname(database) === data.root && DATABASE.test(basename(database))) return [data];
  const place = { root: dirname(database), files: [database], origin: "environment" as const };
  return [data, { ...place, variable: "OPENCODE_DB" }];
}
