/** When a server asks to come again: `retry-after` as seconds or a date, `retry-after-ms`. Pure. */

/** In milliseconds from now; undefined where it does not say, or says nonsense. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(text ?? "");
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
