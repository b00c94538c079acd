/** Answers in an order of merit: full text and vectors. Ranked on short columns, then the long ones of the rows that won. */
import { Rows } from "../arrow/rows.ts";
import type { Handle } from "../handle/handle.ts";
import type { AnyQuery, LanceTable } from "../engine/lance.ts";
import type { ColumnName, TableSpec } from "../engine/spec.ts";
import { collect } from "./collect.ts";
import { isLongIn, nearestQuery, type NearestOptions, searchQuery, type SearchOptions } from "./query.ts";
import { secondStep } from "./take.ts";

/** Full text, best first; `rows.score(i)`. Rows that no index covers yet are found too. */
export function search<S extends TableSpec>(handle: Handle<S>, options: SearchOptions<S>): Promise<Rows<S>> {
  return ranked(handle, options.select, (table, select) =>
    searchQuery(handle, table, { ...options, select }),
  );
}

/** Nearest vectors by cosine, nearest first; `rows.distance(i)`. Rows that no index covers yet are found too. */
export function nearest<S extends TableSpec>(
  handle: Handle<S>,
  options: NearestOptions<S>,
): Promise<Rows<S>> {
  return ranked(handle, options.select, (table, select) =>
    nearestQuery(handle, table, { ...options, select }),
  );
}

async function ranked<S extends TableSpec>(
  handle: Handle<S>,
  select: readonly ColumnName<S>[],
  build: (table: LanceTable, select: readonly ColumnName<S>[]) => AnyQuery,
): Promise<Rows<S>> {
  const short = select.filter((name) => !isLongIn(handle.spec, name));
  const buffers = await collect(handle, "search", (table) => build(table, short));
  const first = Rows.fromIpc<S>(handle.lance, buffers);
  return short.length === select.length ? first : secondStep(handle, first, select);
}
