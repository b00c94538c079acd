/**
 * What is no JSON value (spec.md#model-field-types): the native writer drops, replaces or calls what JSON cannot
 * spell, in silence, so that a program without types would read back something else than it gave.
 */
import { pointerOf } from "./json-equal.ts";

export interface JsonFault {
  /** JSON pointer (RFC 6901) of the first value that is none; "" is the root. */
  readonly path: string;
  /** What stands there, for people: "NaN", "a function". */
  readonly what: string;
}

/** Undefined where the native parser could have made the value, exact numbers of base/json/json.ts included. */
export function jsonFault(value: unknown): JsonFault | undefined {
  return isPlainlyJson(value, 0) ? undefined : findFault(value);
}

/**
 * A property that JSON has no place for and the native writer drops in silence: of an array by a name, by a symbol, or not
 * enumerable. For values of programs without other faults: what was parsed from a text has none.
 */
export function hiddenProperty(root: unknown): JsonFault | undefined {
  const open: Member[] = [];
  const push = (value: unknown, key?: string | number, above?: Member): void => {
    if (typeof value === "object" && value !== null && !JSON.isRawJSON(value))
      open.push({ value, key, above });
  };
  push(root);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value } = next;
    const hidden = hiddenKey(value);
    if (typeof hidden === "symbol") return { path: pathOf(next), what: "a property named by a symbol" };
    if (hidden !== undefined) {
      const what = Array.isArray(value) ? "a property of an array" : "a property that is not enumerable";
      return { path: pathOf({ value, key: hidden, above: next }), what };
    }
    const members = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, member] of members) push(member, key, next);
  }
  return undefined;
}

/** A container, and where it is: the root has no key. */
interface Member {
  readonly value: object;
  readonly key: string | number | undefined;
  readonly above: Member | undefined;
}

function pathOf(member: Member): string {
  const keys: (string | number)[] = [];
  for (let at: Member | undefined = member; at?.key !== undefined; at = at.above) keys.push(at.key);
  return pointerOf(keys.toReversed());
}

/** An array has its items in order, then its length, then what it should not have. */
function hiddenKey(container: object): string | symbol | undefined {
  const keys = Reflect.ownKeys(container);
  if (Array.isArray(container)) return keys.length === container.length + 1 ? undefined : keys.at(-1);
  return keys.find(
    (key) => typeof key === "symbol" || !Object.prototype.propertyIsEnumerable.call(container, key),
  );
}

/** Beyond this the quick look could overflow the stack; such values are rare, the slow one takes them. */
const MAX_QUICK_DEPTH = 100;

/** Runs for each value that is stored: true only for what is surely JSON, false for what must be looked at. */
function isPlainlyJson(value: unknown, depth: number): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return isJsonNumber(value);
  if (typeof value !== "object" || depth > MAX_QUICK_DEPTH) return false;
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    // A hole is undefined, too.
    for (const item of value) if (!isPlainlyJson(item, depth + 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any object has members by name
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) if (!isPlainlyJson(members[key], depth + 1)) return false;
  return true;
}

/** A container that is still open; `keys` of an object, whose values are in the same order. */
interface Open {
  readonly container: object;
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

/** Says which value is at fault, at any depth. What contains itself would have no end, and is told. */
function findFault(root: unknown): JsonFault | undefined {
  const open: Open[] = [];
  const containers = new Set<object>();
  let value = root;
  for (;;) {
    const what = containers.has(value ?? "") ? "a value that contains itself" : scalarFault(value);
    if (what !== undefined) return { path: pointerOf(open.map(memberInOpen)), what };
    if (typeof value === "object" && value !== null && !JSON.isRawJSON(value)) {
      containers.add(value);
      open.push(openOf(value));
    }
    let top = open.at(-1);
    while (top !== undefined && top.next === top.values.length) {
      containers.delete(top.container);
      open.pop();
      top = open.at(-1);
    }
    if (top === undefined) return undefined;
    value = top.values[top.next];
    top.next += 1;
  }
}

function openOf(container: object): Open {
  if (Array.isArray(container)) return { container, keys: undefined, values: container, next: 0 };
  return { container, keys: Object.keys(container), values: Object.values(container), next: 0 };
}

/** The key under which the value that is being looked at stands. */
function memberInOpen({ keys, next }: Open): string | number {
  return keys?.[next - 1] ?? next - 1;
}

/** What is wrong with the value itself, whatever it contains. */
function scalarFault(value: unknown): string | undefined {
  if (typeof value === "number") return isJsonNumber(value) ? undefined : nameOfNumber(value);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return undefined;
  if (typeof value !== "object") return value === undefined ? "undefined" : `a ${typeof value}`;
  // The native writer prints whatever stands in a raw value, also a text or a word.
  if (JSON.isRawJSON(value))
    return /^[-\d]/.test(value.rawJSON) ? undefined : "raw JSON that is not a number";
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return Array.isArray(prototype) ? undefined : nameOfInstance(value);
  return isPlainPrototype(prototype) ? undefined : nameOfInstance(value);
}

/** A double that its printed form gives back: minus zero prints as 0, and is an exact number (RawNumber) for that. */
function isJsonNumber(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}

const nameOfNumber = (value: number): string => (Object.is(value, -0) ? "minus zero" : String(value));

/** That of object literals, by what it has: other realms have one of their own. */
function isPlainPrototype(prototype: unknown): boolean {
  if (prototype === null) return true;
  if (typeof prototype !== "object") return false;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function nameOfInstance(value: object): string {
  const { constructor } = value;
  const name = typeof constructor === "function" ? constructor.name : "";
  return name === "" ? "an instance of a class" : `an instance of ${name}`;
}
