/** A handler's context from a verb's: the settings in force, the machine, Ctrl-C. */
import type { Context, ContextOptions } from "../../handlers/index.ts";
import { createContext } from "../../handlers/index.ts";
import type { VerbContext } from "./command.ts";

/** `await using context = await openContext(verb)`: the store closes with the verb. */
export async function openContext({
  config,
  env,
  out,
  signal,
}: Pick<VerbContext, "config" | "env" | "out" | "signal">): Promise<Context> {
  const onRepair: ContextOptions["onRepair"] = ({ kind, message }) =>
    out.note(
      kind === "index"
        ? `note: ${message} had lost files; it was rebuilt`
        : `note: the store was damaged by a crash and went back to its last intact version (${message}); pond sync reads every source again`,
    );
  const onTightened = (folder: string): void =>
    out.note(`note: ${folder} was readable by other users of this machine; it is private now`);
  return createContext({ config: await config(), machine: env, signal, onRepair, onTightened });
}
