/**
 * A text within a bound of bytes (spec.md#adapter-bounded-values): as it is, or its head and a marker that says how many
 * bytes of UTF-8 it had.
 */

/** Bytes of UTF-8 that one text has at most, whatever its JSON takes: 6 bytes a control character. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

export interface Truncation {
  /** Bytes of UTF-8 of the value as the source had it. */
  readonly bytes: number;
}

/** The text as it is, or its head and the marker when its UTF-8 is longer than `limit`. */
export function boundText(
  text: string,
  limit = MAX_TEXT_BYTES,
): { readonly text: string; readonly truncated?: Truncation } {
  if (text.length * 3 <= limit) return { text };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return { text };
  const marker = truncationMarker(bytes);
  return { text: headOf(text, limit - marker.length) + marker, truncated: { bytes } };
}

export function truncationMarker(bytes: number): string {
  return `<pond:truncated ${bytes} bytes>`;
}

/** At most `bytes` of UTF-8 from the start, never half a surrogate pair. */
function headOf(text: string, bytes: number): string {
  let low = 0;
  let high = Math.min(text.length, bytes);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Buffer.byteLength(text.slice(0, middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  const last = text.charCodeAt(low - 1);
  const cutsPair = low > 0 && low < text.length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, cutsPair ? low - 1 : low);
}
