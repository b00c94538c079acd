/** Reports as `--json` prints them: what they advise in the words of the command line, and its next steps as data. Pure. */
import type { Finding } from "../../wire/health.ts";
import type { RestoreReport } from "../../wire/restore.ts";
import type { LostReport } from "../../wire/verify.ts";
import { nextSteps, worded } from "../terminal/next-step.ts";

export function wordedFinding(finding: Finding): object {
  const { fix } = finding;
  return fix === undefined ? finding : { ...finding, fix: worded(fix), ...nextSteps(fix) };
}

/** Of a report of what is stored, or of sources: what is lost. */
export function wordedLoss(report: { readonly lost?: LostReport }): object {
  const { lost } = report;
  if (lost === undefined) return report;
  return { ...report, lost: { ...lost, fix: worded(lost.fix), ...nextSteps(lost.fix) } };
}

/** Of a dry run: why the restore would be refused. */
export function wordedRefusal(report: RestoreReport): object {
  const { refused } = report;
  if (refused === undefined) return report;
  const { message, hint } = refused;
  const words = { message: worded(message), hint: worded(hint), ...nextSteps(hint) };
  return { ...report, refused: { ...refused, ...words } };
}
