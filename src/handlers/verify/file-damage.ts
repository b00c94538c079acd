/** Damaged files of a local store, as reports tell of them. */
import type { TableCheck } from "../../sessions/repair/index.ts";
import { isDerivedTable } from "../../sessions/index.ts";
import type { FileDamage } from "../../wire/verify.ts";

export function damageIn(checks: readonly TableCheck[]): FileDamage[] {
  return checks.flatMap(({ damage }) =>
    damage.map(({ table, file, what, holds, isCurrent }) => ({
      table,
      file,
      what,
      holds,
      is_old: !isCurrent,
    })),
  );
}

/** One of them, as a sentence for people. */
export function describeDamage({ table, file, what, holds, is_old }: FileDamage): string {
  if (holds === "table") return `${table}.lance is gone with all its rows, or no list of its files is left`;
  const state = what === "wrong size" ? "has the wrong size" : `is ${what}`;
  const isDerived = holds === "rows" && isDerivedTable(table);
  return `${table}.lance/${file} ${state}; it contains ${HOLDS[holds](is_old)}${isDerived ? ", which can be computed again" : ""}`;
}

const HOLDS = {
  rows: (isOld: boolean) => (isOld ? "rows of an old version" : "rows"),
  deletions: (isOld: boolean) => `the list of deleted rows${isOld ? " of an old version" : ""}`,
  index: (isOld: boolean) => `an index${isOld ? " of an old version" : ""}, which can be rebuilt`,
  version: (isOld: boolean) => `the list of files of ${isOld ? "an old" : "a"} version`,
};
