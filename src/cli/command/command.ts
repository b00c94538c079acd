/**
 * What a verb is: an entry of the table in verbs.ts (data, always loaded) and a function (loaded when it is run).
 *
 * @example
 *   // verbs.ts
 *   export const countFlags = { by: { type: "string", choices: ["day", "week"], summary: "..." } } as const satisfies FlagTable;
 *   command({ name: "count", summary: "...", flags: countFlags, load: async () => (await import("./verbs/count.ts")).count })
 *   // verbs/count.ts
 *   export async function count({ flags, out, config }: VerbContext<typeof countFlags>): Promise<Outcome> { ... }
 */
import type { Environment } from "../../config/environment.ts";
import type { LoadedConfig } from "../../config/index.ts";
import type { Outcome } from "../terminal/exit.ts";
import type { FlagTable, FlagValues, GlobalFlags } from "./flags.ts";
import type { Output } from "../terminal/output.ts";

export interface ArgSpec {
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all that follow; only the last can. */
  readonly repeated?: boolean;
  readonly choices?: readonly string[];
}

export interface VerbContext<F extends FlagTable = GlobalFlags> {
  readonly args: readonly string[];
  readonly flags: FlagValues<F> & FlagValues<GlobalFlags>;
  readonly out: Output;
  /** Aborted by Ctrl-C: clean up and return or throw, the exit code is taken care of. */
  readonly signal: AbortSignal;
  readonly env: Environment;
  /** The settings in force; read on the first call. */
  readonly config: () => Promise<LoadedConfig>;
}

export type Run<F extends FlagTable> = (context: VerbContext<F>) => Promise<Outcome>;

interface CommandSpec<F extends FlagTable> {
  readonly name: string;
  /** One line, for the list of verbs. */
  readonly summary: string;
  /** More, for the verb's own help. */
  readonly details?: string;
  readonly args?: readonly ArgSpec[];
  readonly flags?: F;
  /** Flags of a like verb, with what this one calls them. */
  readonly mistaken?: Readonly<Record<string, NoInfer<keyof F & string>>>;
  /** Global flags that it writes to the settings: commands behind it need them no more. */
  readonly keeps?: readonly (keyof GlobalFlags)[];
  /** Whole command lines. */
  readonly examples?: readonly string[];
  readonly load: () => Promise<Run<NoInfer<F>>>;
}

/** An entry of the table with the type of its flags forgotten. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly args?: readonly ArgSpec[];
  readonly flags?: FlagTable;
  readonly mistaken?: Readonly<Record<string, string>>;
  readonly keeps?: readonly string[];
  readonly examples?: readonly string[];
  readonly subcommands?: readonly Command[];
  /** A method on purpose: its parameter may be more exact than VerbContext, which `command` has checked. */
  run?(context: VerbContext): Promise<Outcome>;
}

/** Checks at compile time that the verb's function takes exactly the flags that the table declares. */
export function command<const F extends FlagTable = GlobalFlags>(spec: CommandSpec<F>): Command {
  const { load, ...data } = spec;
  return {
    ...data,
    async run(context: VerbContext<F>) {
      const run = await load();
      return run(context);
    },
  };
}

/** All flags that a command takes. */
export const flagsOf = (trail: readonly Command[]): FlagTable =>
  Object.assign({}, ...trail.map((entry) => entry.flags ?? {}));

/** `pond config show`, as it is typed. */
export const nameOf = (trail: readonly Command[]): string => trail.map((entry) => entry.name).join(" ");
