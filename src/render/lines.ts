/** Lines that all transcripts have: the rule before a message, what is shown for a part, a time. Pure. */
import type { PartSummary, RowState } from "../wire/index.ts";
import type { Phrasing } from "./phrasing.ts";

/** What is said of a row that is not in the newest end of its session. */
export const STATES: Readonly<Record<RowState, string>> = {
  superseded: "superseded",
  removed: "removed",
  other_end: "in another end",
};

export function summaryLine(
  { kind, label = "", call_id, is_failure }: PartSummary,
  { line }: Phrasing,
): string {
  const call = call_id === undefined ? "" : ` [${line(call_id)}]`;
  if (kind === "tool_call") return `  -> ${line(label)}${call}`;
  if (kind === "tool_result") return `  <- ${line(label)}${call}${is_failure === true ? " (failed)" : ""}`;
  return `  [${[kind.replaceAll("_", " "), line(label)].filter(Boolean).join(" ")}]`;
}

const RULE_WIDTH = 72;

export function rule(inner: string, { line, faint, width = RULE_WIDTH }: Phrasing): string {
  const head = `--- ${line(inner)} `;
  return faint(head.padEnd(Math.max(Math.min(width, RULE_WIDTH), head.length + 3), "-"));
}

/** To the second, the zone said. */
export function timeOf(timestamp: string): string {
  return `${timestamp.replace("T", " ").slice(0, 19)}Z`;
}
