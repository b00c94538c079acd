/** `pond completions bash|zsh|fish`: scripts made from the verb table, so they cannot fall behind it. */
import { flagsOf, nameOf } from "./command/command.ts";
import type { Command, VerbContext } from "./command/command.ts";
import type { Outcome } from "./terminal/exit.ts";
import { SCRIPTS } from "./shells.ts";
import type { Place } from "./shells.ts";
import { ROOT, SHELLS } from "./verbs.ts";

export async function completions({ args, out }: VerbContext): Promise<Outcome> {
  const shell = SHELLS.find((name) => name === args[0]);
  if (shell === undefined) return "done"; // the parser lets none of these through
  const script = SCRIPTS[shell](placesBelow([ROOT]));
  out.result({ shell, script }, () => script);
  return "done";
}

/** Every command of the table, from the root down, as a place on the command line. */
function placesBelow(trail: readonly Command[]): readonly Place[] {
  const { subcommands = [] } = trail.at(-1) ?? {};
  const flags = Object.entries(flagsOf(trail)).map(([name, spec]) => ({
    name: `--${name}`,
    summary: spec.summary,
    takesValue: spec.type !== "boolean",
    choices: spec.choices ?? [],
  }));
  return [
    { trail: nameOf(trail), words: wordsAt(trail), flags },
    ...subcommands.flatMap((entry) => placesBelow([...trail, entry])),
  ];
}

function wordsAt(trail: readonly Command[]): Place["words"] {
  const { name, args = [], subcommands } = trail.at(-1) ?? {};
  // The arguments of help are verbs.
  const commands = name === "help" ? trail[0]?.subcommands : subcommands;
  if (commands !== undefined) return commands.map((entry) => ({ name: entry.name, summary: entry.summary }));
  return args.flatMap((arg) => (arg.choices ?? []).map((choice) => ({ name: choice, summary: arg.summary })));
}
