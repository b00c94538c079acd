/** From the words of a command line to an exit code. Loads no room but what the verb needs. */
import type { Clock } from "../base/clock.ts";
import { toPondError } from "../base/errors.ts";
import type { Environment } from "../config/environment.ts";
import type { GivenSetting, LoadedConfig } from "../config/index.ts";
import { flagsOf } from "./command/command.ts";
import type { Command, VerbContext } from "./command/command.ts";
import { exitCode } from "./terminal/exit.ts";
import type { Outcome } from "./terminal/exit.ts";
import type { FlagValues, GlobalFlags } from "./command/flags.ts";
import { ClosedPipe, createOutput } from "./terminal/output.ts";
import type { Output, OutputSettings, Sinks } from "./terminal/output.ts";
import { parse } from "./command/parse.ts";
import type { Invocation } from "./command/parse.ts";
import { Interrupted } from "./terminal/signals.ts";
import { wantsColor } from "./terminal/style.ts";

/** What the process gives; a test gives its own. */
export interface Machine {
  readonly root: Command;
  readonly env: Environment;
  readonly sinks: Sinks;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export async function run(argv: readonly string[], machine: Machine): Promise<number> {
  const { env, sinks, signal } = machine;
  const invocation = parse(machine.root, argv);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parser fills in every flag of the table
  const flags = invocation.flags as FlagValues<GlobalFlags>;
  const out = createOutput(sinks, {
    json: flags.json,
    verbose: flags.verbose,
    quiet: flags.quiet,
    isDumb: env.env["TERM"] === "dumb",
    ...(machine.clock === undefined ? {} : { clock: machine.clock }),
    ...(await carriedBy(invocation, flags)),
    color: ({ isTerminal }) => wantsColor({ env: env.env, isTerminal, refused: flags["no-color"] }),
  });
  try {
    const outcome = await answer(invocation, {
      args: invocation.args,
      flags,
      out,
      signal,
      env,
      config: onDemand(invocation, env),
    });
    out.progress(undefined);
    signal.throwIfAborted();
    out.conclude();
    return exitCode({ outcome });
  } catch (error) {
    return await failed(error, out, signal);
  }
}

/** Help tells how commands are written, not what to do next. Loaded where there is a flag to tell of: a no-op has none. */
async function carriedBy(
  { trail, flags }: Invocation,
  { help, store, config }: FlagValues<GlobalFlags>,
): Promise<Pick<OutputSettings, "carried">> {
  if (help || (store === undefined && config === undefined)) return {};
  const { carriedFlags } = await import("./command/carried-flags.ts");
  return { carried: carriedFlags(trail, flags) };
}

async function answer({ trail, mistake }: Invocation, context: VerbContext): Promise<Outcome> {
  const { flags, out } = context;
  if (flags.help) return printHelp(trail, out);
  if (flags.version) {
    const { version } = await import("./version.ts");
    out.result({ version: version() }, (value) => `pond ${value.version}`);
    return "done";
  }
  if (mistake !== undefined) throw mistake;
  const command = trail.at(-1);
  return command?.run === undefined ? printHelp(trail, out) : command.run(context);
}

async function printHelp(trail: readonly Command[], out: Output): Promise<Outcome> {
  const { showHelp } = await import("./command/help.ts");
  showHelp(trail, out);
  return "done";
}

async function failed(error: unknown, out: Output, signal: AbortSignal): Promise<number> {
  if (error instanceof ClosedPipe) return exitCode({ error });
  const { reason } = signal;
  if (!(reason instanceof Interrupted)) {
    const { wordedError } = await import("./terminal/next-step.ts");
    out.error(wordedError(toPondError(error)));
    out.conclude();
    return exitCode({ error });
  }
  out.note("pond: interrupted");
  // What the interruption caused is no news; what else went wrong on the way out is, to who looks closer.
  if (error !== reason) out.detail(toPondError(error).stack ?? "");
  return exitCode({ interruptedBy: reason.by });
}

/** Reads the settings on the first call, with the flags that stand for settings on top. */
function onDemand({ trail, flags }: Invocation, environment: Environment): () => Promise<LoadedConfig> {
  let loading: Promise<LoadedConfig> | undefined;
  const load = async (): Promise<LoadedConfig> => {
    const { loadConfig } = await import("../config/index.ts");
    const given = Object.entries(flagsOf(trail)).flatMap(([name, { setting }]): GivenSetting[] => {
      const text = flags[name];
      return setting === undefined || typeof text !== "string"
        ? []
        : [{ key: setting, name: `--${name}`, text }];
    });
    const file = flags["config"];
    return loadConfig({ environment, given, file: typeof file === "string" ? file : undefined });
  };
  return () => (loading ??= load());
}
