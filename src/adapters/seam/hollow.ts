/**
 * Values without the parts of them that stand in a source record as they are (spec.md#live-staged-tree-spans): what
 * was read is kept hollow, and filled again from the same record. Exact by construction: a part is left out only where
 * the record holds the very same value, whatever the adapter did with it.
 */
import type { JsonValue } from "../../base/json.ts";

/** What a record holds: one JSON value, or the bytes of a whole file. */
export type RecordValue = JsonValue | Uint8Array;

export interface Hollow<T> {
  /** False when nothing was left out: any record fills it. */
  readonly isHollow: boolean;
  /** The value, from the record that it was made of. Undefined when the record is another one. */
  readonly fill: (record: RecordValue) => T | undefined;
}

/** Texts up to this length are kept: a slot costs about as much. */
const SHORT = 48;

/** Where the values of a record stand, for as many hollow values as come from it. */
export class RecordIndex {
  readonly #texts = new Map<string, Step>();
  readonly #nodes = new Map<object, Step>();

  constructor(record: RecordValue) {
    const pending: { readonly value: RecordValue; readonly step: Step }[] = [{ value: record, step: ROOT }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { value, step } = next;
      if (typeof value === "string") {
        if (value.length > SHORT) this.#texts.set(value, step);
      } else if (value instanceof Uint8Array) this.#nodes.set(value, step);
      else if (isBranch(value)) {
        this.#nodes.set(value, step);
        for (const [key, item] of Object.entries(value))
          pending.push({ value: item, step: { of: step, key } });
      }
    }
  }

  hollow<T>(value: T): Hollow<T> {
    let isHollow = false;
    const template = this.#templateOf(value, () => {
      isHollow = true;
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- filling a template gives what it was made of
    return { isHollow, fill: (record) => fill(template, record) as T | undefined };
  }

  #templateOf(value: unknown, onSlot: () => void): unknown {
    const slot = typeof value === "string" ? this.#slotOfText(value) : this.#slotOfNode(value);
    if (slot !== undefined) {
      onSlot();
      return slot;
    }
    if (Array.isArray(value)) return value.map((item: unknown) => this.#templateOf(item, onSlot));
    return isBranch(value) ? mapFields(value, (item) => this.#templateOf(item, onSlot)) : value;
  }

  #slotOfNode(value: unknown): Slot | undefined {
    const step = typeof value === "object" && value !== null ? this.#nodes.get(value) : undefined;
    return step === undefined ? undefined : new Slot(pathOf(step));
  }

  /** A text as a whole, or a stretch of one: a prompt is split where the client put words around it. */
  #slotOfText(text: string): Slot | undefined {
    if (text.length <= SHORT) return undefined;
    const step = this.#texts.get(text);
    if (step !== undefined) return new Slot(pathOf(step));
    for (const [whole, at] of this.#texts) {
      const start = whole.length > text.length ? whole.indexOf(text) : -1;
      if (start !== -1) return new Slot(pathOf(at), { start, end: start + text.length });
    }
    return undefined;
  }
}

interface Step {
  readonly of: Step | undefined;
  readonly key: string;
}

const ROOT: Step = { of: undefined, key: "" };

/** A place in a template that the record fills. No JSON value is of this class. */
class Slot {
  readonly path: readonly string[];
  readonly stretch: { readonly start: number; readonly end: number } | undefined;

  constructor(path: readonly string[], stretch?: { readonly start: number; readonly end: number }) {
    this.path = path;
    this.stretch = stretch;
  }
}

function pathOf(step: Step): readonly string[] {
  const path: string[] = [];
  for (let at = step; at.of !== undefined; at = at.of) path.unshift(at.key);
  return path;
}

/** Undefined when the record has nothing where a slot points. */
function fill(template: unknown, record: RecordValue): unknown {
  let isSame = true;
  const whole = filled(template);
  return isSame ? whole : undefined;

  function filled(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((item) => filled(item));
    if (isBranch(part)) return mapFields(part, filled);
    if (!(part instanceof Slot)) return part;
    const value = valueAt(record, part);
    if (value === undefined) isSame = false;
    return value;
  }
}

function valueAt(record: RecordValue, { path, stretch }: Slot): unknown {
  let value: unknown = record;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  if (stretch === undefined) return value;
  return typeof value === "string" ? value.slice(stretch.start, stretch.end) : undefined;
}

function mapFields(object: object, map: (value: unknown) => unknown): object {
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(object)) {
    const value = map(item);
    // Assigned as data, also under `__proto__`.
    if (name !== "__proto__") copy[name] = value;
    else Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** An object or array of JSON; not bytes, not a slot, not a number that is kept as its text. */
function isBranch(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !(value instanceof Uint8Array) && !(value instanceof Slot) && !JSON.isRawJSON(value);
}
