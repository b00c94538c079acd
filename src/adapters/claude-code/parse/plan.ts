/**
 * An accepted plan as Claude Code hands it to a fresh context: a heading, the plan that the model wrote, hints of the
 * harness, and what the person added when accepting it. The record holds the plan once more (`planContent`), which
 * says where it ends (docs/adapters/claude-code.md#provenance).
 */
import type { TextSpan } from "../../kit/session/index.ts";

const HEADING = "Implement the following plan:\n\n";
const TRANSCRIPT =
  "If you need specific details from before exiting plan mode (like exact code snippets, error messages, or content you generated), read the full transcript at: ";

/** Hints behind a plan, in this order; each goes to the end of its line. */
const HINTS: readonly string[] = [
  'IMPORTANT: When you have finished implementing the plan, you MUST call the "VerifyPlanExecution" tool directly',
  TRANSCRIPT,
  "If this plan can be broken down into multiple independent tasks, consider ",
];

const FEEDBACK = "\n\nUser feedback on this plan: ";

/** The spans of a text that hands over a plan, else undefined. `plan` is what the record says the plan is. */
export function planSpans(text: string, plan: string | undefined): readonly TextSpan[] | undefined {
  if (!text.startsWith(HEADING)) return undefined;
  const end = endOfPlan(text, plan);
  const hints = endOfHints(text, end ?? text.length);
  const hasFeedback = text.startsWith(FEEDBACK, hints);
  const tail = hasFeedback ? hints + FEEDBACK.length : hints;
  const spans: TextSpan[] = [
    { start: 0, end: HEADING.length, injected: "plan" },
    // Without the record's word or a hint it may be anybody's.
    {
      start: HEADING.length,
      end: end ?? text.length,
      author: end === undefined ? "unknown" : "model",
    },
    { start: end ?? text.length, end: tail, injected: "plan" },
    { start: tail, end: text.length, ...(hasFeedback ? { author: "person" as const } : {}) },
  ];
  return spans.filter(({ start, end: to }) => start < to);
}

function endOfPlan(text: string, plan: string | undefined): number | undefined {
  if (plan !== undefined && text.startsWith(plan, HEADING.length)) return HEADING.length + plan.length;
  const hint = text.lastIndexOf(`\n\n${TRANSCRIPT}`);
  return hint < HEADING.length ? undefined : hint;
}

function endOfHints(text: string, from: number): number {
  let at = from;
  for (const hint of HINTS) {
    if (!text.startsWith(`\n\n${hint}`, at)) continue;
    const line = text.indexOf("\n", at + 2);
    at = line === -1 ? text.length : line;
  }
  return at;
}
