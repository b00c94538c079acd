/** Numbers for people: counts with separators, sizes, spans of time. Pure. */

/** `12,345`. By hand: the first number that `toLocaleString` prints costs a start 25 ms. */
export function count(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 source`, `12 sources`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${count(value)} ${value === 1 ? thing : things}`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** Three digits and a unit of 1000: `1.23 MB`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}

/** `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 20 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${pad(Math.floor(seconds % 60))} s`;
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor((seconds % 3600) / 60))} min`;
}

/** How long ago, in one word and a half: `3 days ago`. */
export function ago(then: number, now: number): string {
  const minutes = Math.max(0, now - then) / 60_000;
  if (minutes < 1) return "just now";
  if (minutes < 60) return plural(minutes, "minute");
  if (minutes < 60 * 24) return plural(minutes / 60, "hour");
  return plural(minutes / 60 / 24, "day");
}

function plural(value: number, unit: string): string {
  const whole = Math.floor(value);
  return `${whole} ${unit}${whole === 1 ? "" : "s"} ago`;
}

const pad = (value: number): string => String(value).padStart(2, "0");
