/**
 * Equality of JSON by value (spec.md#exact-json): numbers by decimal value, key order ignored, any
 * depth; and the place of the first difference as a JSON pointer.
 */
import type { JsonObject, JsonValue } from "./json.ts";

interface JsonDifference {
  /** JSON pointer (RFC 6901); "" is the root. */
  readonly path: string;
  /** `undefined`: this side has nothing there. */
  readonly left: JsonValue | undefined;
  readonly right: JsonValue | undefined;
}

/** A decimal value in its one normal form, 0.<digits> x 10^point with no zero at either end of the digits. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: bigint;
}

/** Two containers of one kind under comparison; `next` is the position of the next pair of members. */
type Pair =
  | {
      readonly kind: "array";
      readonly left: readonly JsonValue[];
      readonly right: readonly JsonValue[];
      next: number;
    }
  | {
      readonly kind: "object";
      readonly left: JsonObject;
      readonly right: JsonObject;
      readonly keys: readonly string[];
      next: number;
    };

export function equalJson(a: JsonValue, b: JsonValue): boolean {
  return firstDifference(a, b) === undefined;
}

/** The first difference in the order of `a`; keys that only `b` has come last in their object. */
export function firstDifference(a: JsonValue, b: JsonValue): JsonDifference | undefined {
  const open: Pair[] = [];
  let left: JsonValue | undefined = a;
  let right: JsonValue | undefined = b;
  for (;;) {
    const pair = left === right ? undefined : pairOf(left, right);
    if (pair !== undefined) open.push(pair);
    else if (!isSameScalar(left, right)) return { path: pointerOf(open.map(memberInPair)), left, right };

    let top = open.at(-1);
    while (top !== undefined && !hasNext(top)) {
      open.pop();
      top = open.at(-1);
    }
    if (top === undefined) return undefined;
    [left, right] = nextOf(top);
  }
}

/** Escaped as RFC 6901 says. */
export function pointerOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The value of a valid number literal. The exponent is a bigint, because a hostile one has any length. */
export function decimalOf(literal: string): Decimal {
  const negative = literal.startsWith("-");
  const exponentAt = literal.search(/[eE]/);
  const mantissa = literal.slice(negative ? 1 : 0, exponentAt === -1 ? undefined : exponentAt);
  const dotAt = mantissa.indexOf(".");
  const whole = dotAt === -1 ? mantissa : mantissa.slice(0, dotAt);
  const all = dotAt === -1 ? mantissa : whole + mantissa.slice(dotAt + 1);
  let from = 0;
  let to = all.length;
  while (from < to && all[from] === "0") from += 1;
  while (to > from && all[to - 1] === "0") to -= 1;
  if (from === to) return { negative, digits: "", point: 0n };
  const exponent = exponentAt === -1 ? 0n : BigInt(literal.slice(exponentAt + 1));
  return { negative, digits: all.slice(from, to), point: BigInt(whole.length - from) + exponent };
}

export function isSameDecimal(a: Decimal, b: Decimal): boolean {
  return a.negative === b.negative && a.point === b.point && a.digits === b.digits;
}

function pairOf(left: JsonValue | undefined, right: JsonValue | undefined): Pair | undefined {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return undefined;
  if (JSON.isRawJSON(left) || JSON.isRawJSON(right)) return undefined;
  if (isArray(left)) return isArray(right) ? { kind: "array", left, right, next: 0 } : undefined;
  return isArray(right) ? undefined : { kind: "object", left, right, keys: keysOfBoth(left, right), next: 0 };
}

/** `Array.isArray` alone does not narrow a read-only array. */
export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Equal numbers of keys need no union: a key that the left lacks then means one that the right lacks. */
function keysOfBoth(left: JsonObject, right: JsonObject): readonly string[] {
  const keys = Object.keys(left);
  const others = Object.keys(right);
  return keys.length === others.length
    ? keys
    : keys.concat(others.filter((key) => !Object.hasOwn(left, key)));
}

function hasNext(pair: Pair): boolean {
  if (pair.kind === "object") return pair.next < pair.keys.length;
  return pair.next < Math.max(pair.left.length, pair.right.length);
}

function nextOf(pair: Pair): readonly [JsonValue | undefined, JsonValue | undefined] {
  const at = pair.next;
  pair.next += 1;
  if (pair.kind === "array") return [pair.left[at], pair.right[at]];
  const key = pair.keys[at] ?? "";
  return [memberOf(pair.left, key), memberOf(pair.right, key)];
}

/** Own members only: every object inherits a `constructor` and a `__proto__`. */
function memberOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The key under which the pair that is being compared stands. */
function memberInPair(pair: Pair): string | number {
  return pair.kind === "array" ? pair.next - 1 : (pair.keys[pair.next - 1] ?? "");
}

function isSameScalar(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left === "number" && typeof right === "number") return false;
  const a = literalOf(left);
  const b = literalOf(right);
  if (a === undefined || b === undefined) return false;
  return a === b || isSameDecimal(decimalOf(a), decimalOf(b));
}

function literalOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}
