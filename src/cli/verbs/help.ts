/** `pond help [verb]`: the same text as `pond <verb> --help`. */
import type { VerbContext } from "../command.ts";
import type { Outcome } from "../exit.ts";
import { showHelp } from "../help.ts";
import { unknownCommand } from "../parse.ts";
import { ROOT } from "../verbs.ts";

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
