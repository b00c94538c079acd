/**
 * Adapters that a program gives to `openPond`, checked before anything asks them: a program without types learns at the door
 * what is missing, and no name stands for two clients (spec.md#adapter-registry).
 */
import type { Adapter } from "../adapters/index.ts";
import { adapterNamed } from "../adapters/registry.ts";
import { PondError } from "../base/errors.ts";
import { guardedAdapter } from "./guarded-adapter.ts";

/** A brand is a part of `source_agent`, of settings and of the names of sources. */
const NAME = /^[a-z0-9][a-z0-9-]*$/;

type Check = (value: unknown) => string | undefined;

const isFunction: Check = (value) => (typeof value === "function" ? undefined : "must be a function");
const isText: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a text that is not empty";
const isAbsentOr =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

const FIELDS: Readonly<Record<keyof Adapter, Check>> = {
  name: (value) =>
    typeof value === "string" && NAME.test(value)
      ? undefined
      : "must be of lowercase letters, digits and hyphens",
  title: isText,
  defaultPlaces: isFunction,
  open: isFunction,
  reportsSpans: isAbsentOr((value) => (value === true ? undefined : "must be true or absent")),
  advise: isAbsentOr(isFunction),
  deletesAfter: isAbsentOr(isFunction),
  restore: (value) =>
    isObject(value) && (value["kind"] === "supported" || value["kind"] === "unsupported")
      ? undefined
      : "must be an object whose kind is supported or unsupported",
};

type Restoring = Extract<Adapter["restore"], { kind: "supported" }>;

const RESTORE: Readonly<Record<Exclude<keyof Restoring, "kind">, Check>> = {
  serialize: isFunction,
  hashes: isFunction,
  context: isFunction,
  present: isFunction,
  insteadOfForeign: isAbsentOr(isText),
};

/** Throws `validation_failed` for the first that is no adapter, or has the name of another one. */
export function givenAdapters(given: readonly Adapter[]): readonly Adapter[] {
  checkAdapters(given);
  return given.map(guardedAdapter);
}

function checkAdapters(given: readonly unknown[]): void {
  const names = new Set<unknown>();
  for (const [at, adapter] of given.entries()) {
    const field = `adapters[${at}]`;
    if (!isObject(adapter)) throw wrong(field, "must be an adapter");
    checkFields(adapter, field, FIELDS);
    const { name, restore } = adapter;
    if (isObject(restore) && restore["kind"] === "supported")
      checkFields(restore, `${field}.restore`, RESTORE);
    else if (isObject(restore)) checkFields(restore, `${field}.restore`, { instead: isText });
    if (adapterNamed(String(name)) !== undefined)
      throw wrong(`${field}.name`, `is ${String(name)}, a client that pond has itself`);
    if (names.has(name)) throw wrong(`${field}.name`, `is ${String(name)}, as that of another one`);
    names.add(name);
  }
}

function checkFields(
  object: Readonly<Record<string, unknown>>,
  at: string,
  checks: Readonly<Record<string, Check>>,
): void {
  for (const [name, check] of Object.entries(checks)) {
    const fault = check(object[name]);
    if (fault !== undefined) throw wrong(`${at}.${name}`, fault);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wrong = (field: string, message: string): PondError =>
  new PondError("validation_failed", `openPond: ${field} ${message}`, { data: { field } });
