/**
 * Where turns begin, for `thread_rolled_back`: it names no record, only how many of the last turns are taken back. They are
 * counted as the client counts them when it resumes (`drop_last_n_user_turns` at 343074d, August 2026): by the user's messages that are
 * no context of its own, and what it told the model right before such a message goes with it.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { arrayField, extractName, extractString, field, integerField } from "../../kit/extract/index.ts";
import { injectedKind } from "./provenance.ts";
import type { RolloutRecord } from "./record.ts";

/** Kinds of text in a user's place with which no turn begins. */
const CONTEXT: ReadonlySet<string> = new Set([
  "environment-context",
  "external-context",
  "goal",
  "hook",
  "instructions",
  "interruption",
  "plugins",
  "shell",
  "skill",
  "subagent-notification",
  "warning",
]);

/** What the client tells its model anew before a turn. */
const INSTRUCTIONS =
  /^\s*(?:<(?:permissions instructions|model_switch|managed_developer_instructions|apps_instructions|collaboration_mode|multi_agent_role|multi_agent_mode|environments_instructions|git_attribution|plugins_instructions|realtime_conversation|skills_instructions|tools|personality_spec|token_budget|context_window|context_window_guidance|rollout_budget)>|Approved command prefix saved:)/i;

/** Records that open a turn. */
const OPENINGS: ReadonlySet<string> = new Set([
  "event_msg/task_started",
  "event_msg/turn_started",
  "turn_context",
]);

type Place = string | null;

export class Turns {
  /** Of each turn that counts the record that it follows; null at the start of the log. */
  readonly #starts: Place[];
  /** The last record that does not go with a turn behind it. */
  #last: Place;
  #previous: Place;
  /** True when what was written since belongs to a turn whose message is still to come. */
  #isOpening: boolean;

  /** `before` is what `state` said of the records before. */
  constructor(before: JsonObject = {}) {
    this.#starts = (arrayField(before, "starts") ?? []).map((start) =>
      typeof start === "string" ? start : null,
    );
    this.#last = extractName(before, "last") ?? null;
    this.#previous = extractName(before, "previous") ?? null;
    this.#isOpening = field(before, "is_opening") === true;
  }

  state(): JsonObject {
    return {
      starts: [...this.#starts],
      last: this.#last,
      previous: this.#previous,
      is_opening: this.#isOpening,
    };
  }

  /** The record that the thread goes on from, where this one takes turns back. */
  pass(view: RolloutRecord | undefined, id: string): Place | undefined {
    const leaf = view?.kind === "event_msg/thread_rolled_back" ? this.#takeBack(view.item) : undefined;
    const place = view === undefined ? "beside" : placeOf(view);
    if (place === "start") this.#starts.push(this.#starts.length === 0 ? this.#previous : this.#last);
    if (place === "opening") this.#isOpening = true;
    else if (place !== "beside" || !this.#isOpening) {
      this.#last = id;
      this.#isOpening = false;
    }
    this.#previous = id;
    return leaf;
  }

  #takeBack(item: JsonObject): Place | undefined {
    const count = integerField(item, "num_turns") ?? 0;
    if (count <= 0 || this.#starts.length === 0) return undefined;
    this.#isOpening = false;
    return this.#starts.splice(Math.max(0, this.#starts.length - count))[0];
  }
}

/** What a record is to the turn around it. */
function placeOf(view: RolloutRecord): "start" | "opening" | "within" | "beside" {
  if (OPENINGS.has(view.kind)) return "opening";
  if (view.kind === "inter_agent_communication") return "start";
  if (view.kind === "compacted") return "within";
  if (!view.isResponseItem) return "beside";
  if (view.itemType === "agent_message") return "start";
  const role = view.itemType === "message" ? extractString(view.item, "role") : undefined;
  if (role === "developer")
    return textsIn(view.item).some((text) => INSTRUCTIONS.test(text)) ? "opening" : "within";
  if (role !== "user") return "within";
  return textsIn(view.item).some(isContext) ? "opening" : "start";
}

const isContext = (text: string): boolean => CONTEXT.has(injectedKind(text) ?? "");

function textsIn(item: JsonObject): readonly string[] {
  return (arrayField(item, "content") ?? []).flatMap((block) =>
    isJsonObject(block) ? [extractString(block, "text") ?? ""] : [],
  );
}
