/** Checks a value against its column, so that nothing is changed on the way in without a word. */
import { type Column, isNullable } from "../engine/spec.ts";

/** What is wrong with the value, or its size in bytes (text: at most three bytes a UTF-16 unit). */
export function sizeOrProblem(column: Column, value: unknown): number | string {
  if (value === null || value === undefined) return isNullable(column) ? 8 : "must not be null";
  switch (column.type) {
    case "utf8":
      return typeof value === "string" ? value.length * 3 + 4 : wrong(value);
    case "bool":
      return typeof value === "boolean" ? 1 : wrong(value);
    case "int32":
      // The engine would wrap 3e9 to a negative number.
      return typeof value === "number" && (value | 0) === value ? 4 : wrong(value);
    case "timestamp_us":
      return Number.isSafeInteger(value) ? 8 : wrong(value);
    case "int64":
      if (typeof value === "bigint") return BigInt.asIntN(64, value) === value ? 8 : wrong(value);
      return Number.isSafeInteger(value) ? 8 : wrong(value);
    case "binary":
    case "blob":
      return value instanceof Uint8Array ? value.length + 12 : wrong(value);
    case "float16_vector":
      if (!(value instanceof Float32Array) && !Array.isArray(value)) return wrong(value);
      return value.length === column.dim
        ? value.length * 2
        : `holds vectors of ${column.dim}, not of ${value.length}`;
  }
}

const wrong = (value: unknown): string => `cannot hold ${typeof value} ${String(value).slice(0, 40)}`;
