/** `pond repair`: what was damaged, what was done about it, and what is still wrong. */
import type { FileDamage, RepairReport } from "../../handlers/index.ts";
import { repair as runRepair } from "../../handlers/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { count } from "../number.ts";
import { safeText } from "../text.ts";

export async function repair(verb: VerbContext): Promise<Outcome> {
  const { out } = verb;
  await using context = await openContext(verb);
  const report = await runRepair(context, { onStep: (step) => out.progress(step) });
  out.progress(undefined);
  out.result(report, () => render(report).join("\n"));
  return isWhole(report) ? "done" : "failures";
}

const isWhole = ({ left, stored }: RepairReport): boolean =>
  left.length === 0 && stored.clients.every(({ unequal }) => unequal === 0);

function render(report: RepairReport): string[] {
  const { damage, done, rows, left, stored } = report;
  if (damage.length === 0 && done.length === 0 && isWhole(report))
    return [
      "nothing is damaged: every file is as it was written, and every recorded state restores as it was read",
    ];
  const unrecorded = stored.clients.reduce((sum, client) => sum + client.unrecorded, 0);
  const differences = stored.clients.flatMap((client) => client.differences);
  return [
    `${count(damage.length)} damaged ${damage.length === 1 ? "file" : "files"}`,
    ...damage.map((each) => `  ${damageLine(each)}`),
    ...done.map((line) => `done: ${safeText(line)}`),
    ...(rows.taken_out === 0
      ? []
      : [
          `${count(rows.taken_out)} rows were in damaged files: ${count(rows.proven)} are proven and back, ${count(rows.read_again)} were read again from their sources, ${count(rows.put_back)} are in no source any more and back as they could be read`,
        ]),
    ...(rows.left_out === 0
      ? []
      : [
          `${count(rows.left_out)} rows with a damaged key were left out: the sessions that they name are whole without them, or there is none`,
        ]),
    ...(unrecorded === 0
      ? []
      : [`sessions without a recorded state, which nothing proves: ${count(unrecorded)}`]),
    ...(isWhole(report)
      ? ["every recorded state restores as it was read"]
      : [
          ...left.map((each) => `still damaged: ${damageLine(each)}`),
          ...differences.map((line) => `still wrong: ${safeText(line)}`),
          "no source on this machine has what is still wrong: put a backup of the source in its place and sync, or a backup of the store",
        ]),
  ];
}

export function damageLine({ table, file, what, holds, is_old }: FileDamage): string {
  return `${table}.lance${file === "" ? "" : `/${safeText(file)}`}: ${what} (${holds}${is_old ? ", of an old version" : ""})`;
}
