/**
 * What a session says to the client that it is restored into (spec.md#adapter-restore-read-back): its texts, calls and results,
 * taken from the stored rows without what the target reported as lost. The target's own adapter reads the written files
 * back into the same form, and the two are compared. Clients cut the same conversation into other pieces, so the form
 * keeps only what all of them keep; each rule says which client needs it.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import { equalJson, tryParseJson } from "../../../base/json/json.ts";
import type { MessageKey } from "../../../model/index.ts";
import type { MessageWithParts } from "../../../model/events/index.ts";
import { messageId } from "../../../model/index.ts";
import { revisionOf } from "../../../model/derived/index.ts";
import type { LossReport, LostParts } from "./losses.ts";
import type { CallPart } from "./parts.ts";
import { callInput, injectedKind, toolName } from "./parts.ts";
import type { ResultPart } from "./results.ts";
import { CallResults, resultBlocks, resultJson } from "./results.ts";

/** Stands in for a prompt where a session begins with an answer, which no provider takes. */
const NO_PROMPT = "(restored session)";

/** The same, to be written: it is reported, because the model takes it for what a person said. */
export function standInPrompt(losses: LossReport): string {
  losses.add("session without a prompt", `its history begins with an answer: "${NO_PROMPT}" stands in`);
  return NO_PROMPT;
}

/** Stand in for the result of a call that was never answered, where the target wants one. */
export const NO_RESULT = "No result was recorded.";
export const INTERRUPTED = "[Tool execution was interrupted]";

export interface HandedOver {
  /** Calls, and between them what was said, in order. */
  readonly pieces: readonly Piece[];
  /** What the model said, without summaries: some clients tell those as its words and some as a prompt. */
  readonly answers: readonly string[];
}

export type Piece = SpokenPiece | Call;

interface SpokenPiece {
  readonly kind: "said";
  readonly texts: string[];
  /** Which message each text is of, which part of it, and what put it there. */
  readonly messages: TextOwner[];
}

/** A part of a message that says something of what is handed over. */
interface TextOwner extends MessageKey {
  readonly ordinal: number;
  /** The kind of a text that its client wrote, and not the person or the model. */
  readonly injected: string | undefined;
}

/** What a message that was read back says. */
export interface Behind {
  /** Stored messages: several where the client joins what one response said. */
  readonly origins: readonly [MessageKey, ...MessageKey[]];
  /** No text of it is a person's or the model's. */
  readonly isInjected: boolean;
  /**
   * Its texts, by their ordinals, that its client takes for something else than they are: of which kind, or null for what a
   * person or the model wrote. The client in the middle cannot know it, and the one behind it goes by it.
   */
  readonly kinds: ReadonlyMap<number, string | null>;
}

interface Call {
  readonly kind: "call";
  readonly message: MessageKey;
  /** Absent where a target may have to give another one: out of its alphabet, or used before. */
  readonly id: string | undefined;
  readonly name: string;
  readonly input: JsonObject;
  /** Results stand right behind their calls in some clients and later in others, so each is told with its call. */
  readonly answer: Answer | undefined;
}

interface Answer {
  readonly message: MessageKey;
  /** The texts in which it may be written: its own, or its JSON where the target cannot show all of it. */
  readonly texts: readonly string[];
  /** Absent where the target does not record it. */
  readonly failed: boolean | undefined;
}

type Message = MessageWithParts["message"];

const NOTHING_LOST: LostParts = { parts: new Set(), failures: new Set() };

/** Ids that every client takes as they are. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/;

export interface HandingOver {
  readonly lost?: LostParts;
  /** False for a client that writes no flag and reads failures off the text. */
  readonly keepsFailures?: boolean;
  /** It was read back: each message by its own name, because each is told what it says, also the further ones of a record. */
  readonly isReadBack?: boolean;
}

export function handedOver(messages: readonly MessageWithParts[], options: HandingOver = {}): HandedOver {
  const { lost = NOTHING_LOST, keepsFailures = true, isReadBack = false } = options;
  const nameOf = isReadBack ? messageKeyOf : originOf;
  const kept = messages.map(({ message, parts }) => ({
    message,
    parts: parts.filter((part) => !lost.parts.has(part)),
  }));
  const results = new CallResults(kept);
  const ids = new Set<string>();
  const pieces: Piece[] = [];
  const answers: string[] = [];
  const answerTo = (call: CallPart): Answer | undefined => {
    const result = results.take(call);
    if (result === undefined) return undefined;
    const { part, message } = result;
    const keepsFlag = keepsFailures && !lost.failures.has(part);
    return {
      message: nameOf(message),
      texts: textsOf(part),
      failed: keepsFlag ? part.is_failure === true : undefined,
    };
  };
  for (const { message, parts } of kept) {
    if (message.role !== "user" && message.role !== "assistant") continue;
    for (const part of parts) {
      if (part.type === "tool_call")
        pieces.push({
          kind: "call",
          message: nameOf(message),
          id: plainId(part, ids),
          name: toolName(part),
          input: callInput(part),
          answer: answerTo(part),
        });
      if (part.type !== "text" || part.text === undefined) continue;
      const last = pieces.at(-1);
      const by = { ...nameOf(message), ordinal: part.ordinal, injected: injectedKind(part) };
      if (last?.kind === "said") {
        last.texts.push(part.text);
        last.messages.push(by);
      } else pieces.push({ kind: "said", texts: [part.text], messages: [by] });
      if (message.role === "assistant" && injectedKind(part) !== "compaction-summary")
        answers.push(part.text);
    }
  }
  return { pieces, answers };
}

const messageKeyOf = ({ session_id, id }: Message): MessageKey => ({ session_id, id });

/** All versions of a record are one message to who looks for copies of it. */
function originOf(message: Message): MessageKey {
  return { session_id: message.session_id, id: messageId(revisionOf(message).record) };
}

/** In words, where what was read back differs from what was handed over; undefined when it does not. */
export function differenceToHandedOver(handed: HandedOver, back: HandedOver): string | undefined {
  const difference = differenceBetween(handed, back);
  if (difference === undefined) return undefined;
  // Somebody may have said what stands in for a prompt, so it is left out only where it is too much.
  const pieces = withoutStandIn(back.pieces);
  return pieces === back.pieces ? difference : differenceBetween(handed, { ...back, pieces });
}

/**
 * Which messages of the session each message that was read back says, by the places of its texts, calls and results. Only for
 * what does not differ.
 */
export function messagesBehind(handed: HandedOver, back: HandedOver): ReadonlyMap<string, Behind> {
  const isAsIs = differenceBetween(handed, back) === undefined;
  const after = (isAsIs ? back.pieces : withoutStandIn(back.pieces)).filter(isWorthComparing);
  const behind = new Map<string, Draft>();
  const add = (message: MessageKey | undefined, origin: MessageKey | undefined): Draft | undefined => {
    if (message === undefined || origin === undefined) return undefined;
    const key = { session_id: origin.session_id, id: origin.id };
    const known = behind.get(message.id);
    if (known === undefined) {
      const draft: Draft = { origins: [key], texts: new Map() };
      behind.set(message.id, draft);
      return draft;
    }
    if (!known.origins.some(({ session_id, id }) => session_id === key.session_id && id === key.id))
      known.origins.push(key);
    return known;
  };
  for (const [index, piece] of handed.pieces.filter(isWorthComparing).entries()) {
    const other = after[index];
    if (piece.kind === "call" && other?.kind === "call") {
      add(other.message, piece.message);
      add(other.answer?.message, piece.answer?.message);
    }
    if (piece.kind !== "said" || other?.kind !== "said") continue;
    for (const [at, origin] of sameWords(other, piece)) {
      const text = other.messages[at];
      const texts = add(text, origin)?.texts;
      if (text === undefined || texts === undefined) continue;
      const { recorded = [] } = texts.get(text.ordinal) ?? {};
      texts.set(text.ordinal, { read: text.injected, recorded: [...recorded, origin.injected] });
    }
  }
  return new Map([...behind].map(([id, draft]) => [id, behindOf(draft)]));
}

interface Draft {
  readonly origins: [MessageKey, ...MessageKey[]];
  /** Of each text what its client takes it for, and what those were that it says. */
  readonly texts: Map<
    number,
    { readonly read: string | undefined; readonly recorded: (string | undefined)[] }
  >;
}

/** A text that is a person's or the model's in part counts as theirs. */
function behindOf({ origins, texts }: Draft): Behind {
  const kinds = new Map<number, string | null>();
  for (const [ordinal, { read, recorded }] of texts) {
    const kind = recorded.includes(undefined) ? undefined : recorded[0];
    if (kind !== read) kinds.set(ordinal, kind ?? null);
  }
  const isInjected =
    texts.size > 0 && [...texts.values()].every(({ recorded }) => !recorded.includes(undefined));
  return { origins, isInjected, kinds };
}

/** The messages that say something of what is handed over, in order. */
export function messagesWithContent({ pieces }: HandedOver): readonly MessageKey[] {
  return pieces.flatMap((piece) => {
    if (piece.kind === "call")
      return piece.answer === undefined ? [piece.message] : [piece.message, piece.answer.message];
    return piece.messages.filter((_, at) => squeezed([piece.texts[at] ?? ""]) !== "");
  });
}

/** Of each text, the messages of the other that have some of its characters; blank ones have none. */
function* sameWords(
  texts: SpokenPiece,
  others: SpokenPiece,
): Generator<readonly [at: number, origin: TextOwner]> {
  const lengths = others.texts.map((text) => squeezed([text]).length);
  let [start, place, before] = [0, 0, 0];
  for (const [at, text] of texts.texts.entries()) {
    const end = start + squeezed([text]).length;
    while (place < lengths.length) {
      const after = before + (lengths[place] ?? 0);
      const origin = others.messages[place];
      if (origin !== undefined && Math.min(after, end) > Math.max(before, start)) yield [at, origin];
      if (after > end) break;
      before = after;
      place += 1;
    }
    start = end;
  }
}

function differenceBetween(handed: HandedOver, back: HandedOver): string | undefined {
  const before = handed.pieces.filter(isWorthComparing);
  const after = back.pieces.filter(isWorthComparing);
  for (const [index, piece] of before.entries()) {
    const difference = differenceOfPieces(piece, after[index]);
    if (difference !== undefined) return `piece ${index} of ${before.length}: ${difference}`;
  }
  if (after.length > before.length)
    return `${after.length - before.length} pieces came back that were not handed over`;
  if (squeezed(handed.answers) !== squeezed(back.answers))
    return "the words of the model and of others mixed";
  return undefined;
}

function plainId({ call_id }: CallPart, used: Set<string>): string | undefined {
  if (call_id === undefined || !PLAIN_ID.test(call_id) || used.has(call_id)) return undefined;
  used.add(call_id);
  return call_id;
}

function textsOf(part: ResultPart): readonly string[] {
  const json = resultJson(part);
  const blocks = resultBlocks(part);
  if (blocks === undefined) return [json];
  return [blocks.flatMap((block) => ("text" in block ? [block.text] : [])).join("\n"), json];
}

function withoutStandIn(pieces: readonly Piece[]): readonly Piece[] {
  const [first, ...rest] = pieces;
  if (first?.kind !== "said" || first.texts[0] !== NO_PROMPT) return pieces;
  return [{ kind: "said", texts: first.texts.slice(1), messages: first.messages.slice(1) }, ...rest];
}

/** Providers refuse blank texts, so some targets leave them out. */
function isWorthComparing(piece: Piece): boolean {
  return piece.kind === "call" || squeezed(piece.texts) !== "";
}

function differenceOfPieces(before: Piece, after: Piece | undefined): string | undefined {
  if (after === undefined) return `${named(before)} did not come back`;
  if (before.kind === "said" && after.kind === "said") return differenceOfTexts(before.texts, after.texts);
  if (before.kind === "call" && after.kind === "call") return differenceOfCalls(before, after);
  return `${named(before)} came back as ${named(after)}`;
}

/**
 * A text may come back in more or fewer pieces, and blank ones not at all: what is not blank is the same, and each piece
 * that was handed over stands in it character for character.
 */
function differenceOfTexts(before: readonly string[], after: readonly string[]): string | undefined {
  const whole = after.join("");
  let at = 0;
  for (const text of before) {
    if (text.trim() === "") continue;
    const found = whole.indexOf(text, at);
    if (found === -1) return `the text ${shortened(text)} is not in ${shortened(whole)}`;
    at = found + text.length;
  }
  if (squeezed(before) === squeezed(after)) return undefined;
  return `${shortened(before.join(""))} became ${shortened(whole)}`;
}

function differenceOfCalls(before: Call, after: Call): string | undefined {
  if (before.name !== after.name) return `${named(before)} came back as ${named(after)}`;
  if (before.id !== undefined && before.id !== after.id)
    return `${named(before)} has the id ${after.id ?? "of another"} instead of ${before.id}`;
  if (!equalJson(before.input, after.input)) return `the input of ${named(before)} is another one`;
  const { answer } = after;
  if (before.answer === undefined)
    return answer === undefined || isStandIn(answer)
      ? undefined
      : `${named(before)} was never answered and is now`;
  if (answer === undefined) return `the result of ${named(before)} did not come back`;
  if (!before.answer.texts.some((text) => answer.texts.some((other) => isSameText(text, other))))
    return `the result of ${named(before)}, ${shortened(before.answer.texts[0] ?? "")}, became ${shortened(answer.texts[0] ?? "")}`;
  const { failed } = before.answer;
  if (failed !== undefined && failed !== (answer.failed ?? false))
    return `the result of ${named(before)} is ${failed ? "no longer a failure" : "a failure now"}`;
  return undefined;
}

function isStandIn({ texts, failed }: Answer): boolean {
  return failed === true && texts.some((text) => text === NO_RESULT || text === INTERRUPTED);
}

/** A client may read a result that is JSON as the value, and print that in its own way. */
function isSameText(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [tryParseJson(a), tryParseJson(b)];
  return left.kind === "value" && right.kind === "value" && equalJson(left.value, right.value);
}

function squeezed(texts: readonly string[]): string {
  return texts.join("").replaceAll(/\s+/g, "");
}

function named(piece: Piece): string {
  return piece.kind === "call" ? `the call of ${piece.name}` : `the text ${shortened(piece.texts.join(""))}`;
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
