/** `pond restore`: a stored session back into a client, and how to go on with it there. */
import { optionWords, shellLine } from "../../base/shell.ts";
import { resolveRestorable, restore as runRestore } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { count, counted, size } from "../terminal/number.ts";
import {
  lossLines,
  missingFolders,
  refusedLines,
  tokenLine,
  unusedRules,
} from "../terminal/restore-lines.ts";
import { stateRequest } from "../command/restore-request.ts";
import { wordedRefusal } from "../command/report-words.ts";
import { safeLine } from "../terminal/text.ts";
import type { restoreFlags } from "../command/verb-flags.ts";
import type { RestoreReport } from "../../wire/restore.ts";
import { mapPathOption, pondCommand } from "../terminal/pond-command.ts";

export async function restore(verb: VerbContext<typeof restoreFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const report = await runRestore(context, {
    session_id: await resolveRestorable(context, args[0] ?? ""),
    map_paths: flags["map-path"],
    dry_run: flags["dry-run"],
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(flags.out === undefined ? {} : { out: flags.out }),
    ...stateRequest(flags),
  });
  // Names and folders come from the session: they are shown, they do not steer the terminal.
  out.result(wordedRefusal(report), () => render(report).map(safeLine).join("\n"));
  for (const line of [...unusedRules(report), ...missingFolders(report)]) out.note(safeLine(line));
  return report.refused === undefined ? "done" : "failures";
}

function render(report: RestoreReport): readonly string[] {
  const { command, copy_to, directory, is_directory_missing, in_the_way: inTheWay = [] } = report.resume;
  const { recorded_directory: recorded = directory } = report.resume;
  return [
    ...refusedLines(report, "restore"),
    ...(report.dry_run === true ? planned(report) : written(report)),
    ...unproven(report),
    ...otherStates(report),
    ...lossLines(report),
    tokenLine(report),
    ...(report.deleted_after_days === undefined
      ? []
      : [
          `dated today: ${report.to} deletes sessions that are older than ${counted(report.deleted_after_days, "day")}`,
        ]),
    ...inTheWay.slice(0, 1).map((path) => {
      const more = inTheWay.length === 1 ? "" : ` (and ${count(inTheWay.length - 1)} more)`;
      return `in the way: ${path}${more}: run pond sync, then move it away before you copy, or what was added to it since is lost`;
    }),
    ...(is_directory_missing === true
      ? [`${directory} is not on this machine: create it, or ${again(report, recorded)}`]
      : []),
    ...(report.is_unrecorded === true
      ? [
          "the store could not be written to, so this restore is not recorded: the next sync will import it as a separate session",
        ]
      : []),
    ...(copy_to === undefined
      ? []
      : [`before it can be resumed, copy what is in ${report.out} into ${copy_to}`]),
    `resume with: ${command}`,
  ];
}

/**
 * The command for a folder of this machine. What its own client has now is opened there as it is; anything else is written
 * once more, and as nothing is overwritten, what was written has to go first.
 */
function again(report: RestoreReport, recorded: string): string {
  const { dry_run, fidelity, resume, session_id, to, state } = report;
  const isOpened = dry_run !== true && fidelity === "native" && resume.copy_to === undefined;
  if (isOpened && !isChosen(state))
    return `run ${pondCommand("resume", session_id, mapPathOption(recorded))}`;
  const before = dry_run === true ? "run" : "move the written files away and run";
  const chosen = isChosen(state)
    ? [...optionWords("--source", state.source), "--state", String(state.state)]
    : [];
  const options = `${shellLine(["--to", to, ...chosen])} ${mapPathOption(recorded)}`;
  return `${before} ${pondCommand("restore", session_id, options)}`;
}

/** Not what a restore takes by itself. */
const isChosen = (state: RestoreReport["state"]): state is NonNullable<RestoreReport["state"]> =>
  state !== undefined && (state.end !== 1 || state.state !== state.states.at(-1));

function written({ files, sessions, to, fidelity }: RestoreReport): readonly string[] {
  const kept = files.filter((file) => file.kept).length;
  return [
    `restored ${counted(sessions, "session")} into ${to} (${fidelity}): ${counted(files.length, "file")}, ${size(bytesOf(files))}, read back equal` +
      (kept === 0 ? "" : `, ${count(kept)} of them already there`),
    ...files.map(({ path }) => `  ${path}`),
  ];
}

/** Of a dry run: each file with its size, and what is there already. */
function planned({ files, sessions, to, fidelity }: RestoreReport): readonly string[] {
  return [
    `would restore ${counted(sessions, "session")} into ${to} (${fidelity}): ${counted(files.length, "file")}, ${size(bytesOf(files))}; nothing was written`,
    ...files.map(({ path, bytes, kept, is_in_the_way }) => {
      const state = kept
        ? ", already there"
        : is_in_the_way === true
          ? ", in the way: it exists with other content"
          : "";
      return `  ${path} (${size(bytes)}${state})`;
    }),
  ];
}

const bytesOf = (files: RestoreReport["files"]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** What nothing proves to be as it was read: one line a reason. */
function unproven({ unproven: all }: RestoreReport): readonly string[] {
  return [...Map.groupBy(all, ({ why }) => why)].map(([why, sessions]) => {
    const [first, ...others] = sessions.map(({ session_id }) => session_id);
    const more = others.length === 0 ? "" : ` and ${count(others.length)} more`;
    return `not proven: ${why} (session ${first}${more})`;
  });
}

/** Where a session went more than one way, or was more than it is now, people should know what they have and what else there is. */
function otherStates({ session_id, state }: RestoreReport): readonly string[] {
  if (state === undefined) return [];
  const { end, ends, state: number, states, path, mapped_paths: isMapped } = state;
  const mapped = isMapped === true ? ", which pond restored with mapped paths and its client continued" : "";
  const from = `as it was read from ${path}${mapped}`;
  if (ends > 1 && end !== undefined)
    return [
      `this is end ${end} of ${ends}, ${from}; for others: ${pondCommand("restore", session_id, `--end <1 to ${ends}>`)}`,
    ];
  if (states.length < 2) return [];
  const which = number === states.at(-1) ? "the newest" : "an earlier one";
  const choice = ends > 1 ? `${shellLine(optionWords("--source", state.source))} --state` : "--state";
  const others = `${choice} <${states[0]} to ${states.at(-1)}>`;
  return [
    `this is state ${number}, ${which}, ${from}; for others: ${pondCommand("restore", session_id, others)}, and ${pondCommand("get", session_id, "--history")} lists them`,
  ];
}
