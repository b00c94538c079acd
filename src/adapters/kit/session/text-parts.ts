/**
 * A text that several hands wrote (spec.md#model-part-provenance): one part for each stretch, so that search finds what
 * people said, and what tells the parts that were one text.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Extracted, Part } from "../../../model/index.ts";
import type { PondFacts, RecordedAuthor } from "../../../model/derived/index.ts";
import { pondFacts, withFacts } from "../../../model/derived/index.ts";
import { extractSpan, isEmpty } from "../extract/extract.ts";
import type { PartDraft } from "./session-log.ts";

/**
 * A stretch of a text by UTF-16 offsets; `injected` names the kind of what the client wrote, `author` who wrote it
 * where that is not what its place implies (spec.md#model-part-author).
 */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  readonly injected?: string;
  readonly author?: RecordedAuthor;
}

/** The parts of a text, one for each span; the first carries what its source held beside the text. */
export function textParts(
  text: Extracted<string>,
  spans: readonly TextSpan[],
  source: JsonObject = {},
): readonly Extract<PartDraft, { type: "text" }>[] {
  return spans.map((span, index) => {
    const facts: PondFacts = {
      ...(span.injected === undefined ? {} : { injected: span.injected }),
      ...(span.author === undefined ? {} : { author: span.author }),
      ...(index === 0 ? {} : { joined: true }),
    };
    const isWhole = span.start === 0 && span.end === text.length;
    return {
      type: "text",
      provenance: span.injected === undefined ? "conversational" : "injected",
      text: isWhole ? text : extractSpan(text, span.start, span.end),
      options: withFacts(index > 0 || isEmpty(source) ? {} : { source }, facts),
    };
  });
}

/** True for a part that goes on with the text of the one before it. */
export function isJoined(part: Part): boolean {
  return pondFacts(part.options).joined === true;
}

/** The text of the part at `index` and of those that continue it. */
export function joinedText(parts: readonly Part[], index = 0): string {
  let text = "";
  for (let at = index; at < parts.length; at += 1) {
    const part = parts[at];
    if ((part?.type !== "text" && part?.type !== "reasoning") || (at > index && !isJoined(part))) break;
    text += part.text ?? "";
  }
  return text;
}
