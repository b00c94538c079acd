/** Values in records by JSON pointer: what is taken out on reading is put back on native restore. Pure, nothing is changed. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { field, without } from "../extract/extract.ts";

/** `/message/parts` or `/history/0/parts`; no name in it needs escapes. */
export type Pointer = `/${string}`;

/** The object that contains the value of a pointer, and its name there; undefined where the way to it does not exist. */
export function holderAt(
  record: JsonObject,
  pointer: Pointer,
): { readonly holder: JsonObject; readonly name: string } | undefined {
  const names = namesOf(pointer);
  const name = names.pop() ?? "";
  let at: JsonValue | undefined = record;
  for (const step of names) at = stepInto(at, step);
  return isJsonObject(at) ? { holder: at, name } : undefined;
}

/** The value without what a pointer points to; objects on the way stay, also where they are empty now. */
export function takenOut(record: JsonObject, pointer: Pointer): JsonObject {
  const changed = changedAt(record, namesOf(pointer), (holder, name) => without(holder, new Set([name])));
  return isJsonObject(changed) ? changed : record;
}

/** The value with something put where a pointer points to. */
export function putBack(record: JsonObject, pointer: Pointer, value: JsonValue): JsonObject {
  const changed = changedAt(record, namesOf(pointer), (holder, name) => ({ ...holder, [name]: value }));
  return isJsonObject(changed) ? changed : record;
}

type Change = (holder: JsonObject, name: string) => JsonObject;

function changedAt(value: JsonValue, [name = "", ...inner]: readonly string[], change: Change): JsonValue {
  if (inner.length === 0) return isJsonObject(value) ? change(value, name) : value;
  const next = stepInto(value, name);
  if (next === undefined) return value;
  const changed = changedAt(next, inner, change);
  if (Array.isArray(value)) return value.map((item: JsonValue, at) => (at === Number(name) ? changed : item));
  return isJsonObject(value) ? { ...value, [name]: changed } : value;
}

function stepInto(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  return isJsonObject(value) ? field(value, name) : undefined;
}

const namesOf = (pointer: Pointer): string[] => pointer.slice(1).split("/");
