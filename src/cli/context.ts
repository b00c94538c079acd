/** A handler's context from a verb's: the settings in force, the machine, Ctrl-C. */
import type { Context } from "../handlers/index.ts";
import { createContext } from "../handlers/index.ts";
import type { VerbContext } from "./command.ts";

/** `await using context = await openContext(verb)`: the store closes with the verb. */
export async function openContext({
  config,
  env,
  signal,
}: Pick<VerbContext, "config" | "env" | "signal">): Promise<Context> {
  return createContext({ config: await config(), machine: env, signal });
}
