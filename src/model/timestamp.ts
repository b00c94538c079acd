/**
 * Instants as whole microseconds since 1970 UTC: what storage holds and ordering compares. The wire and most
 * clients write RFC 3339; a source spelling that `formatTimestamp` would not reproduce stays in options.
 */
import { PondError } from "../base/errors.ts";

declare const microseconds: unique symbol;

/** Microseconds since 1970 UTC, an integer within the safe range (years 1684 to 2255). */
export type Timestamp = number & { readonly [microseconds]: true };

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|z|[+-]\d{2}:\d{2})$/;

/** Reads RFC 3339, to the microsecond (finer digits are cut). Undefined when the text is no such instant. */
export function parseTimestamp(text: string): Timestamp | undefined {
  return parseMilliseconds(text) ?? parseAny(text);
}

/** The same for what a program gives, who can give another: undefined also where a finer digit would be lost. */
export function parseExactTimestamp(text: string): Timestamp | undefined {
  return FINER.test(text) ? undefined : parseTimestamp(text);
}

/** A digit below a microsecond that counts. */
const FINER = /\.\d{6}\d*[1-9]/;

/** Why RFC 3339 text is no exact Timestamp, as the end of a sentence; undefined where it is one, or no such text. */
export function timestampFault(text: string): string | undefined {
  if (FINER.test(text) && RFC3339.test(text))
    return "is finer than a microsecond, which is the finest that is stored: round it";
  const micros = readMicros(text);
  if (micros !== undefined && timestampFromMicros(micros) === undefined)
    return `is outside of ${LIMITS}, which is all that a Timestamp holds`;
  if (readMicros(text.replace(/:60(?=[.Zz+-])/, ":59")) !== micros)
    return "is a leap second, which no Timestamp has: give the second before or after it";
  return undefined;
}

/** True when `formatTimestamp` gives back this spelling, without printing it where that is plain to see. */
export function isFormatOf(text: string, timestamp: Timestamp): boolean {
  return parseMilliseconds(text) === timestamp || formatTimestamp(timestamp) === text;
}

/** The last text and its instant: each is read once and then asked for its spelling. */
let latest: { readonly text: string; readonly timestamp: Timestamp | undefined } | undefined;

/** `2025-01-02T03:04:05.678Z`, the spelling of nearly every record: read by hand, as logs hold millions of them. */
function parseMilliseconds(text: string): Timestamp | undefined {
  if (text.length !== 24) return undefined;
  if (latest?.text !== text) latest = { text, timestamp: readMilliseconds(text) };
  return latest.timestamp;
}

function readMilliseconds(text: string): Timestamp | undefined {
  if (!MILLISECONDS.test(text)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const midnight = Date.UTC(year, month - 1, day);
  // The first century, and days that a month does not have, are left to the slow way.
  if (year < 100 || (day > 28 && new Date(midnight).getUTCDate() !== day)) return undefined;
  const seconds = digits(text, 11, 2) * 3600 + digits(text, 14, 2) * 60 + digits(text, 17, 2);
  return timestampFromMicros((midnight + seconds * 1000 + digits(text, 20, 3)) * 1000);
}

const MILLISECONDS =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

function digits(text: string, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at += 1) value = value * 10 + text.charCodeAt(at) - 48;
  return value;
}

function parseAny(text: string): Timestamp | undefined {
  const micros = readMicros(text);
  return micros === undefined ? undefined : timestampFromMicros(micros);
}

/** Of any year; finer digits are cut. */
function readMicros(text: string): number | undefined {
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
  return milliseconds * 1000 + micros;
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
  if (!Number.isSafeInteger(timestamp))
    throw new PondError("validation_failed", `no Timestamp: ${String(timestamp)}`, {
      hint: "give whole microseconds as parseTimestamp makes them, and sessions and messages have them",
      data: { field: "timestamp" },
    });
  const micros = ((timestamp % 1000) + 1000) % 1000;
  const text = new Date((timestamp - micros) / 1000).toISOString();
  return micros === 0 ? text : `${text.slice(0, -1)}${String(micros).padStart(3, "0")}Z`;
}

const LIMITS = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  .map((micros) => timestampFromMicros(micros))
  .map((limit) => (limit === undefined ? "" : formatTimestamp(limit)))
  .join(" to ");
