/**
 * An adapter of a program as the handlers are given it: what it throws, and what it gives that they cannot use, is a PondError
 * that names the client and the function at fault (spec.md#adapter-registry). What stops a client of pond's own from being read
 * is an issue of that client, and so is this.
 */
import type { Adapter, OpenedPlace, Place } from "../adapters/index.ts";
import { isPondError, PondError, toPondError } from "../base/errors.ts";

type Check = (value: unknown) => string | undefined;

/** The same adapter, for this pond. */
export function guardedAdapter(adapter: Adapter): Adapter {
  const { name, restore } = adapter;
  const guard = new Guard(name);
  return {
    ...adapter,
    defaultPlaces: (machine) => guard.now("defaultPlaces", () => adapter.defaultPlaces(machine), arePlaces),
    open: async (place, machine) =>
      guard.opened(place, await guard.later("open", () => adapter.open(place, machine), isOpened)),
    ...(adapter.advise && {
      advise: (machine) => guard.later("advise", async () => (await adapter.advise?.(machine)) ?? [], isList),
    }),
    restore: restore.kind === "supported" ? guardedRestore(restore, guard) : restore,
  };
}

type Restoring = Extract<Adapter["restore"], { kind: "supported" }>;

function guardedRestore(restore: Restoring, guard: Guard): Restoring {
  return {
    ...restore,
    serialize: (lineage, options) =>
      guard.later("restore.serialize", () => restore.serialize(lineage, options), isRestored),
    hashes: (state, form) => guard.later("restore.hashes", () => restore.hashes(state, form), areHashes),
    present: (id, at) => guard.later("restore.present", () => restore.present(id, at), isList),
    context: async () => {
      const rule = await guard.later("restore.context", () => restore.context(), isFunction);
      return (messages, log) => guard.now("restore.context", () => rule(messages, log), isContext);
    },
  };
}

/** Calls the functions of one adapter. */
class Guard {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  now<T>(what: string, act: () => T, check: Check): T {
    try {
      return this.#checked(what, act(), check);
    } catch (error) {
      throw this.#failure(what, error);
    }
  }

  async later<T>(what: string, act: () => Promise<T>, check: Check): Promise<T> {
    try {
      return this.#checked(what, await act(), check);
    } catch (error) {
      throw this.#failure(what, error);
    }
  }

  /** Listing and reading are guarded where each source is; all of it was read when a place is closed. */
  opened(place: Place, opened: OpenedPlace): OpenedPlace {
    return {
      place,
      units: (signal) => opened.units(signal),
      read: (unit, request) => opened.read(unit, request),
      ...(opened.inventory !== undefined && { inventory: opened.inventory.bind(opened) }),
      [Symbol.asyncDispose]: async () => {
        try {
          await opened[Symbol.asyncDispose]();
        } catch {
          // Nothing that was read depends on it, and the answer says what was.
        }
      },
    };
  }

  #checked<T>(what: string, value: T, check: Check): T {
    const fault = check(value);
    if (fault === undefined) return value;
    throw new PondError("internal", `the adapter ${this.#name} is wrong: ${what} must give ${fault}`, {
      hint: "correct the adapter that was given to openPond",
      data: { field: what },
    });
  }

  #failure(what: string, error: unknown): PondError {
    if (isPondError(error)) return error;
    const { message } = toPondError(error);
    return new PondError("internal", `${what} of the adapter ${this.#name} failed: ${message}`, {
      hint: "correct the adapter that was given to openPond",
      data: { field: what },
      cause: error,
    });
  }
}

type Untyped = Readonly<Record<PropertyKey, unknown>>;

const isObject = (value: unknown): value is Untyped => typeof value === "object" && value !== null;
const isFunction: Check = (value) => (typeof value === "function" ? undefined : "a function");
const isList: Check = (value) => (Array.isArray(value) ? undefined : "a list");
const unless = (isRight: boolean, expected: string): string | undefined => (isRight ? undefined : expected);

const ORIGINS: readonly unknown[] = ["default", "environment", "config", "request"];

const arePlaces: Check = (value) =>
  unless(
    Array.isArray(value) &&
      value.every(
        (place: unknown) =>
          isObject(place) &&
          typeof place["path"] === "string" &&
          place["path"] !== "" &&
          ORIGINS.includes(place["origin"]),
      ),
    "a list of places, each { path, origin }",
  );

const isOpened: Check = (value) =>
  unless(
    isObject(value) &&
      typeof value["units"] === "function" &&
      typeof value["read"] === "function" &&
      typeof value[Symbol.asyncDispose] === "function",
    "an opened place: { place, units, read, [Symbol.asyncDispose] }",
  );

const isContext: Check = (value) =>
  unless(isObject(value) && Array.isArray(value["messages"]), "an object with messages");

const areHashes: Check = (value) =>
  unless(
    isObject(value) && Array.isArray(value["log"]) && value["side"] instanceof Map,
    "{ log, side }, as logHashes does",
  );

const isRestored: Check = (value) =>
  unless(
    isObject(value) &&
      (value["fidelity"] === "native" || value["fidelity"] === "foreign") &&
      ["files", "logs", "losses"].every((name) => Array.isArray(value[name])) &&
      isObject(value["resume"]) &&
      Array.isArray(value["resume"]["words"]),
    "{ fidelity, files, logs, losses, resume }, as serializeLogs does",
  );
