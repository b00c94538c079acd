import { describe, expect, test } from "vitest";
import { formatTimestamp, timestampFromMicros } from "../../model/index.ts";
import { spanOf } from "./dates.ts";

const shown = (micros: number | undefined): string | undefined =>
  micros === undefined ? undefined : formatTimestamp(timestampFromMicros(micros)!).replace(".000Z", "Z");

describe("a day is the whole day of its zone", () => {
  const cases: readonly [string, string | undefined, string, [string, string]][] = [
    ["UTC where none is named", undefined, "2026-05-01", ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]],
    ["east", "Europe/Berlin", "2026-05-01", ["2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"]],
    ["west", "America/New_York", "2026-01-15", ["2026-01-15T05:00:00Z", "2026-01-16T05:00:00Z"]],
    [
      "an offset of half an hour",
      "Asia/Kolkata",
      "2026-05-01",
      ["2026-04-30T18:30:00Z", "2026-05-01T18:30:00Z"],
    ],
    ["an offset alone", "-03:00", "2026-05-01", ["2026-05-01T03:00:00Z", "2026-05-02T03:00:00Z"]],
    ["23 hours in spring", "Europe/Berlin", "2026-03-29", ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]],
    ["25 hours in autumn", "Europe/Berlin", "2026-10-25", ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"]],
    [
      "without a midnight",
      "America/Sao_Paulo",
      "2018-11-04",
      ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
    ],
    ["with two midnights", "America/Havana", "2026-11-01", ["2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"]],
    [
      "beyond the date line",
      "Pacific/Kiritimati",
      "2026-05-01",
      ["2026-04-30T10:00:00Z", "2026-05-01T10:00:00Z"],
    ],
  ];
  test.each(cases)("%s", (_, time_zone, day, expected) => {
    const { from, until } = spanOf({
      from_date: day,
      to_date: day,
      ...(time_zone === undefined ? {} : { time_zone }),
    });
    expect([shown(from), shown(until)]).toEqual(expected);
  });
});

test("an instant has its own zone, whatever the request names", () => {
  const { from, until } = spanOf({
    from_date: "2026-05-01T10:00:00+02:00",
    to_date: "2026-05-01T10:00:00Z",
    time_zone: "Asia/Tokyo",
  });
  expect([shown(from), until]).toEqual([
    "2026-05-01T08:00:00Z",
    Date.parse("2026-05-01T10:00:00Z") * 1000 + 1,
  ]);
});

test.each([
  [{ from_date: "2026-05-02", to_date: "2026-05-01" }, "2026-05-02 is after 2026-05-01", "from_date"],
  [{ to_date: "2026-02-30" }, '"2026-02-30" is not a date', "to_date"],
  [{ from_date: "2026-05-01T10:00" }, '"2026-05-01T10:00" is not a date', "from_date"],
  [{ from_date: "2026-05-01", time_zone: "Mars/Base" }, 'no time zone "Mars/Base"', "time_zone"],
])("%j is refused", (dates, message, field) => {
  expect(() => spanOf(dates)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(message),
      data: expect.objectContaining({ field }),
    }),
  );
});
