/**
 * Printed commands of pond say nothing of the global flags that the run itself was given, and without `--store` they answer
 * for another store (spec.md#cli-next-steps). What is printed has names and text of sessions in it, so that no command in it
 * can be rewritten for certain: one line behind it says what to add. Pure.
 */
import { optionWords, shellLine } from "../../base/shell.ts";
import type { CarriedFlags } from "../terminal/output.ts";
import type { Command } from "./command.ts";
import type { FlagValue } from "./flags.ts";

/** Verbs that answer the same for every store. */
const WITHOUT_STORE: ReadonlySet<string> = new Set(["help", "completions", "demo"]);

export function carriedFlags(
  [root, verb]: readonly Command[],
  given: Readonly<Record<string, FlagValue>>,
): CarriedFlags {
  const { flags = {}, subcommands = [] } = root ?? {};
  const words = Object.entries(flags).flatMap(([name, { type }]) => {
    const value = given[name];
    const isMeant = type === "string" && verb?.keeps?.includes(name) !== true;
    return isMeant && typeof value === "string" ? optionWords(`--${name}`, value) : [];
  });
  const verbs = subcommands.map(({ name }) => name).filter((name) => !WITHOUT_STORE.has(name));
  // What pond did is told as well as what to do: "written by pond restore".
  const commands = new RegExp(String.raw`(?<!\bby )\bpond (?:${verbs.join("|")})\b`);
  let [isSeen, hasOthers] = [false, false];
  return {
    look(text) {
      if (words.length === 0 || !commands.test(text)) return;
      isSeen = true;
      hasOthers ||= text.includes("--store ");
    },
    take() {
      if (!isSeen) return undefined;
      const which = hasOthers ? ", but for those that name another store" : "";
      [isSeen, hasOthers] = [false, false];
      return `note: add ${shellLine(words)} to the commands of pond above${which}`;
    },
  };
}
