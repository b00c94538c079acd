/**
 * What a message repeats (spec.md#search-shown-once): a record that its client rewrote, a message of another session.
 * Taken out of the facts into a short text of its own, so that a search reads no options.
 */
import { isJsonObject, parseJson, stringifyJson } from "../../base/json/json.ts";
import type { FactsDraft, MessageName, Original, Replayed, WithFacts } from "./facts.ts";
import { factsIn, factsOf, factText, spaceOf } from "./facts.ts";
import { revisionOf } from "./revision.ts";
import type { Message } from "../types.ts";

export interface Repeats {
  /** The id that all revisions of the record share; the message's own where there are no others. */
  readonly record: string;
  /** The message is a copy: of that one, or of one with the same id in an unknown session. */
  readonly replays?: Replayed | true;
}

/** The copied message: pond's own word, where it restored the copy, before the client's. */
export function replaysOf(message: WithFacts): Repeats["replays"] {
  const { restored, replays } = factsOf(message);
  return namedIn(restored) ?? namedIn(replays);
}

/** Undefined where a copy does not say of which message it is. */
function namedIn(original: Original | true | undefined): Repeats["replays"] {
  if (original === undefined || original === true) return original;
  const { session_id, message_id, also } = original;
  if (message_id === undefined) return undefined;
  return { session_id, message_id, ...(also === undefined ? {} : { also }) };
}

/** The messages that a copy repeats: several where a client joined them. */
export function originalsOf({ session_id, message_id, also = [] }: Replayed): readonly MessageName[] {
  return [{ session_id, message_id }, ...also];
}

export function repeatsOf(message: Pick<Message, "id" | "timestamp"> & WithFacts): Repeats {
  const replays = replaysOf(message);
  return { record: revisionOf(message).record, ...(replays === undefined ? {} : { replays }) };
}

/** Empty for an original, as nearly all are; what is the message's own id is left out. */
export function encodeRepeats(message: Pick<Message, "id" | "timestamp" | "options">): string {
  const { record, replays } = repeatsOf(message);
  const facts: FactsDraft = {};
  if (record !== message.id) facts.record = record;
  if (replays === true) facts.replays = true;
  else if (replays !== undefined) {
    const { message_id, ...original } = replays;
    facts.replays = message_id === message.id ? original : replays;
  }
  return Object.keys(facts).length === 0 ? "" : stringifyJson(spaceOf(facts));
}

/** What the text of a message has whose record is not its own: another version of one, or a piece. */
export const OTHER_RECORD = factText("record");

/** The same of a row that turned out to be another version of a record: `text` is what it said of itself. */
export function repeatsOfVersion(text: string, record: string): string {
  const value = text === "" ? {} : parseJson(text);
  return stringifyJson({ ...(isJsonObject(value) ? value : {}), ...spaceOf({ record }) });
}

export function decodeRepeats(text: string, id: string): Repeats {
  if (text === "") return { record: id };
  const { record = id, replays } = factsIn(parseJson(text));
  const known = namedIn(typeof replays === "object" ? { message_id: id, ...replays } : replays);
  return { record, ...(known === undefined ? {} : { replays: known }) };
}
