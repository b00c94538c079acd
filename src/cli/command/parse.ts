/** The command line against the verb table: which command, its flags, its arguments, or the first mistake. Pure. */
import { PondError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { flagsOf, nameOf } from "./command.ts";
import type { Command } from "./command.ts";
import type { FlagSpec, FlagTable, FlagValue } from "./flags.ts";

export interface Invocation {
  /** The root, the verb, its sub-command: as deep as the words lead. */
  readonly trail: readonly Command[];
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, FlagValue>>;
  /** The first mistake. Help is given all the same, so the rest is read on. */
  readonly mistake: PondError | undefined;
}

export function parse(root: Command, argv: readonly string[]): Invocation {
  const state = new Parser(root);
  let onlyArgs = false;
  for (const words = [...argv]; words.length > 0;) {
    const word = words.shift() ?? "";
    if (onlyArgs || word === "-" || !word.startsWith("-")) state.word(word);
    else if (word === "--") onlyArgs = true;
    else if (word.startsWith("--")) state.long(word, words);
    else state.short(word, words);
  }
  return state.end();
}

class Parser {
  readonly #trail: Command[];
  readonly #args: string[] = [];
  readonly #given = new Map<string, FlagValue>();
  #mistake: PondError | undefined;

  constructor(root: Command) {
    this.#trail = [root];
  }

  word(word: string): void {
    const { subcommands } = this.#current;
    if (subcommands === undefined) {
      this.#args.push(word);
      return;
    }
    const found = subcommands.find((entry) => entry.name === word);
    if (found !== undefined) this.#trail.push(found);
    else this.#fail(unknownCommand(this.#trail, word));
  }

  long(word: string, rest: string[]): void {
    const [, name = "", value] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
    const spec = this.#flags[name];
    if (spec === undefined || !Object.hasOwn(this.#flags, name)) return this.#unknown(`--${name}`, name);
    this.#set(name, spec, { value, rest });
  }

  /** `-v`, `-vq`, `-o value`, `-ovalue`. */
  short(word: string, rest: string[]): void {
    for (let i = 1; i < word.length; i++) {
      const letter = word.charAt(i);
      const found = Object.entries(this.#flags).find(([, spec]) => spec.short === letter);
      if (found === undefined) return this.#unknown(`-${letter}`, word.slice(1));
      const [name, spec] = found;
      const takesRest = spec.type !== "boolean" && i + 1 < word.length;
      this.#set(name, spec, { value: takesRest ? word.slice(i + 1) : undefined, rest });
      if (takesRest) return;
    }
  }

  end(): Invocation {
    const flags: Record<string, FlagValue> = {};
    for (const [name, spec] of Object.entries(this.#flags))
      flags[name] =
        this.#given.get(name) ??
        { boolean: false, list: [], string: undefined, integer: undefined }[spec.type];
    this.#checkArgs();
    return { trail: this.#trail, args: this.#args, flags, mistake: this.#mistake };
  }

  #set(
    name: string,
    spec: FlagSpec,
    given: { readonly value: string | undefined; readonly rest: string[] },
  ): void {
    const flag = `--${name}`;
    if (spec.type === "boolean") {
      if (given.value !== undefined) this.#fail(usage(`${flag} takes no value`, `write ${flag} alone`));
      this.#given.set(name, true);
      return;
    }
    const next = given.rest[0];
    const takesNext = given.value === undefined && next !== undefined && isValue(next, spec);
    const value = takesNext ? given.rest.shift() : given.value;
    // An empty one is a variable of the shell that is not set: `--out "$FOLDER"` must not mean the working folder.
    if (value === undefined || value === "")
      return this.#fail(usage(`${flag} needs a value`, `write ${flag}=<${spec.value ?? "value"}>`));
    if (spec.choices !== undefined && !spec.choices.includes(value))
      return this.#fail(notAChoice(flag, value, spec.choices));
    if (spec.type === "integer" && !/^-?\d{1,15}$/.test(value))
      return this.#fail(
        usage(
          `${flag} must be a whole number, not ${JSON.stringify(value)}`,
          `write ${flag}=${spec.example ?? 10}`,
        ),
      );
    if (spec.type === "list") this.#given.set(name, [...this.#list(name), value]);
    else this.#given.set(name, spec.type === "integer" ? Number(value) : value);
  }

  #checkArgs(): void {
    const { args: specs = [], subcommands } = this.#current;
    const name = nameOf(this.#trail.slice(1));
    const how = `see pond help ${name}`;
    if (subcommands !== undefined) {
      if (name === "") return; // pond alone shows its help
      return this.#fail(
        usage(`${name} needs one of: ${subcommands.map((entry) => entry.name).join(", ")}`, how),
      );
    }
    const missing = specs[this.#args.length];
    if (missing !== undefined && missing.optional !== true)
      return this.#fail(usage(`${name} needs <${missing.name}>`, how));
    this.#args.forEach((word, i) => {
      const spec = specs[i] ?? (specs.at(-1)?.repeated === true ? specs.at(-1) : undefined);
      if (spec === undefined) this.#fail(usage(`${name} does not take ${JSON.stringify(word)}`, how));
      else if (spec.choices?.includes(word) === false)
        this.#fail(notAChoice(`<${spec.name}>`, word, spec.choices));
    });
  }

  #unknown(flag: string, typed: string): void {
    const guess = this.#current.mistaken?.[typed] ?? nearest(typed, Object.keys(this.#flags));
    const where = this.#trail.length > 1 ? ` of ${nameOf(this.#trail.slice(1))}` : "";
    const hint = guess === undefined ? `see ${nameOf(this.#trail)} --help` : `did you mean --${guess}?`;
    this.#fail(usage(`unknown flag ${flag}${where}`, hint));
  }

  get #current(): Command {
    return this.#trail.at(-1) ?? { name: "", summary: "" };
  }

  get #flags(): FlagTable {
    return flagsOf(this.#trail);
  }

  #list(name: string): readonly string[] {
    const list = this.#given.get(name);
    return typeof list === "object" ? list : [];
  }

  #fail(mistake: PondError): void {
    this.#mistake ??= mistake;
  }
}

/** What looks like a flag is none of the value's: `--path --json` is a forgotten value, `--limit -5` is not. */
const isValue = (word: string, spec: FlagSpec): boolean =>
  word === "-" || !word.startsWith("-") || (spec.type === "integer" && /^-\d/.test(word));

export function unknownCommand(trail: readonly Command[], word: string): PondError {
  const names = (trail.at(-1)?.subcommands ?? []).map((entry) => entry.name);
  const guess = nearest(word, names);
  const kind = trail.length === 1 ? "verb" : `sub-command of ${nameOf(trail.slice(1))}`;
  return usage(
    `unknown ${kind} ${JSON.stringify(word)}`,
    guess === undefined ? `${nameOf(trail)} --help lists them` : `did you mean ${nameOf(trail)} ${guess}?`,
  );
}

const notAChoice = (what: string, value: string, choices: readonly string[]): PondError => {
  const guess = nearest(value, choices);
  const hint = guess === undefined ? `use one of ${choices.join(", ")}` : `did you mean ${guess}?`;
  return usage(`${what} must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}`, hint);
};

/** A command that was typed so that it cannot be run: what is wrong with it, and what to type. */
export const usage = (message: string, hint: string): PondError =>
  new PondError("validation_failed", message, { hint });
