/**
 * What parts of any client mean to another one (spec.md#adapter-restore): which injected text the conversation leans on,
 * what stands for the history before it, and calls within the bounds that every provider takes.
 */
import type { LossReport } from "./losses.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject, tryParseJson } from "../../../base/json/json.ts";
import type { Message, Part } from "../../../model/index.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { openJson } from "../../../model/index.ts";
import { pondFacts, withFacts } from "../../../model/derived/index.ts";
import { valueHash } from "../../../base/json/value-hash.ts";

export type CallPart = Extract<Part, { type: "tool_call" }>;
export type FilePart = Extract<Part, { type: "file" }>;

/** What pond itself put into a session, of a kind that nobody noted. */
const RESTORED = "restored";

/**
 * Injected text that the model of the conversation knew and leans on: what people's commands and skills expanded to, what
 * agents in the background, other sessions and checks of a change reported, what hooks and extensions said. Other clients'
 * notes to their own model stay behind: instructions, surroundings, permissions and reminders are each client's own, and
 * made anew. `synthetic` is what opencode and its plugins put into a prompt without saying why: comments, resources, reports.
 */
const CARRIED: ReadonlySet<string> = new Set([
  "agent",
  "agent-message",
  "branch-summary",
  "channel",
  "ci",
  "command",
  "extension",
  "external-context",
  "file",
  "fork",
  "hook",
  "ide",
  "interruption",
  "meta",
  "notice",
  "plan",
  RESTORED,
  "review",
  "schedule",
  "shell",
  "skill",
  "subagent-notification",
  "synthetic",
  "task-notification",
  "teammate",
]);

const SUMMARY = "compaction-summary";

/** The kind of an injected part; undefined for the conversation. */
export function injectedKind(part: Part): string | undefined {
  if (part.provenance === "conversational") return undefined;
  const { injected = "" } = pondFacts(part.options);
  return injected === "" ? "context" : injected;
}

/** True for what people said and for what it leans on. */
export function isCarried(kind: string | undefined): boolean {
  return kind === undefined || CARRIED.has(kind);
}

/** What the model said, also where its client takes for its own what pond restored. */
export function isAnswer(part: Part): boolean {
  const kind = injectedKind(part);
  return kind === undefined || kind === RESTORED;
}

/**
 * The parts of a message that pond restored into the session's client: that was handed only what goes along, and sent it to its
 * model. So it all goes along again, whatever it looks like there.
 */
export function asHandedOver({ message, parts }: MessageWithParts): MessageWithParts {
  if (typeof pondFacts(message.options).restored !== "object") return { message, parts };
  return { message, parts: parts.map(asCarried) };
}

function asCarried(part: Part): Part {
  const kind = injectedKind(part);
  if (part.type !== "text" || isCarried(kind) || kind === SUMMARY) return part;
  return { ...part, options: withFacts(part.options, { injected: RESTORED }) };
}

/** A note that stays behind. One without text is a record that no model was sent. */
export function loseNote(part: Part, losses: LossReport): void {
  const isSaid = part.type !== "text" || (part.text ?? "").trim() !== "";
  if (!isSaid) return losses.add("bookkeeping record", "not part of the conversation", part);
  const kind = injectedKind(part) ?? "context";
  if (kind === "ignored")
    return losses.add("text kept from the model", "its own client shows it, but does not send it", part);
  losses.add("note from its client", `${kind}, meant for that client only`, part);
}

/** A file beside what the model said; a tool may have attached it to its result (opencode). */
export function loseFile(part: FilePart, client: string, losses: LossReport): void {
  const isAttached = injectedKind(part) === "attachment";
  if (isAttached) losses.add("file in a tool result", `${client} takes only pictures there`, part);
  else losses.add("file in an answer", `${client} keeps none`, part);
}

/** What no model was sent, or had no longer; a text that one was sent is an instruction (`ModelContext.instructions`). */
export function countSystem(message: Extract<Message, { role: "system" }>, losses: LossReport): void {
  if (message.content === "") losses.add("bookkeeping record", "not part of the conversation");
  else losses.add("system message", "its model was never sent it, or no longer had it");
}

/** The text of a summary that stands for the history before it; some clients write it as a turn of their model. */
export function compactionSummary(parts: readonly Part[], losses: LossReport): string | undefined {
  const texts: string[] = [];
  const others: Part[] = [];
  for (const part of parts) {
    if (part.type === "text" && injectedKind(part) === SUMMARY) texts.push(part.text ?? "");
    else if (part.type !== "text" || (part.text ?? "") !== "") others.push(part);
  }
  if (texts.length === 0) return undefined;
  for (const part of others)
    losses.add(
      part.type === "reasoning" ? "reasoning" : "text beside a summary",
      "of a summary only the text is kept",
      part,
    );
  return texts.join("");
}

/** The id that pairs a call with its result; derived where the source gave none. */
export function callId(call: CallPart): string {
  if (call.call_id !== undefined && call.call_id !== "") return call.call_id;
  return `call_${valueHash([call.session_id, call.message_id, call.id]).slice(0, 24)}`;
}

/** Within the alphabet that every provider takes, and with no more than `most` characters. */
export function toolName({ name }: CallPart, most = 64): string {
  const safe = (name ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, most);
  return safe === "" ? "tool" : safe;
}

/** Always an object: some clients write arguments as JSON text, or take no object at all. */
export function callInput({ params }: CallPart): JsonObject {
  const value = params === undefined ? {} : openJson(params);
  if (isJsonObject(value)) return value;
  const parsed = typeof value === "string" ? tryParseJson(value) : undefined;
  return parsed?.kind === "value" && isJsonObject(parsed.value) ? parsed.value : { input: value };
}

/** The address of a file: of its content where it is at hand and its type is known. */
export function fileUrl({ data, media_type }: FilePart): string | undefined {
  if (data.kind === "url") return data.value;
  const text = data.kind === "string" ? data.value : Buffer.from(data.value).toString("base64");
  if (parseDataUrl(text) !== undefined) return text;
  return media_type === undefined ? undefined : dataUrl(media_type, text);
}

export function dataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`;
}

/** What a `data:` address holds; undefined for any other. */
export function parseDataUrl(
  url: string,
): { readonly mediaType: string; readonly base64: string } | undefined {
  const found = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url);
  if (found?.[1] === undefined) return undefined;
  return { mediaType: found[1], base64: url.slice(found[0].length) };
}
