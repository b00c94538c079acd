/** Damaged files of a local store, as reports tell of them. */
import type { Damage, TableCheck } from "../sessions/index.ts";

export interface FileDamage {
  readonly table: string;
  /** Below the table's folder. */
  readonly file: string;
  readonly what: Damage["what"];
  /** What it holds: rows, which of them are deleted, an index, or the list of a version's files. */
  readonly holds: Damage["holds"];
  /** Only versions need it that are kept for a while beside the newest. */
  readonly is_old: boolean;
}

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
