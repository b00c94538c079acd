/** Are restored rows equal, by value, to those of the database they came from, and are they all of them? */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { firstDifference, stringifyJson, tryParseJson } from "../../../base/json/json.ts";
import type { RestoredRow, RestoredRows, RestoredTable } from "./restore.ts";
import type { SqliteFile } from "../database/sqlite.ts";

/** How two rows differ; a side without a value has nothing there. */
export interface RowDifference {
  readonly record: number;
  readonly pointer: string;
  readonly left?: JsonValue;
  readonly right?: JsonValue;
}

export interface RowsComparison {
  readonly records: number;
  readonly equal: number;
  readonly difference?: RowDifference;
  /** How many of the rows that were compared are of which table. */
  readonly counts: ReadonlyMap<string, number>;
}

export function compareRows(database: SqliteFile, { tables }: RestoredRows): RowsComparison {
  const counts = new Map<string, number>();
  let records = 0;
  let equal = 0;
  let difference: RowDifference | undefined;
  for (const table of tables) {
    const restored = new Map(table.rows.map((row) => [nameOf(row.columns, table), row]));
    for (const row of database.iterate(`SELECT * FROM "${table.name}" WHERE ${table.where}`, table.value)) {
      const source = database.exact(table.name, row, table.key[0] ?? "id");
      const name = nameOf(source, table);
      const found = differenceOf(source, restored.get(name), { table: table.name, name, record: records });
      restored.delete(name);
      if (found === undefined) equal += 1;
      else difference ??= found;
      records += 1;
      counts.set(table.name, (counts.get(table.name) ?? 0) + 1);
    }
    const [extra] = restored.values();
    if (extra !== undefined)
      difference ??= { record: records, pointer: `/${table.name}`, right: extra.columns };
  }
  return { records, equal, counts, ...(difference === undefined ? {} : { difference }) };
}

function nameOf(columns: JsonObject, { key }: RestoredTable): string {
  return stringifyJson(key.map((column) => columns[column] ?? null));
}

interface At {
  readonly table: string;
  readonly name: string;
  readonly record: number;
}

function differenceOf(
  source: JsonObject,
  restored: RestoredRow | undefined,
  at: At,
): RowDifference | undefined {
  const pointer = `/${at.table}/${at.name}`;
  if (restored === undefined) return { record: at.record, pointer, left: source };
  const parsed: Record<string, JsonValue> = { ...source };
  for (const column of Object.keys(restored.json)) {
    const text = source[column];
    const value = typeof text === "string" ? tryParseJson(text) : undefined;
    if (value?.kind === "value") parsed[column] = value.value;
  }
  const found = firstDifference(parsed, { ...restored.columns, ...restored.json });
  if (found === undefined) return undefined;
  const { path, left, right } = found;
  return {
    record: at.record,
    pointer: pointer + path,
    ...(left === undefined ? {} : { left }),
    ...(right === undefined ? {} : { right }),
  };
}
