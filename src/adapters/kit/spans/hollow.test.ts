import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonValue } from "../../../../test/support/arbitrary-events.ts";
import type { JsonValue } from "../../../base/json/json.ts";
import { parseJson, stringifyJson } from "../../../base/json/json.ts";
import { RecordIndex } from "./hollow.ts";

const LONG = "a text that is far too long to be kept for every record of a log, so it is left out";

test("what was made of a record is made again from the same bytes", () => {
  const derived = fc.record({ record: jsonValue, added: jsonValue, short: fc.string({ maxLength: 5 }) });
  fc.assert(
    fc.property(derived, fc.nat(60), ({ record, added, short }, cut) => {
      const text = stringifyJson(record);
      const whole: JsonValue = { record, text, list: [record, added, { __proto: added }] };
      // As an adapter does: some values as they are, some in new objects, some stretches, some of its own.
      const value = {
        a: whole,
        b: [record, { again: record }],
        c: text.slice(cut),
        d: `${short}${text}`,
        e: Object.defineProperty({}, "__proto__", { value: added, enumerable: true }),
      };
      const printed = stringifyJson(whole);
      const hollow = new RecordIndex(whole).hollow(value);
      expect(hollow.fillFrom(parseJson(printed))).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test("a value of any depth that is not the record's own is kept as it is", () => {
  let deep: JsonValue = LONG;
  for (let level = 0; level < 10_000; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
  const record = { said: LONG };
  const filled = new RecordIndex(record).hollow({ params: deep, text: LONG }).fillFrom(record);
  expect(stringifyJson(filled?.params ?? null)).toBe(stringifyJson(deep));
  expect(filled?.text).toBe(LONG);
});

test("a long text is left out, whole or as a stretch; a short one stays", () => {
  const values = new RecordIndex({ said: `<mark>${LONG}</mark>`, id: "m1" });
  expect(values.hollow({ id: "m1", options: {} }).isHollow).toBe(false);
  const hollow = values.hollow({ id: "m1", text: LONG });
  expect(hollow.isHollow).toBe(true);
  const other = `<mark>${LONG.toUpperCase()}</mark>`;
  expect(hollow.fillFrom({ said: other })).toEqual({ id: "m1", text: LONG.toUpperCase() });
});

test("what is left of an object when fields were taken out of it is left out too", () => {
  const record = { type: "user", cwd: "/srv", message: { role: "user", a: 1, b: 2, c: 3 }, n: -0 };
  const { type: _, message, ...rest } = record;
  const { role: __, ...inner } = message;
  const hollow = new RecordIndex(record).hollow({ rest: { ...rest, type: "user" }, inner });
  expect(hollow.isHollow).toBe(true);
  const other = { ...record, cwd: "/other", message: { ...message, a: 7 } };
  // What came back in another order, or with a field of its own, is kept as it is.
  expect(hollow.fillFrom(other)).toEqual({
    rest: { cwd: "/srv", n: -0, type: "user" },
    inner: { a: 7, b: 2, c: 3 },
  });
});

test("a record without what was left out fills nothing", () => {
  const hollow = new RecordIndex({ deep: [{ said: LONG }] }).hollow({ text: LONG });
  for (const other of [null, {}, { deep: [] }, { deep: "text" }, { deep: { 0: {} } }])
    expect(hollow.fillFrom(other)).toBeUndefined();
});

test("a file as it is comes back as its bytes", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const hollow = new RecordIndex(bytes).hollow({ data: { kind: "bytes", value: bytes } });
  expect(hollow.isHollow).toBe(true);
  expect(hollow.fillFrom(new Uint8Array([4]))).toEqual({
    data: { kind: "bytes", value: new Uint8Array([4]) },
  });
});
