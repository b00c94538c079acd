/** `pond repair`: what was damaged, what was done about it, and what is still wrong. */
import { repair as runRepair } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { worded } from "../terminal/next-step.ts";
import { wordedLoss } from "../command/report-words.ts";
import { count } from "../terminal/number.ts";
import { safeLine } from "../terminal/text.ts";
import type { RepairReport } from "../../wire/health.ts";
import type { FileDamage } from "../../wire/verify.ts";

export async function repair(verb: VerbContext): Promise<Outcome> {
  const { out } = verb;
  await using context = await openContext(verb);
  const report = await runRepair(context, { onStep: (step) => out.progress(step) });
  out.progress(undefined);
  for (const note of report.notes) out.note(`note: ${safeLine(worded(note))}`);
  out.result(forPrograms(report), () => render(report).join("\n"));
  return isWhole(report) ? "done" : "failures";
}

const forPrograms = ({ stored, notes, ...report }: RepairReport): object => ({
  ...report,
  stored: wordedLoss(stored),
  notes: notes.map(worded),
});

/** Losing what proves them is a failure, too, for as long as what is left of it is kept. */
const isWhole = ({ damage, left, remains, stored }: RepairReport): boolean =>
  left.length + remains.length === 0 &&
  stored.clients.every(({ unequal }) => unequal === 0) &&
  !(unrecordedIn(stored) > 0 && damage.some(({ table }) => table === "sources"));

const unrecordedIn = ({ clients }: RepairReport["stored"]): number =>
  clients.reduce((sum, { unrecorded }) => sum + unrecorded, 0);

function render(report: RepairReport): string[] {
  const { damage, unproven, done, rows, left, remains, stored } = report;
  const unrecorded = unrecordedIn(stored);
  return [
    damage.length === 0
      ? "no file is damaged"
      : `${count(damage.length)} damaged ${noun(damage.length, "file")}`,
    ...damage.map((each) => `  ${damageLine(each)}`),
    ...(unproven === 0
      ? []
      : [
          `${count(unproven)} ${noun(unproven, "file")} without a checksum from when ${unproven === 1 ? "it was" : "they were"} written: only the digests of sessions prove their content`,
        ]),
    ...done.map((line) => `done: ${safeLine(line)}`),
    ...(rows.taken_out === 0 ? [] : [rowsLine(rows)]),
    ...(rows.left_out === 0
      ? []
      : [
          rows.left_out === 1
            ? "1 row with a damaged key left out: the session that it names is complete without it, or does not exist"
            : `${count(rows.left_out)} rows with a damaged key left out: the sessions that they name are complete without them, or do not exist`,
        ]),
    ...(unrecorded === 0
      ? []
      : [`sessions without a recorded state, which nothing proves: ${count(unrecorded)}`]),
    ...(isWhole(report)
      ? ["every recorded state restores as it was read"]
      : [
          ...left.map((each) => `still damaged: ${damageLine(each)}`),
          ...stored.clients.flatMap(({ differences }) =>
            differences.map((line) => `still wrong: ${safeLine(line)}`),
          ),
          ...remains.map((path) => `kept: what is left of a lost table, in ${safeLine(path)}`),
          ...sourceLines(stored),
        ]),
  ];
}

const noun = (n: number, one: string): string => (n === 1 ? one : `${one}s`);

function rowsLine({ taken_out, proven, read_again, put_back, left_out, lost }: RepairReport["rows"]): string {
  const others = Math.max(0, taken_out - proven - read_again - put_back - left_out - lost);
  const fates = [
    [proven, "proven and stored again"],
    [read_again, "read again from their sources"],
    [put_back, "stored again as far as they could be read, since no source has them any longer"],
    [others, "of recorded states, rebuilt"],
    [lost, "lost"],
  ] as const;
  const described = fates.flatMap(([rows, what]) => (rows === 0 ? [] : [`${count(rows)} ${what}`]));
  return `rows removed: ${count(taken_out)}${described.length === 0 ? "" : ` (${described.join(", ")})`}`;
}

const MOST_SOURCES = 10;

/** Who can say again what is still wrong, and what to do then. */
export function sourceLines({ clients }: RepairReport["stored"]): string[] {
  const sources = clients.flatMap(({ unequal_sessions }) =>
    unequal_sessions.flatMap(({ session_id, sources: own }) => own.map((each) => ({ ...each, session_id }))),
  );
  const lines = sources.slice(0, MOST_SOURCES).map((source) => {
    const { session_id, path } = source;
    return `session ${safeLine(session_id)} was read from ${safeLine(path)}${fateOf(source)}`;
  });
  const more = sources.length - lines.length;
  return [
    ...lines,
    ...(more > 0 ? [`and ${count(more)} more ${noun(more, "source")}, which --json lists`] : []),
    nextStep(sources),
  ];
}

function nextStep(sources: readonly { readonly is_there: boolean }[]): string {
  const gone = sources.filter(({ is_there }) => !is_there).length;
  const backup = "put a backup of the store in place";
  if (sources.length === 0)
    return `put what they were read from back where it was and run pond repair, or ${backup}`;
  if (gone === 0) return `no source has what is missing: ${backup}, if there is one`;
  const what =
    gone === 1 ? "the one that is missing back where it was" : "those that are missing back where they were";
  const moved = "sync them from where they are now (pond sync --adapter <client> --path <folder>)";
  return `put ${what} and run pond repair, or ${moved}, or ${backup}`;
}

function fateOf({ is_there, machine }: { readonly is_there: boolean; readonly machine: string }): string {
  if (is_there) return ", which has it no longer";
  return machine === "this" ? ", which is gone" : " of another machine, whose next sync stores it again";
}

export function damageLine({ table, file, what, holds, is_old }: FileDamage): string {
  return `${table}.lance${file === "" ? "" : `/${safeLine(file)}`}: ${what} (${holds}${is_old ? ", of an old version" : ""})`;
}
