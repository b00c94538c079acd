/** `pond resume`: a stored session carried on in a client, which gets the terminal. */
import { PondError } from "../../base/errors.ts";
import { optionWords, shellLine } from "../../base/shell.ts";
import { resolveRestorable, restore } from "../../handlers/index.ts";
import { findCommand, startClient } from "../terminal/client.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { counted } from "../terminal/number.ts";
import { stateRequest, stateWords } from "../command/restore-request.ts";
import {
  lossLines,
  missingFolders,
  refusedLines,
  tokenLine,
  unusedRules,
} from "../terminal/restore-lines.ts";
import { wordedRefusal } from "../command/report-words.ts";
import { safeLine } from "../terminal/text.ts";
import type { resumeFlags } from "../command/verb-flags.ts";
import type { RestoreReport } from "../../wire/restore.ts";
import { mapPathOption, pondCommand } from "../terminal/pond-command.ts";

type Verb = VerbContext<typeof resumeFlags>;
type ResumeReport = RestoreReport["resume"];

export async function resume(verb: Verb): Promise<Outcome> {
  const { flags, out, env } = verb;
  const isDryRun = flags["dry-run"];
  if (flags.json && !isDryRun)
    throw new PondError("validation_failed", "--json prints a document, but a client needs the terminal", {
      hint: "add --dry-run for the command as JSON",
    });
  const report = await restored(verb);
  for (const line of notes(report)) out.note(safeLine(line));
  if (isDryRun) {
    out.result(wordedRefusal(report), () => safeLine(report.resume.command));
    return report.refused === undefined ? "done" : "failures";
  }
  out.progress(undefined);
  out.conclude();
  const { steps, directory, is_path } = report.resume;
  const exitCode = await startClient({ steps, environment: env, ...(is_path ? { directory } : {}) });
  return { exitCode };
}

/** The store is closed before the client has the terminal. */
async function restored(verb: Verb): Promise<RestoreReport> {
  const { args, flags } = verb;
  await using context = await openContext(verb);
  const request = {
    session_id: await resolveRestorable(context, args[0] ?? ""),
    map_paths: flags["map-path"],
    dry_run: flags["dry-run"],
    reuse: true,
    ...(flags.in === undefined ? {} : { to: flags.in }),
    ...stateRequest(flags),
  };
  return restore(context, request, { whyNot: (planned) => whyNot(planned, verb) });
}

/** Why the client cannot be started; undefined where it can. */
function whyNot(planned: ResumeReport, { args, env, flags }: Verb): PondError | undefined {
  const {
    command,
    directory,
    recorded_directory: recorded = directory,
    is_directory_missing,
    steps,
  } = planned;
  if (is_directory_missing === true) {
    const where = recorded === directory ? "where the session worked" : `to which ${recorded} was mapped`;
    const words = [...(flags.in === undefined ? [] : optionWords("--in", flags.in)), ...stateWords(flags)];
    const options = [...(words.length === 0 ? [] : [shellLine(words)]), mapPathOption(recorded)].join(" ");
    return new PondError("not_found", `${directory}, ${where}, is not on this machine`, {
      hint: `create it, or name the folder here: ${pondCommand("resume", args[0] ?? "", options)}`,
    });
  }
  const name = steps.at(-1)?.[0] ?? "";
  if (findCommand(name, env) !== undefined) return undefined;
  return new PondError(
    "not_found",
    `the command ${name} is not on PATH, so nothing was restored or started`,
    {
      hint: `install it, or add its folder to PATH; what would be run: ${command}`,
    },
  );
}

/** For stderr: what was done, what the model loses, how large it is, what is run. */
function notes(report: RestoreReport): readonly string[] {
  const { files, to, resume: planned } = report;
  const fresh = files.filter(({ kept }) => !kept);
  // What was restored before may have gone on there: how large it is now is not known.
  const isCopy = fresh.length === 0 && report.fidelity === "foreign";
  const inTheWay = files.filter(({ is_in_the_way }) => is_in_the_way === true);
  const would = report.dry_run === true ? "would restore" : "restored";
  return [
    ...refusedLines(report, "resume"),
    fresh.length === 0
      ? `${to} has the session already`
      : `${would} ${counted(report.sessions, "session")} into ${to} (${report.fidelity}): ${counted(fresh.length, "file")} in ${report.out}`,
    ...inTheWay.map(({ path }) => `in the way: ${path} has other content, and pond never overwrites a file`),
    ...unusedRules(report),
    ...missingFolders(report),
    ...(isCopy ? [] : lossLines({ losses: report.losses.filter(({ affects }) => affects === "model") })),
    ...(isCopy ? [] : [tokenLine(report)]),
    ...(report.dry_run === true ? [] : [`starting: ${planned.command}`]),
  ];
}
