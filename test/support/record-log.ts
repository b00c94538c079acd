/** A session of records in memory, and the check that they come back equal from events that are all valid. */
import { expect } from "vitest";
import type { RawLine } from "../../src/adapters/kit/files/index.ts";
import { extractFromPath } from "../../src/adapters/kit/extract/index.ts";
import { SessionLog } from "../../src/adapters/kit/session/index.ts";
import type { JsonObject, JsonValue } from "../../src/base/json/json.ts";
import { firstDifference } from "../../src/base/json/json.ts";
import type { Event } from "../../src/model/index.ts";
import { EventValidator } from "../../src/model/events/index.ts";
import { parseTimestamp, sessionId } from "../../src/model/index.ts";

/** Not known to the compiler, as what a reader finds is not. */
const FOLDER: string = "/w";

/** The session of `emptyLog`, and when it was made. */
export const SESSION = sessionId("s");
export const CREATED_AT = parseTimestamp("2026-01-01T00:00:00.000Z")!;

/** A session without records yet. */
export function emptyLog(adapter: string, options: JsonObject = {}): SessionLog {
  const session = {
    id: SESSION,
    source_agent: adapter,
    created_at: CREATED_AT,
    project: extractFromPath(FOLDER),
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
