/** The tool calls of a rollout, for their outputs: what each call was named, and whether an event said that it failed. */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Extracted } from "../../../model/index.ts";
import { DigestMap } from "../../kit/session/index.ts";
import { extractBoolean, extractName, extractString, field } from "../../kit/extract/index.ts";
import { printedFailure, recordedOutcome } from "./failures.ts";
import type { RolloutRecord } from "./record.ts";

export class Calls {
  readonly #names: DigestMap<Extracted<string>>;
  readonly #outcomes: DigestMap<Extracted<boolean>>;

  /** `before` is what `state` said of the calls before. */
  constructor(before?: JsonObject) {
    this.#names = new DigestMap(
      before && { state: field(before, "names"), valueOf: (group) => extractString(group, "value") },
    );
    this.#outcomes = new DigestMap(
      before && { state: field(before, "outcomes"), valueOf: (group) => extractBoolean(group, "value") },
    );
  }

  state(): JsonObject {
    return { names: this.#names.state(), outcomes: this.#outcomes.state() };
  }

  noteCall(view: RolloutRecord): void {
    const callId = field(view.item, "call_id");
    if (typeof callId !== "string" || view.itemType.endsWith("output")) return;
    const name = extractName(view.item, "name") ?? extractName(view.item, "type");
    if (name !== undefined) this.#names.set(callId, name);
  }

  noteOutcome(view: RolloutRecord): void {
    if (view.isResponseItem) return;
    const outcome = recordedOutcome(view);
    if (outcome !== undefined) this.#outcomes.set(outcome.callId, outcome.failure);
  }

  nameOf(callId: string): Extracted<string> | undefined {
    return this.#names.get(callId);
  }

  failureOf(output: JsonObject): Extracted<boolean> | undefined {
    const callId = field(output, "call_id");
    const recorded = typeof callId === "string" ? this.#outcomes.get(callId) : undefined;
    if (recorded !== undefined) return recorded;
    const printed = field(output, "output");
    return typeof printed === "string" ? printedFailure(printed) : undefined;
  }
}
