/** What people read of a restore besides its files: how large it is for a model, and what it lost. */
import { optionWords, shellLine } from "../../base/shell.ts";
import type { RestoreReport } from "../../wire/restore.ts";
import { worded } from "./next-step.ts";
import { count } from "./number.ts";

/** One line: the size, and what to do where a usual window is too small for it. */
export function tokenLine(report: Pick<RestoreReport, "tokens" | "to" | "fidelity">): string {
  const { windows, origin, is_sealed } = report.tokens;
  const exceeded = windows.findLast(({ is_exceeded }) => is_exceeded);
  if (exceeded === undefined) return sizeLine(report);
  const larger = "a model with a larger context window";
  const fix =
    report.fidelity === "native"
      ? `resume it with ${larger}, or compact it first (/compact)`
      : origin === undefined
        ? `resume it with ${larger}`
        : is_sealed === true
          ? `resume it in ${origin}, or here with ${larger}`
          : `compact it in ${origin} (/compact), run pond sync and restore it again, or resume it with ${larger}`;
  return `${sizeLine(report)}: too large for a context window of ${count(exceeded.tokens)} in ${report.to}; ${fix}`;
}

/** Whose model: the one of the client that it is restored into; what another one was sent is told apart. */
function sizeLine({ tokens, fidelity, to }: Pick<RestoreReport, "tokens" | "fidelity" | "to">): string {
  const { estimated, recorded, is_sealed, origin } = tokens;
  if (fidelity === "native" && recorded !== undefined && origin !== undefined)
    return `the model in ${to} is sent about ${count(recorded)} tokens (as ${origin} recorded)`;
  const known =
    recorded === undefined || origin === undefined
      ? ""
      : `; the model in ${origin} was sent ${count(recorded)}`;
  const sealed =
    is_sealed === true ? ", because only its provider can read the summary of its compaction" : "";
  return `the model in ${to} is sent about ${count(estimated)} tokens of this session (estimated${known})${sealed}`;
}

/** Of a dry run: why the same without it would write nothing, and what to do instead. */
export function refusedLines(
  { refused }: Pick<RestoreReport, "refused">,
  what: "restore" | "resume",
): readonly string[] {
  if (refused === undefined) return [];
  return [`a ${what} would be refused: ${worded(refused.message)}`, `fix: ${worded(refused.hint)}`];
}

/** Of paths that were mapped to what is not there, but for where the client is started, which is told by itself. */
export function missingFolders({ missing_map_paths: folders, resume }: RestoreReport): readonly string[] {
  const isReported = (folder: string): boolean =>
    resume.is_directory_missing === true && `${resume.directory}/`.startsWith(`${folder}/`);
  return folders
    .filter((folder) => !isReported(folder))
    .map((folder) => `note: ${folder}, to which paths are mapped, is not on this machine: create it`);
}

/** Of a rule that changed nothing: mostly a slip in the folder that the session recorded. */
export function unusedRules({ unused_map_paths: rules, resume }: RestoreReport): readonly string[] {
  const recorded = resume.recorded_directory ?? resume.directory;
  return rules.map(
    (rule) =>
      `note: ${shellLine(optionWords("--map-path", rule))} matches no folder that the session recorded; it worked in ${recorded}`,
  );
}

/** What the model loses, then what only the record loses. */
export function lossLines({ losses }: Pick<RestoreReport, "losses">): readonly string[] {
  return [
    ...lossesOf(losses, "model", "lost to the model in the new client:"),
    ...lossesOf(losses, "record", "left out, and never sent to the model:"),
  ];
}

function lossesOf(
  losses: RestoreReport["losses"],
  affects: "model" | "record",
  heading: string,
): readonly string[] {
  const own = losses.filter((loss) => loss.affects === affects);
  return own.length === 0
    ? []
    : [heading, ...own.map(({ what, why, count: n }) => `  ${count(n)} x ${what}: ${why}`)];
}
