/**
 * Filters as values: the only way to say "which rows". Values never meet SQL text except through `literal`,
 * column names only through the table's declaration (spec.md#search-prefilter-pushdown). A predicate has the columns that
 * it names in its type, so that one that a table lacks, or compares with something else, does not compile.
 */
import { PondError } from "../../base/errors.ts";
import type { Column, ColumnType, Comparable, ComparedPair, TableSpec } from "./spec.ts";

type PredicateValue = string | number | bigint | boolean;
type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** A predicate as it is rendered. Inside the substrate, where column names are data, it is used without checked columns. */
export type Condition =
  | {
      readonly kind: "compare";
      readonly column: string;
      readonly op: Comparison;
      readonly value: PredicateValue;
    }
  | { readonly kind: "in"; readonly column: string; readonly values: readonly PredicateValue[] }
  | {
      readonly kind: "text";
      readonly column: string;
      readonly op: "starts_with" | "contains";
      readonly value: string;
    }
  | {
      readonly kind: "matches";
      readonly column: string;
      readonly pattern: string;
      readonly ignoreCase: boolean;
    }
  | { readonly kind: "null"; readonly column: string }
  | { readonly kind: "created_after"; readonly version: number }
  | { readonly kind: "rows"; readonly rows: readonly bigint[] }
  | { readonly kind: "row_ids"; readonly from: bigint; readonly to: bigint | undefined }
  | { readonly kind: "in_fragment"; readonly fragment: number; readonly from: number; readonly to: number }
  | { readonly kind: "all" | "any"; readonly of: readonly Condition[] }
  | { readonly kind: "not"; readonly of: Condition };

declare const compared: unique symbol;
/** A condition with what it compares in its type: which columns with which values. */
type Comparing<C> = Condition & { readonly [compared]?: C };
type ComparedBy<P extends Condition> = P extends Comparing<infer C> ? C : never;

/** A condition on one column, for any table that has it. */
export type ColumnPredicate<K extends string, V> = Comparing<ComparedPair<K, V>>;

/** A condition on the rows of one table. */
export type Predicate<S extends TableSpec> = Comparing<Comparable<S>>;

/** Longest list of one `isIn`. Longer ones are split by the caller, as `Table.scanIn` and `knownKeys` do. */
export const MAX_IN_VALUES = 1000;

const compare =
  (op: Comparison) =>
  <K extends string, V extends PredicateValue>(column: K, value: V): ColumnPredicate<K, V> => ({
    kind: "compare",
    column,
    op,
    value,
  });

/** Timestamps are compared as whole microseconds. */
export const eq = compare("=");
export const ne = compare("!=");
export const lt = compare("<");
export const le = compare("<=");
export const gt = compare(">");
export const ge = compare(">=");

/** At most MAX_IN_VALUES values; none is never true. */
export const isIn = <K extends string, V extends PredicateValue>(
  column: K,
  values: readonly V[],
): ColumnPredicate<K, V> => ({ kind: "in", column, values });

/** Plain text, nothing in it is special; answered by a btree. */
export const startsWith = <K extends string>(column: K, value: string): ColumnPredicate<K, string> => ({
  kind: "text",
  column,
  op: "starts_with",
  value,
});

/** Plain text, nothing in it is special; a scan of what the other filters leave. */
export const contains = <K extends string>(column: K, value: string): ColumnPredicate<K, string> => ({
  kind: "text",
  column,
  op: "contains",
  value,
});

/** A regular expression in the engine's syntax (Rust `regex`); a scan of what the other filters leave. */
export const matches = <K extends string>(
  column: K,
  pattern: string,
  options: { readonly ignoreCase?: boolean } = {},
): ColumnPredicate<K, string> => ({
  kind: "matches",
  column,
  pattern,
  ignoreCase: options.ignoreCase ?? false,
});

export const isNull = <K extends string>(column: K): ColumnPredicate<K, never> => ({
  kind: "null",
  column,
});

/** All hold; none given is always true. */
export const and = <const P extends readonly Condition[]>(...of: P): Comparing<ComparedBy<P[number]>> => ({
  kind: "all",
  of,
});
/** One holds; none given is never true. */
export const or = <const P extends readonly Condition[]>(...of: P): Comparing<ComparedBy<P[number]>> => ({
  kind: "any",
  of,
});
export const not = <C>(of: Comparing<C>): Comparing<C> => ({ kind: "not", of });

/** Rows that were committed after this table version: a change feed that survives compaction. */
export const createdAfter = (version: number): Comparing<never> => ({ kind: "created_after", version });

/**
 * Rows by their stable ids, from the first to before the last: an order in which they were committed. Each commit gives ids
 * above all that were given before, and nothing changes the id of a row.
 */
export const rowIdsIn = (from: bigint, to?: bigint): Comparing<never> => ({ kind: "row_ids", from, to });

/** Rows of one fragment by their places in it, from the first to before the last; reads no other fragment. */
export const inFragment = (fragment: number, from: number, to: number): Comparing<never> => ({
  kind: "in_fragment",
  fragment,
  from,
  to,
});

/** Rows by the engine's ids; 1,000 take it some 16 ms, and each more a little longer. */
export const rowIn = (rows: readonly bigint[]): Comparing<never> => ({ kind: "rows", rows });

/** The filter text for the engine. Throws `internal` on a column that the table does not declare. */
export function renderPredicate(predicate: Condition, spec: TableSpec): string {
  switch (predicate.kind) {
    case "compare": {
      const column = columnOf(spec, predicate.column);
      if (isUnstorable(predicate.value, predicate.column, spec))
        return predicate.op === "!=" ? "true" : "false";
      return `${predicate.column} ${predicate.op} ${literal(predicate.value, column, predicate.column)}`;
    }
    case "rows":
      return predicate.rows.length === 0 ? "false" : `_rowid IN (${predicate.rows.join(", ")})`;
    case "row_ids": {
      const end = predicate.to === undefined ? "" : ` AND _rowid < ${predicate.to}`;
      return `_rowid >= ${predicate.from}${end}`;
    }
    case "in_fragment": {
      const first = BigInt(predicate.fragment) << 32n;
      return `_rowaddr >= ${first + BigInt(predicate.from)} AND _rowaddr < ${first + BigInt(predicate.to)}`;
    }
    case "in":
      return renderIn(predicate.column, predicate.values, spec);
    case "text":
      if (columnOf(spec, predicate.column).type !== "utf8") throw misfit(predicate.column, predicate.value);
      return `${predicate.op}(${predicate.column}, ${quote(predicate.value)})`;
    case "matches":
      if (columnOf(spec, predicate.column).type !== "utf8") throw misfit(predicate.column, predicate.pattern);
      return `regexp_like(${predicate.column}, ${quote(predicate.ignoreCase ? `(?i)${predicate.pattern}` : predicate.pattern)})`;
    case "null":
      columnOf(spec, predicate.column);
      return `${predicate.column} IS NULL`;
    case "created_after":
      return `_row_created_at_version > ${integer(predicate.version, "version")}`;
    case "all":
      return joined(predicate.of, { word: " AND ", none: "true", spec });
    case "any":
      return joined(predicate.of, { word: " OR ", none: "false", spec });
    case "not":
      return `NOT (${renderPredicate(predicate.of, spec)})`;
  }
}

/** A pattern on its own: the engine reads it before it looks at any row. */
export const renderAccepts = (pattern: string): string => `regexp_like('', ${quote(pattern)})`;

/** Where a pattern first matches, as a value of the engine: characters from 1 on, 0 where it does not. */
export function renderMatchPosition(name: string, pattern: string, spec: TableSpec): string {
  if (columnOf(spec, name).type !== "utf8") throw misfit(name, pattern);
  return `regexp_instr(${name}, ${quote(pattern)})`;
}

/**
 * How many characters that match has; null where it cannot be told. The engine gives groups where a pattern has any, so all of
 * it is made the first one. A comment at the end of a verbose pattern must not reach what closes the group.
 */
export function renderMatchLength(name: string, pattern: string, spec: TableSpec): string {
  if (columnOf(spec, name).type !== "utf8") throw misfit(name, pattern);
  const end = pattern.includes("#") && /\(\?[a-zA-Z]*x/.test(pattern) ? "\n" : "";
  return `character_length(regexp_match(${name}, ${quote(`(${pattern}${end})`)})[1])`;
}

function renderIn(name: string, values: readonly PredicateValue[], spec: TableSpec): string {
  const column = columnOf(spec, name);
  if (values.length > MAX_IN_VALUES)
    throw new PondError(
      "internal",
      `a list of ${values.length} values for ${name}; split it at ${MAX_IN_VALUES}`,
      { reason: "limit" },
    );
  const storable = values.filter((value) => !isUnstorable(value, name, spec));
  if (storable.length === 0) return "false";
  return `${name} IN (${storable.map((value) => literal(value, column, name)).join(", ")})`;
}

function joined(
  of: readonly Condition[],
  how: { readonly word: string; readonly none: string; readonly spec: TableSpec },
): string {
  if (of.length === 0) return how.none;
  return of.map((each) => `(${renderPredicate(each, how.spec)})`).join(how.word);
}

/**
 * A key column never holds ill-formed text, so nothing there equals it. Elsewhere text is stored with
 * U+FFFD.
 */
function isUnstorable(value: PredicateValue, column: string, spec: TableSpec): boolean {
  return typeof value === "string" && spec.primaryKey.includes(column) && !value.isWellFormed();
}

function columnOf(spec: TableSpec, name: string): Column {
  const column = Object.hasOwn(spec.columns, name) ? spec.columns[name] : undefined;
  if (column === undefined)
    throw new PondError("internal", `table ${spec.name} has no column ${JSON.stringify(name)}`);
  return column;
}

/** Literals per column type; a value of another type is a mistake of the caller, not a coercion. */
function literal(value: PredicateValue, column: Column, name: string): string {
  const render = LITERALS[column.type];
  const text = render?.(value, name);
  if (text === undefined) throw misfit(name, value);
  return text;
}

const LITERALS: Readonly<
  Partial<Record<ColumnType, (value: PredicateValue, name: string) => string | undefined>>
> = {
  utf8: (value) => (typeof value === "string" ? quote(value) : undefined),
  bool: (value) => (typeof value === "boolean" ? String(value) : undefined),
  int32: (value, name) => (typeof value === "number" ? integer(value, name) : undefined),
  int64: (value, name) =>
    typeof value === "bigint" ? String(value) : typeof value === "number" ? integer(value, name) : undefined,
  timestamp_us: (value, name) => (typeof value === "number" ? instant(value, name) : undefined),
};

/** The only quoting: SQL text knows one special character. A lone surrogate is compared as it is stored. */
const quote = (text: string): string => `'${text.toWellFormed().replaceAll("'", "''")}'`;

function integer(value: number, name: string): string {
  if (!Number.isSafeInteger(value)) throw misfit(name, value);
  return String(value);
}

/** RFC 3339 with six digits: exact, and turned into a constant that the btree is asked for. */
function instant(micros: number, name: string): string {
  if (!Number.isSafeInteger(micros)) throw misfit(name, micros);
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  const seconds = new Date((micros - fraction) / 1000).toISOString().slice(0, 19);
  return `timestamp '${seconds}.${String(fraction).padStart(6, "0")}Z'`;
}

const misfit = (name: string, value: PredicateValue): PondError =>
  new PondError(
    "internal",
    `column ${name} cannot be compared with ${typeof value} ${String(value).slice(0, 40)}`,
  );
