/** Dates of filters as instants: a day is the whole day of the zone that the request names (spec.md#wire-dates). */
import { PondError } from "../../base/errors.ts";
import { parseTimestamp } from "../../model/index.ts";

export interface WireDates {
  readonly from_date?: string;
  readonly to_date?: string;
  readonly time_zone?: string;
}

/** Microseconds: the first instant that is meant, and the first one past it. */
export interface Span {
  readonly from?: number;
  readonly until?: number;
}

export function spanOf({ from_date, to_date, time_zone = "UTC" }: WireDates): Span {
  if (from_date === undefined && to_date === undefined && time_zone === "UTC") return {};
  const zone = new Zone(time_zone);
  const from = from_date === undefined ? undefined : instantOf("from_date", from_date, zone).start;
  const until = to_date === undefined ? undefined : instantOf("to_date", to_date, zone).end;
  if (from !== undefined && until !== undefined && from >= until)
    throw new PondError("validation_failed", `${from_date} is after ${to_date}, so nothing can match`, {
      hint: "swap them, or leave one out",
      data: { field: "from_date", value: from_date },
    });
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

const DAY_MS = 86_400_000;

/** A day counts whole: up to the first instant of the next one, which is not always 24 hours later. */
function instantOf(
  field: string,
  text: string,
  zone: Zone,
): { readonly start: number; readonly end: number } {
  const day = parseTimestamp(`${text}T00:00:00Z`);
  if (day !== undefined)
    return { start: zone.midnight(day / 1000) * 1000, end: zone.midnight(day / 1000 + DAY_MS) * 1000 };
  const instant = parseTimestamp(text);
  if (instant !== undefined) return { start: instant, end: instant + 1 };
  throw new PondError("validation_failed", `${JSON.stringify(text)} is not a date`, {
    hint: "write a date as YYYY-MM-DD, or a timestamp as 2026-01-02T03:04:05Z",
    data: { field, value: text },
  });
}

/** A zone of the system's list, or an offset. */
class Zone {
  readonly #offsets: Intl.DateTimeFormat;

  constructor(name: string) {
    try {
      this.#offsets = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    } catch {
      throw new PondError("validation_failed", `there is no time zone ${JSON.stringify(name)}`, {
        hint: "write its name, such as Europe/Berlin, or an offset, such as +02:00",
        data: { field: "time_zone", value: name },
      });
    }
  }

  /**
   * The first instant of a day, given that instant as it is in UTC. Where the clocks go back over midnight it is the earlier
   * one, where they go forward over it the instant at which they do.
   */
  midnight(utc: number): number {
    const [before, after] = [utc - this.#offset(utc - DAY_MS), utc - this.#offset(utc + DAY_MS)];
    const real = [before, after].filter((instant) => instant + this.#offset(instant) === utc);
    return real.length === 0 ? before : Math.min(...real);
  }

  /** Milliseconds that its clocks are ahead of UTC: `GMT+05:30`, `GMT` for none. */
  #offset(instant: number): number {
    const name =
      this.#offsets.formatToParts(instant).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(name) ?? [];
    const ahead = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return sign === "-" ? -ahead : ahead;
  }
}

const OFFSET = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/;
