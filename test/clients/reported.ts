/** What a request lacks, against what the restore reported as lost to the model: kind by kind, with counts. */
import type { Loss } from "../../src/adapters/restore.ts";
import type { Difference } from "./compare-requests.ts";
import type { Sent } from "./requests.ts";

export type Lacking = Record<Sent["kind"] | "failure", number>;

const NONE: Record<Sent["kind"], number> = { text: 0, call: 0, result: 0, image: 0, reasoning: 0 };

/** As what each loss shows in a request; a kind that is not here counts under its own name. */
const SEEN_AS: Readonly<Partial<Record<Loss["what"], keyof Lacking>>> = {
  "failure of a tool": "failure",
  "file in a prompt": "image",
  "file in a tool result": "image",
  "file in an answer": "image",
  "instructions from its client": "text",
  "middle of a long tool result": "result",
  "note from its client": "text",
  reasoning: "reasoning",
};

export function kinds(sent: readonly Sent[]): Record<Sent["kind"], number> {
  const counts = { ...NONE };
  for (const { kind } of sent) counts[kind] += 1;
  return counts;
}

/** By what two requests show. */
export function lackingIn({ missing, failures }: Pick<Difference, "missing" | "failures">): Lacking {
  return { ...kinds(missing), failure: failures.length };
}

/** By what the restore says. */
export function reportedAsLost(losses: readonly Loss[]): Record<string, number> {
  const counts: Record<string, number> = { ...NONE, failure: 0 };
  for (const { what, count, affects } of losses) {
    if (affects !== "model") continue;
    const kind = SEEN_AS[what] ?? what;
    counts[kind] = (counts[kind] ?? 0) + count;
  }
  return counts;
}
