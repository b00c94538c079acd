/**
 * Instants as whole microseconds since 1970 UTC: what storage holds and ordering compares. The wire and most
 * clients write RFC 3339; a source spelling that `formatTimestamp` would not reproduce stays in options.
 */

declare const microseconds: unique symbol;

/** Microseconds since 1970 UTC, an integer within the safe range (years 1684 to 2255). */
export type Timestamp = number & { readonly [microseconds]: true };

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|z|[+-]\d{2}:\d{2})$/;

/** Reads RFC 3339, to the microsecond (finer digits are cut). Undefined when the text is no such instant. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone === "z" ? "Z" : zone}`;
  const milliseconds = Date.parse(iso);
  if (Number.isNaN(milliseconds)) return undefined;
  const rolledOver =
    Number(day) > 28 &&
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() !== Number(day);
  if (rolledOver) return undefined;
  const micros = fraction === undefined ? 0 : Number(fraction.slice(0, 6).padEnd(6, "0"));
  return timestampFromMicros(milliseconds * 1000 + micros);
}

/** From a millisecond count as clients store it (may carry a fraction). Undefined when out of range. */
export function timestampFromMillis(milliseconds: number): Timestamp | undefined {
  return timestampFromMicros(Math.round(milliseconds * 1000));
}

/** From whole microseconds. Undefined when the number is no safe integer. */
export function timestampFromMicros(micros: number): Timestamp | undefined {
  if (!Number.isSafeInteger(micros)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked right above
  return (micros === 0 ? 0 : micros) as Timestamp;
}

/** RFC 3339 in UTC: three fractional digits as JavaScript clients write, six when there are microseconds. */
export function formatTimestamp(timestamp: Timestamp): string {
  const micros = ((timestamp % 1000) + 1000) % 1000;
  const text = new Date((timestamp - micros) / 1000).toISOString();
  return micros === 0 ? text : `${text.slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}
