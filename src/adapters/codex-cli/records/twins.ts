/**
 * Codex writes what people and the agent say twice: as a `response_item` for the model and as an event for the
 * screen (spec.md#adapter-twins). The item is the message, the event beside it a carrier that names it.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { arrayField, field, objectField } from "../../kit/extract/index.ts";
import { valueHash } from "../../kit/files/index.ts";
import type { RolloutRecord } from "./record.ts";

/** A record that repeats, for the screen, what one side said. */
export interface ScreenText {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** False where the event itself says that nobody typed it (clients of autumn 2025). */
  readonly typed: boolean;
}

/** The text of an event that shows a user's or the agent's message; undefined for every other record. */
export function screenText(view: RolloutRecord): ScreenText | undefined {
  if (view.kind === "event_msg/user_message" || view.kind === "event_msg/agent_message") {
    const text = field(view.item, "message");
    if (typeof text !== "string") return undefined;
    const kind = field(view.item, "kind");
    const typed = typeof kind !== "string" || kind === "plain";
    return { role: view.itemType === "user_message" ? "user" : "assistant", text, typed };
  }
  if (view.kind !== "event_msg/item_completed") return undefined;
  const item = objectField(view.item, "item");
  const type = item === undefined ? undefined : field(item, "type");
  if (item === undefined || (type !== "UserMessage" && type !== "AgentMessage")) return undefined;
  const text = textOf(item);
  return text === undefined
    ? undefined
    : { role: type === "UserMessage" ? "user" : "assistant", text, typed: true };
}

/** A message item of either side with its text; undefined for every other record. */
export function spokenText(
  view: RolloutRecord,
): { readonly role: string; readonly text: string } | undefined {
  if (!view.isResponseItem || view.itemType !== "message") return undefined;
  const role = field(view.item, "role");
  if (role !== "user" && role !== "assistant") return undefined;
  const text = textOf(view.item);
  return text === undefined ? undefined : { role, text };
}

/** True when the event shows this message, whole or the part of it that was typed. */
export function isTwin(
  screen: ScreenText,
  spoken: { readonly role: string; readonly text: string },
): boolean {
  if (screen.role !== spoken.role) return false;
  if (screen.text === spoken.text) return true;
  return screen.role === "user" && screen.text !== "" && spoken.text.includes(screen.text);
}

/** The text blocks of a message in one; undefined when it has no list of blocks. */
function textOf(item: JsonObject): string | undefined {
  const content = arrayField(item, "content");
  if (content === undefined) return undefined;
  let text = "";
  for (const block of content) {
    const piece = isJsonObject(block) ? field(block, "text") : undefined;
    if (typeof piece === "string") text += piece;
  }
  return text;
}

/**
 * The version of a record that is told as the twin of another: where that one is gone, the same record is the message
 * (spec.md#storage-versions).
 */
export function twinVersion(hash: string): string {
  return valueHash([hash, "twin"]);
}
