/**
 * Values without the parts of them that stand in a source record as they are (spec.md#live-staged-tree-spans): what
 * was read is kept hollow, and filled again from the same record. Exact by construction: a part is left out only where
 * the record holds the very same value, whatever the adapter did with it.
 */
import type { JsonValue } from "../../../base/json/json.ts";

/** What a record holds: one JSON value, or the bytes of a whole file. */
export type RecordValue = JsonValue | Uint8Array;

/** A value with slots in it. */
export class Hollow<T> {
  readonly #template: unknown;
  /** False when nothing was left out: any record fills it. */
  readonly isHollow: boolean;

  /** @internal */
  constructor(template: unknown, isHollow: boolean) {
    this.#template = template;
    this.isHollow = isHollow;
  }

  /** The value, from the record that it was made of. Undefined when the record is another one. */
  fillFrom(record: RecordValue): T | undefined {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- filling a template gives what it was made of
      return fill(this.#template, record) as T;
    } catch (error) {
      if (error instanceof OtherRecord) return undefined;
      throw error;
    }
  }
}

/** Texts up to this length are kept: a slot costs about as much. */
const SHORT = 48;

/** Generations of the record in which the remains of an object are looked for. */
const NEAR = 2;

/** Where the values of a record stand, for as many hollow values as come from it. */
export class RecordIndex {
  readonly #texts = new Map<string, Step>();
  readonly #nodes = new Map<object, Step>();
  readonly #near: { readonly object: object; readonly step: Step }[] = [];

  constructor(record: RecordValue) {
    const pending: { readonly value: RecordValue; readonly step: Step }[] = [{ value: record, step: ROOT }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { value, step } = next;
      if (typeof value === "string") {
        if (value.length > SHORT) this.#texts.set(value, step);
      } else if (value instanceof Uint8Array) this.#nodes.set(value, step);
      else if (isBranch(value)) {
        this.#nodes.set(value, step);
        if (step.depth <= NEAR && !Array.isArray(value)) this.#near.push({ object: value, step });
        const depth = step.depth + 1;
        for (const [key, item] of Object.entries(value))
          pending.push({ value: item, step: { of: step, key, depth } });
      }
    }
  }

  hollow<T>(value: T): Hollow<T> {
    let isHollow = false;
    const onSlot = (): void => {
      isHollow = true;
    };
    const template = this.#templateOf(value, { onSlot, depth: 0 });
    return new Hollow(template, isHollow);
  }

  #templateOf(value: unknown, { onSlot, depth }: Hollowing): unknown {
    const slot = typeof value === "string" ? this.#slotOfText(value) : this.#slotOfNode(value);
    if (slot !== undefined) {
      onSlot();
      return slot;
    }
    if (!isBranch(value)) return value;
    if (depth > MAX_DEPTH) return new Kept(value);
    const below = { onSlot, depth: depth + 1 };
    if (Array.isArray(value)) return value.map((item: unknown) => this.#templateOf(item, below));
    return mapFields(value, (item) => this.#templateOf(item, below));
  }

  #slotOfNode(value: unknown): Slot | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const step = this.#nodes.get(value);
    if (step !== undefined) return new Slot(step, WHOLE);
    if (!isBranch(value) || Array.isArray(value)) return undefined;
    for (const { object, step: at } of this.#near) {
      const taken = takenFrom(object, value);
      if (taken !== undefined) return new Slot(at, { taken });
    }
    return undefined;
  }

  #slotOfText(text: string): Slot | undefined {
    if (text.length <= SHORT) return undefined;
    const step = this.#texts.get(text);
    if (step !== undefined) return new Slot(step, WHOLE);
    for (const [whole, at] of this.#texts) {
      const start = whole.length > text.length ? whole.indexOf(text) : -1;
      if (start !== -1) return new Slot(at, { start, end: start + text.length });
    }
    return undefined;
  }
}

interface Hollowing {
  readonly onSlot: () => void;
  readonly depth: number;
}

/** Deeper values are kept as they are: recursion is at risk, and they are rare. */
const MAX_DEPTH = 500;

interface Step {
  readonly of: Step | undefined;
  readonly key: string;
  readonly depth: number;
}

const ROOT: Step = { of: undefined, key: "", depth: 0 };

/**
 * What of the value at a path: all of it, a stretch of a text (a prompt is split where the client put words around it),
 * or an object without the fields that were taken out of it.
 */
type Share =
  | typeof WHOLE
  | { readonly start: number; readonly end: number }
  | { readonly taken: readonly string[] };

const WHOLE = { whole: true } as const;

/** A place in a template that the record fills. No JSON value is of this class. */
class Slot {
  readonly path: readonly string[];
  readonly share: Share;

  constructor(step: Step, share: Share) {
    const path: string[] = [];
    for (let at = step; at.of !== undefined; at = at.of) path.push(at.key);
    this.path = path.toReversed();
    this.share = share;
  }
}

/** A value in a template that has no slots in it. */
class Kept {
  readonly value: object;

  constructor(value: object) {
    this.value = value;
  }
}

/** Fewer fields are kept as they are: the path costs as much. */
const FEW_FIELDS = 3;

/** The fields that `rest` lacks of `whole`, where it has nothing else, in the same order; undefined where it has. */
function takenFrom(whole: object, rest: object): readonly string[] | undefined {
  const kept = Object.entries(rest);
  if (kept.length < FEW_FIELDS) return undefined;
  const taken: string[] = [];
  let at = 0;
  for (const [name, value] of Object.entries(whole)) {
    const [next, same] = kept[at] ?? [];
    if (next === name && Object.is(same, value)) at += 1;
    else taken.push(name);
  }
  // A copy, because a list that grew has room for more, and there is one for every record.
  return at === kept.length ? taken.slice() : undefined;
}

class OtherRecord extends Error {}

function fill(part: unknown, record: RecordValue): unknown {
  if (part instanceof Slot) return shareOf(valueAt(record, part.path), part.share);
  if (part instanceof Kept) return part.value;
  if (Array.isArray(part)) return part.map((item) => fill(item, record));
  return isBranch(part) ? mapFields(part, (item) => fill(item, record)) : part;
}

function valueAt(record: RecordValue, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const key of path) {
    if (!isBranch(value) || !Object.hasOwn(value, key)) throw new OtherRecord();
    value = Reflect.get(value, key);
  }
  return value;
}

function shareOf(value: unknown, share: Share): unknown {
  if ("whole" in share) return value;
  if ("start" in share) {
    if (typeof value !== "string") throw new OtherRecord();
    return value.slice(share.start, share.end);
  }
  if (!isBranch(value)) throw new OtherRecord();
  return mapFields(value, (item) => item, new Set(share.taken));
}

function mapFields(
  object: object,
  map: (value: unknown) => unknown,
  without: ReadonlySet<string> = NONE,
): object {
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(object)) {
    if (without.has(name)) continue;
    const value = map(item);
    // Assigned as data, also under `__proto__`.
    if (name !== "__proto__") copy[name] = value;
    else Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

const NONE: ReadonlySet<string> = new Set();

/** An object or array of JSON; not bytes, not a piece of a template, not a number that is kept as its text. */
function isBranch(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Uint8Array || value instanceof Slot || value instanceof Kept) return false;
  return !JSON.isRawJSON(value);
}
