/** How a search was answered, for people: plans, then the first messages with what each arm gave them. Pure. */
import type { SearchExplanation } from "../wire/index.ts";

type VectorsUsed = SearchExplanation["vectors"];

export function explanationText({ plan, vectors, ranked }: SearchExplanation): string {
  const lines = ranked.map(({ session_id, message_id, score, arms }) =>
    [score, arms?.words, arms?.vectors, arms?.fused]
      .map((each) => (each === undefined ? "" : each.toFixed(3)).padEnd(8))
      .concat(`${session_id} ${message_id}`)
      .join(""),
  );
  const head = ["score", "words", "vectors", "fused"].map((name) => name.padEnd(8)).join("");
  return [plan, "", `vectors: ${vectorsLine(vectors)}`, `${head}session and message`, ...lines].join("\n");
}

/** What vectors had to do with an answer, in a few words. */
export function vectorsLine({ state, model = "", missing = 0, reason = "" }: VectorsUsed): string {
  if (state === "used") return missing === 0 ? model : `${model}; ${missing} messages have none yet`;
  return state === "failed" ? `not used: ${reason}` : STATES[state];
}

const STATES: Readonly<Record<"off" | "none" | "unusable" | "name", string>> = {
  off: "off, no model is configured",
  none: "not used, nothing is embedded under the configured model",
  name: "not used, the query is a name, which words find",
  unusable: "not used, the model can make nothing of the query",
};
