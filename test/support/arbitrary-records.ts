/**
 * Arbitrary records of any client for properties: as the client writes them, with fields missing, or with anything at
 * all in their place.
 */
import fc from "fast-check";
import type { JsonValue } from "../../src/base/json/json.ts";
import { parseJson, stringifyJson } from "../../src/base/json/json.ts";

/** JSON of any shape, exact numbers and odd keys included. */
export const anyJson: fc.Arbitrary<JsonValue> = fc
  .oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom(
      '{"__proto__":{"a":1}}',
      "12345678901234567890",
      "1e400",
      '"\\ud83d"',
      "-0",
      "[]",
      "{}",
      '""',
    ),
  )
  .map((text) => parseJson(text));

/** Any text, and often one that the client gives a meaning to. */
export function textLike(...meaningful: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...meaningful));
}

/** Before, at and after the start of the session of `emptyLog`, in forms that clients use, or no instant at all. */
export const instant: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom(
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123456Z",
    "2026-01-31T23:59:59.999Z",
    "2025-01-01T00:00:00.123456Z",
    "never",
  ),
  anyJson,
);

/** Each field is as the client writes it, absent, or anything at all. */
export function shape(fields: Readonly<Record<string, fc.Arbitrary<JsonValue>>>): fc.Arbitrary<JsonValue> {
  const loose = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: anyJson }),
    ]),
  );
  return fc.record({ ...loose, extra: anyJson }, { requiredKeys: [] }) as fc.Arbitrary<JsonValue>;
}

/** Records one after another, as values that were read. */
export function logOf(
  record: fc.Arbitrary<JsonValue>,
  length: fc.ArrayConstraints,
): fc.Arbitrary<readonly JsonValue[]> {
  return fc.array(record, length).map((records) => records.map((value) => parseJson(stringifyJson(value))));
}
