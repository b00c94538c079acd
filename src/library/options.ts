/** What programs without types give `openPond`, and as hooks: each option of its type, and no other. */
import { PondError } from "../base/errors.ts";
import type { OpenOptions, SyncHooks } from "./pond.ts";

/** What an option has to be, as the end of a sentence, and whether it is. */
type Expected = readonly [words: string, is: (value: unknown) => boolean];

const text: Expected = [
  "must be a string that is not empty",
  (value) => typeof value === "string" && value !== "",
];

const OPTIONS: Readonly<Record<keyof OpenOptions, Expected>> = {
  store: text,
  namespace: text,
  state: text,
  env: ["must be an object whose values are strings", isEnvironment],
  home: text,
  // What each of them must be is asked by given-adapters.ts.
  adapters: ["must be an array", (value) => Array.isArray(value)],
  signal: [
    "must be an AbortSignal",
    (value) => has(value, "aborted", "boolean") && has(value, "addEventListener", "function"),
  ],
  clock: [
    "must be an object with the functions now() and sleep(ms, signal)",
    (value) => has(value, "now", "function") && has(value, "sleep", "function"),
  ],
};

const HOOKS: Readonly<Record<keyof SyncHooks, Expected>> = {
  onProgress: ["must be a function", (value) => typeof value === "function"],
};

export function checkOptions(options: unknown): asserts options is OpenOptions {
  check(options, { of: "openPond", all: "options", one: "option", expected: OPTIONS });
}

export function checkHooks(hooks: unknown): asserts hooks is SyncHooks {
  check(hooks, { of: "sync", all: "hooks", one: "hook", expected: HOOKS });
}

function check(
  given: unknown,
  what: {
    readonly of: string;
    readonly all: string;
    readonly one: string;
    readonly expected: Readonly<Record<string, Expected>>;
  },
): void {
  const { of, all, one, expected } = what;
  const names = Object.keys(expected);
  const wrong = (field: string, message: string): PondError =>
    new PondError("validation_failed", `${of}: ${field} ${message}`, { data: { field } });
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw wrong(all, `must be an object with some of: ${names.join(", ")}`);
  for (const [name, value] of Object.entries(given)) {
    const [words, is] = (Object.hasOwn(expected, name) ? expected[name] : undefined) ?? [];
    if (words === undefined || is === undefined)
      throw wrong(name, `is not a known ${one}; there is: ${names.join(", ")}`);
    if (value !== undefined && !is(value)) throw wrong(name, words);
  }
}

function isEnvironment(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => each === undefined || typeof each === "string")
  );
}

function has(value: unknown, name: string, type: string): boolean {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, name) === type;
}
