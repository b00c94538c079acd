/** Flags as data, the types of their values, and the flags that every verb has. */
import type { FieldKey } from "../../config/index.ts";

export interface FlagSpec {
  /** `list`: may be given several times. */
  readonly type: "boolean" | "string" | "integer" | "list";
  readonly summary: string;
  /** One letter, without the dash. */
  readonly short?: string;
  /** The name of the value in help, without brackets: `url`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** A number to write, for who wrote none. */
  readonly example?: number;
  /** The variable that stands for it, for the help text; config/ reads it. */
  readonly env?: string;
  /** The setting that it overrides (spec.md#config-precedence). */
  readonly setting?: FieldKey;
}

/** By the flag's name as it is typed, without the dashes. */
export type FlagTable = Readonly<Record<string, FlagSpec>>;

export type FlagValue = boolean | string | number | readonly string[] | undefined;

type ValueOf<F extends FlagSpec> = F["type"] extends "boolean"
  ? boolean
  : F["type"] extends "integer"
    ? number | undefined
    : F["type"] extends "list"
      ? readonly string[]
      : F extends { readonly choices: readonly (infer Choice)[] }
        ? Choice | undefined
        : string | undefined;

/** What a verb gets: a boolean is false and a list empty when not given, the others undefined. */
export type FlagValues<F extends FlagTable> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

export const GLOBAL_FLAGS = {
  store: {
    type: "string",
    value: "url",
    summary: "Path or URL of the store",
    env: "POND_STORE",
    setting: "storage.url",
  },
  config: { type: "string", value: "file", summary: "Configuration file to read", env: "POND_CONFIG" },
  json: { type: "boolean", summary: "Answer with one JSON document" },
  verbose: { type: "boolean", short: "v", summary: "Print more to stderr, including stack traces" },
  quiet: { type: "boolean", short: "q", summary: "Print only errors to stderr" },
  "no-color": { type: "boolean", summary: "No colours (also: NO_COLOR)" },
  help: { type: "boolean", short: "h", summary: "Show help" },
  version: { type: "boolean", short: "V", summary: "Show the version" },
} as const satisfies FlagTable;

export type GlobalFlags = typeof GLOBAL_FLAGS;
