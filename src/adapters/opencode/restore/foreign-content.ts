/**
 * Canonical parts of any client as parts of opencode: text and files from people, text and tools from the model, a tool
 * with its call and its result in one. What opencode has no place for is a loss, counted by kind.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Part } from "../../../model/index.ts";
import type { CallPart, FilePart, LossReport, ResultPart } from "../../kit/foreign/index.ts";
import {
  callId,
  callInput,
  fileUrl,
  injectedKind,
  INTERRUPTED,
  isAnswer,
  isCarried,
  loseNote,
  parseDataUrl,
  resultBlocks,
  resultJson,
  toolName,
} from "../../kit/foreign/index.ts";
import { extractString, field } from "../../kit/extract/index.ts";
import { isJoined } from "../../kit/session/index.ts";
import { optional } from "../../../base/optional.ts";

/** What a person said, without ids. Injected text that is kept is marked as what it is. */
export function promptParts(parts: readonly Part[], losses: LossReport): JsonObject[] {
  const kept: JsonObject[] = [];
  for (const part of parts) {
    const kind = injectedKind(part);
    if (!isCarried(kind)) {
      loseNote(part, losses);
      continue;
    }
    const mark = kind === undefined ? {} : { synthetic: true };
    const last = kept.at(-1);
    if (part.type === "file") kept.push(...filePart(part, losses));
    if (part.type !== "text" || part.text === undefined) continue;
    const isSame = field(last ?? {}, "synthetic") === field(mark, "synthetic") && isJoined(part);
    const text = last !== undefined && isSame ? extractString(last, "text") : undefined;
    // A text that was split by who wrote it comes back as one where both halves are of one kind.
    if (text !== undefined) kept[kept.length - 1] = { ...last, text: text + part.text };
    else if (part.text.trim() !== "") kept.push({ type: "text", text: part.text, ...mark });
  }
  return kept;
}

export interface Answered {
  readonly part: ResultPart;
  readonly at: number;
}

/** What the model said, without ids; `answer` gives the result of a call. */
export function answerParts(
  parts: readonly Part[],
  answer: (call: CallPart) => Answered | undefined,
  context: { readonly losses: LossReport; readonly at: number },
): JsonObject[] {
  const { losses, at } = context;
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === "text") {
      const isSaid = isAnswer(part) && (part.text ?? "").trim() !== "";
      if (isSaid) return [{ type: "text", text: part.text ?? "", time: { start: at, end: at } }];
      if (!isAnswer(part)) loseNote(part, losses);
    } else if (part.type === "reasoning")
      losses.add("reasoning", "only the model that wrote it can verify it", part);
    else if (part.type === "tool_call") return [toolPart(part, answer(part), context)];
    else if (part.type === "file" && injectedKind(part) !== "attachment") return filePart(part, losses);
    return [];
  });
}

function toolPart(
  call: CallPart,
  answered: Answered | undefined,
  { losses, at }: { readonly losses: LossReport; readonly at: number },
): JsonObject {
  const input = callInput(call);
  const tool = { type: "tool", callID: callId(call), tool: toolName(call) };
  if (answered === undefined) {
    losses.add(
      "unanswered tool call",
      "opencode takes no history with an unanswered call: it is marked as interrupted",
    );
    return { ...tool, state: { status: "error", input, error: INTERRUPTED, time: { start: at, end: at } } };
  }
  const { part } = answered;
  const time = { start: at, end: Math.max(at, answered.at) };
  const { text, files } = resultOf(part);
  if (part.is_failure === true && files.length === 0)
    return { ...tool, state: { status: "error", input, error: text, time } };
  if (part.is_failure === true)
    losses.addFailure("opencode keeps no pictures with a failure: the result is kept instead", part);
  const state = { status: "completed", input, output: text, title: "", metadata: {}, time };
  return { ...tool, state: files.length === 0 ? state : { ...state, attachments: files } };
}

/** Text, and pictures apart; JSON text for what is neither. */
function resultOf(part: ResultPart): { readonly text: string; readonly files: readonly JsonObject[] } {
  const blocks = resultBlocks(part);
  const files = blocks?.flatMap((block) => ("text" in block ? [] : [fileOf(block.image)])) ?? [];
  if (blocks === undefined || !files.every((file) => file !== undefined))
    return { text: resultJson(part), files: [] };
  return { text: blocks.flatMap((block) => ("text" in block ? [block.text] : [])).join("\n"), files };
}

function fileOf(url: string, mediaType?: string): JsonObject | undefined {
  const mime = parseDataUrl(url)?.mediaType ?? mediaType;
  return mime === undefined ? undefined : { type: "file", mime, url };
}

function filePart(part: FilePart, losses: LossReport): JsonObject[] {
  const url = fileUrl(part);
  const file = url === undefined ? undefined : fileOf(url, part.media_type);
  if (file !== undefined) return [{ ...file, ...optional("filename", part.file_name) }];
  losses.add("file in a prompt", "opencode takes none whose type is not known", part);
  return [];
}
