/** All that a unit of opencode holds, by names and counts: what verify holds a restore against (spec.md#keep-verify). */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../../../base/errors.ts";
import type { AdapterEnv, Inventory, Unit } from "../../kit/sources/index.ts";
import { SqliteFile } from "../../kit/database/index.ts";
import type { Found } from "../units.ts";
import { stemOf } from "../layout.ts";
import { SESSION_LOGS, SESSION_TABLES } from "./database.ts";
import type { Tree } from "../trees.ts";

/** The tables of today's client and those of the first one, each with a column that only it has. */
const TABLES: readonly (readonly [string, string])[] = [
  ["session", "id"],
  ["message", "session_id"],
  ["part", "message_id"],
  ...[...SESSION_TABLES, ...SESSION_LOGS].map((name) => [name, "session_id"] as const),
  ["sessions", "id"],
  ["messages", "session_id"],
  ["files", "session_id"],
];

export async function inventory(
  unit: Unit,
  { trees, databases }: Found,
  { scratch }: AdapterEnv,
): Promise<Inventory> {
  for (const { sessions, strays } of trees)
    for (const { key, info, project, messages, parts, side } of [...sessions.values(), ...strays.values()])
      if (key === unit.key)
        return {
          files: [info, project, ...messages, ...parts, ...side].flatMap((stamp) => stamp?.path ?? []),
          tables: [],
        };
  const database = databases.find(({ key }) => key === unit.key);
  if (database === undefined) return { files: unit.files.map(({ path }) => path), tables: [] };
  await using file = await SqliteFile.open(database.path, scratch);
  const tables = TABLES.filter(([name, column]) => file.columns(name).includes(column));
  return {
    files: diffsBeside(database.path, trees),
    tables: tables.map(([name]) => {
      const [row] = file.all(`SELECT count(*) AS rows FROM "${name}"`);
      return { name, rows: Number(row?.["rows"] ?? 0) };
    }),
  };
}

/** The diffs beside a database, but for those of sessions that only a tree has. */
function diffsBeside(database: string, trees: readonly Tree[]): readonly string[] {
  const folder = join(dirname(database), "storage", "session_diff");
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names
      .filter((name) => !trees.some(({ sessions }) => sessions.has(stemOf(name))))
      .map((name) => join(folder, name));
  } catch (error) {
    // A file where the folder would be holds none either.
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
