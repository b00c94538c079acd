/** Where opencode's sessions are (docs/adapters/opencode.md#layout): its data folder, and the database that is named. */
import { basename, dirname, isAbsolute, join } from "node:path";
import type { AdapterEnv, Place } from "../kit/sources/index.ts";
import { ADAPTER, DATABASE } from "./layout.ts";

export function defaultPlaces({ env, home }: AdapterEnv): readonly Place[] {
  const shared = env["XDG_DATA_HOME"];
  const data: Place =
    shared === undefined || shared === ""
      ? { path: join(home, ".local", "share", ADAPTER), origin: "default" }
      : { path: join(shared, ADAPTER), origin: "environment", variable: "XDG_DATA_HOME" };
  const named = env["OPENCODE_DB"];
  if (named === undefined || named === "" || named === ":memory:") return [data];
  const database = isAbsolute(named) ? named : join(data.path, named);
  // Found by its folder already.
  if (dirname(database) === data.path && DATABASE.test(basename(database))) return [data];
  const place = { path: dirname(database), files: [database], origin: "environment" as const };
  return [data, { ...place, variable: "OPENCODE_DB" }];
}
