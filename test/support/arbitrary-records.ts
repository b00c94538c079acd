/**
 * Arbitrary records of any client for properties: as the client writes them, with fields missing, or with anything at
 * all in their place; and the check that they come back equal from events that are all valid.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { RawLine } from "../../src/adapters/seam/index.ts";
import { extractFromPath, SessionLog } from "../../src/adapters/seam/index.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { firstDifference, parseJson, stringifyJson } from "../../src/base/json.ts";
import type { Event } from "../../src/model/index.ts";
import { EventValidator, parseTimestamp, sessionId } from "../../src/model/index.ts";

/** The session of `emptyLog`, and when it was made. */
export const SESSION = sessionId("s");
export const CREATED_AT = parseTimestamp("2026-01-01T00:00:00.000Z")!;

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

/** Before, at and after `CREATED_AT`, in forms that clients use, or no instant at all. */
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

/** A session without records yet. */
export function emptyLog(adapter: string, options: JsonObject = {}): SessionLog {
  const session = {
    id: SESSION,
    source_agent: adapter,
    created_at: CREATED_AT,
    project: extractFromPath("/w"),
    options,
  };
  return new SessionLog(session, { adapter, path: "f" });
}

/** What the log tells, which must be valid. */
export function validEvents(log: SessionLog): Event[] {
  const events = log
    .drain()
    .filter((item) => item.kind === "session" || item.kind === "message" || item.kind === "part");
  const validator = new EventValidator();
  expect(events.flatMap((event) => validator.check(event) ?? [])).toEqual([]);
  return events;
}

export function expectEqualRecords(
  restored: readonly (JsonValue | RawLine)[],
  records: readonly JsonValue[],
): void {
  expect(restored.length).toBe(records.length);
  for (const [index, value] of records.entries()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- lines that are not JSON are never generated
    const difference = firstDifference(value, restored[index] as JsonValue);
    expect([index, difference]).toEqual([index, undefined]);
  }
}
