/**
 * How many tokens of a session a model is sent (spec.md#adapter-restore-tokens): estimated from what is handed over, and as
 * the session's own client recorded it with the last response. Reasoning is not counted: no other model is sent it, and
 * the own one only that of the last turn. Nor is what a client adds anew, its system prompt and its tools.
 */
import { stringifyJson } from "../../../base/json/json.ts";
import type { Message, Part } from "../../../model/index.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { integerField, objectField } from "../extract/extract.ts";
import { LossReport } from "./losses.ts";
import type { ContextRule } from "./context.ts";
import { lastCompaction } from "./context.ts";
import { historyOf } from "./history.ts";
import { callInput, fileUrl, injectedKind, isCarried } from "./parts.ts";
import { resultBlocks, resultJson } from "./results.ts";

export interface HandedTokens {
  readonly estimated: number;
  /** What the last response behind the last compaction used, its answer included; with system prompt and tools. */
  readonly recorded?: number;
  /** The last compaction can be read by its own provider only: all turns that it replaced are counted. */
  readonly is_sealed?: true;
}

/**
 * Of UTF-8. With it the recorded size is 24,000 + 0.97 x the estimate over 37 real sessions of Codex (correlated from 5,000
 * to 230,000 tokens), and 10,000 + 1.05 x over 39 of pi; what is added is the client's own prompt and tools.
 */
const BYTES_PER_TOKEN = 3.6;

/** Providers scale pictures down, and none of the usual ones charges more than about this for one. */
const TOKENS_PER_PICTURE = 1500;

export interface TokenOptions {
  readonly context: ContextRule | undefined;
  /** The session's own client sends its own notes again, other ones do not. */
  readonly fidelity: "native" | "foreign";
}

export function tokensOf(state: SessionState, { context, fidelity }: TokenOptions): HandedTokens {
  const { messages, own, isSealed } = historyOf(state, { losses: new LossReport(), context });
  // The session's own provider can read what nobody else can.
  const isUnread = isSealed === true && fidelity === "foreign";
  const start = isUnread ? 0 : Math.max(0, startOf(messages));
  const sent = messages.slice(start);
  let bytes = 0;
  let pictures = 0;
  for (const { message, parts } of sent) {
    if (message.role === "system") continue;
    for (const part of parts) {
      const size = sizeOf(part, fidelity);
      bytes += size.bytes;
      pictures += size.pictures;
    }
  }
  const recorded = recordedIn(sent, own, messages[start]);
  return {
    estimated: Math.round(bytes / BYTES_PER_TOKEN) + pictures * TOKENS_PER_PICTURE,
    ...(recorded === undefined ? {} : { recorded }),
    ...(isUnread ? { is_sealed: true } : {}),
  };
}

/** Where the last compaction is; before the first message where there was none. */
function startOf(messages: readonly MessageWithParts[]): number {
  return Math.max(messages.findLastIndex(isSummary), lastCompaction(messages, ["boundary"]));
}

const isSummary = ({ parts }: MessageWithParts): boolean =>
  parts.some((part) => part.type === "text" && injectedKind(part) === "compaction-summary");

/** Of the last response; one that was kept behind a summary used what was there before it. */
function recordedIn(
  sent: readonly MessageWithParts[],
  own: readonly MessageWithParts[],
  first: MessageWithParts | undefined,
): number | undefined {
  const from = first !== undefined && isSummary(first) ? own.findIndex(isRecordOf(first.message)) : 0;
  const before = new Set(own.slice(0, Math.max(0, from)).map(({ message }) => message.id));
  for (const { message } of sent.toReversed()) {
    const tokens = before.has(message.id) ? 0 : recordedTokens(message);
    if (tokens > 0) return tokens;
  }
  return undefined;
}

const isRecordOf =
  ({ id }: Message) =>
  ({ message }: MessageWithParts): boolean =>
    message.id === id;

/** What a response used, in the form of whichever client recorded it; 0 where this message says nothing of it. */
function recordedTokens({ options }: Message): number {
  const sum = (object: object | undefined, names: readonly string[]): number =>
    object === undefined ? 0 : names.reduce((all, name) => all + (integerField({ ...object }, name) ?? 0), 0);
  const record = objectField(objectField(options, "source") ?? {}, "record") ?? {};
  const info = objectField(objectField(record, "payload") ?? {}, "info") ?? {};
  const tokens = objectField(record, "tokens");
  return Math.max(
    // Claude Code
    sum(objectField(objectField(options, "anthropic") ?? {}, "usage"), [
      "input_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
      "output_tokens",
    ]),
    // Codex
    sum(objectField(info, "last_token_usage"), ["total_tokens"]),
    // opencode
    sum(tokens, ["input", "output"]) + sum(objectField(tokens ?? {}, "cache"), ["read", "write"]),
    // pi
    sum(objectField(objectField(record, "message") ?? {}, "usage"), [
      "input",
      "output",
      "cacheRead",
      "cacheWrite",
    ]),
  );
}

interface Size {
  readonly bytes: number;
  readonly pictures: number;
}

const NOTHING: Size = { bytes: 0, pictures: 0 };

function sizeOf(part: Part, fidelity: TokenOptions["fidelity"]): Size {
  switch (part.type) {
    case "text": {
      const kind = injectedKind(part);
      const isSent = fidelity === "native" || kind === "compaction-summary" || isCarried(kind);
      return isSent ? ofText(part.text ?? "") : NOTHING;
    }
    case "tool_call":
      return ofText(`${part.name ?? ""}${stringifyJson(callInput(part))}`);
    case "tool_result": {
      const blocks = resultBlocks(part);
      if (blocks === undefined) return ofText(resultJson(part));
      const texts = blocks.map((block) => ("text" in block ? block.text : ""));
      return { ...ofText(texts.join("")), pictures: blocks.filter((block) => "image" in block).length };
    }
    case "file":
      return ofFile(part);
    case "reasoning":
    case "tool_approval_request":
    case "tool_approval_response":
      return NOTHING;
  }
}

/** A file of text by its length; anything else as a picture, which is too little for a document of many pages. */
function ofFile(part: Extract<Part, { type: "file" }>): Size {
  const isText = part.media_type?.startsWith("text/") === true;
  if (!isText) return { bytes: 0, pictures: 1 };
  const url = fileUrl(part) ?? "";
  return { bytes: Math.floor((url.length * 3) / 4), pictures: 0 };
}

const ofText = (text: string): Size => ({ bytes: Buffer.byteLength(text), pictures: 0 });
