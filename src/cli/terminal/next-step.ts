/** The words of the command line for what lower rooms say as data: a next step is a command, a field is a flag. Pure. */
import { PondError } from "../../base/errors.ts";
import type { NextStep, Sentence, StepValue } from "../../base/sentence.ts";
import { stepsIn, wordWith } from "../../base/sentence.ts";
import { optionWords, shellLine } from "../../base/shell.ts";
import { pondCommand } from "./pond-command.ts";

/** Text for people with commands and flags in it. */
export function worded(text: Sentence): string {
  return wordWith(text, { step: commandOf, field: flagOf });
}

/** The same error in the words of the command line. Its `data` gains the next steps, for programs. */
export function wordedError(error: PondError): PondError {
  const { code, sentences, reason, data, cause, stack } = error;
  const { message, hint } = sentences;
  const steps = nextSteps(hint);
  const own = new PondError(code, worded(message), {
    ...(hint === undefined ? {} : { hint: worded(hint) }),
    ...(reason === undefined ? {} : { reason }),
    data: { ...data, ...steps },
    cause,
  });
  if (stack !== undefined) own.stack = stack;
  return own;
}

/** For programs. */
export function nextSteps(text: Sentence | undefined): { readonly next_steps?: readonly NextStep[] } {
  const next_steps = stepsIn(text);
  return next_steps.length === 0 ? {} : { next_steps };
}

const flagOf = (field: string): string => `--${FLAGS[field] ?? field}`;

/** Fields whose flag has another name. */
const FLAGS: Readonly<Record<string, string>> = {
  adapters: "adapter",
  map_paths: "map-path",
  paths: "path",
  stages: "only",
};

/** Operations whose verb has another name. */
const VERBS: Readonly<Record<string, string>> = {
  describe_settings: "config schema",
  show_settings: "config show",
};

function commandOf({ do: operation, ...given }: NextStep): string {
  const verb = VERBS[operation] ?? operation;
  const { session_id, query, ...fields }: Readonly<Record<string, StepValue | true>> = given;
  const argument = session_id ?? query;
  // To resume is to restore into a client, and to open it in there.
  const flagNamed = (name: string): string =>
    operation === "resume" && name === "to" ? "--in" : flagOf(name);
  const options = Object.entries(fields).map(([name, value]) => option(flagNamed(name), value));
  if (typeof argument === "string") return pondCommand(verb, argument, options.join(" "));
  const place = typeof argument === "object" ? [placeFor(argument)] : [];
  return ["pond", verb, ...place, ...options].join(" ");
}

function option(flag: string, value: StepValue | true): string {
  if (value === true) return flag;
  return typeof value === "string" ? shellLine(optionWords(flag, value)) : `${flag} ${placeFor(value)}`;
}

const placeFor = ({ choose }: Exclude<StepValue, string>): string => `<${choose}>`;
