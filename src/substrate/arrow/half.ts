/**
 * Half-precision floats: vectors are stored in 16 bits. (Float16Array needs a newer Node than we support.)
 */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** To the nearest half, ties to even; past 65504 it is an infinity. */
export function toHalf(value: number): number {
  float[0] = value;
  const x = bits[0] ?? 0;
  const sign = (x >>> 16) & 0x8000;
  const magnitude = x & 0x7fffffff;
  if (magnitude >= 0x7f800000) return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x33000001) return sign;
  if (magnitude < 0x38800000) {
    const shift = 126 - (magnitude >>> 23);
    const mantissa = (magnitude & 0x7fffff) | 0x800000;
    return sign | roundShift(mantissa, shift);
  }
  return sign | roundShift(magnitude - 0x38000000, 13);
}

function roundShift(value: number, shift: number): number {
  const kept = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

export function fromHalf(half: number): number {
  const exponent = (half >>> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
