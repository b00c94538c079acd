/** `pond help [verb]`: the same text as `pond <verb> --help`. */
import type { VerbContext } from "./command/command.ts";
import type { Outcome } from "./terminal/exit.ts";
import { showHelp } from "./command/help.ts";
import { unknownCommand } from "./command/parse.ts";
import { ROOT } from "./verbs.ts";

export async function help({ args, out }: VerbContext): Promise<Outcome> {
  const trail = [ROOT];
  for (const word of args) {
    const found = trail.at(-1)?.subcommands?.find((entry) => entry.name === word);
    if (found === undefined) throw unknownCommand(trail, word);
    trail.push(found);
  }
  showHelp(trail, out);
  return "done";
}
