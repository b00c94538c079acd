/** Commands of pond about one thing, as people paste them. Pure. */
import { argumentWords, optionWords, shellLine } from "../../base/shell.ts";

/**
 * A command of pond about one session (or one message, one path), as people paste it. `options` is text of flags that is
 * quoted already, so that it may have places to fill in; they come first where the argument would be taken for a flag.
 */
export function pondCommand(verb: string, argument: string, options = ""): string {
  const flags = options === "" ? "" : ` ${options}`;
  const words = shellLine(argumentWords(argument));
  return argument.startsWith("-") ? `pond ${verb}${flags} ${words}` : `pond ${verb} ${words}${flags}`;
}

/** For a folder that a session recorded, to be given one of this machine. */
export function mapPathOption(recorded: string): string {
  return `${shellLine(optionWords("--map-path", recorded))}=<the folder here>`;
}
