import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonValue } from "../../../test/support/arbitrary-events.ts";
import type { JsonValue } from "../../base/json.ts";
import { parseJson, stringifyJson } from "../../base/json.ts";
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
      const { fill } = new RecordIndex(whole).hollow(value);
      expect(fill(parseJson(printed))).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test("a long text is left out, whole or as a stretch; a short one stays", () => {
  const values = new RecordIndex({ said: `<mark>${LONG}</mark>`, id: "m1" });
  expect(values.hollow({ id: "m1", options: {} }).isHollow).toBe(false);
  const { isHollow, fill } = values.hollow({ id: "m1", text: LONG });
  expect(isHollow).toBe(true);
  const other = `<mark>${LONG.toUpperCase()}</mark>`;
  expect(fill({ said: other })).toEqual({ id: "m1", text: LONG.toUpperCase() });
});

test("a record without what was left out fills nothing", () => {
  const { fill } = new RecordIndex({ deep: [{ said: LONG }] }).hollow({ text: LONG });
  for (const other of [null, {}, { deep: [] }, { deep: "text" }, { deep: { 0: {} } }])
    expect(fill(other)).toBeUndefined();
});

test("a file as it is comes back as its bytes", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const { isHollow, fill } = new RecordIndex(bytes).hollow({ data: { kind: "bytes", value: bytes } });
  expect(isHollow).toBe(true);
  expect(fill(new Uint8Array([4]))).toEqual({ data: { kind: "bytes", value: new Uint8Array([4]) } });
});
