/**
 * What a message repeats (spec.md#search-shown-once): a record that its client rewrote, a message of another session.
 * Taken out of `options.pond` into a short text of its own, so that a search reads no options.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject, parseJson, stringifyJson } from "../base/json.ts";
import type { PondFacts } from "./facts.ts";
import { pondFacts, pondOf } from "./facts.ts";
import { revisionOf } from "./revision.ts";
import type { Message } from "./types.ts";

export interface Repeats {
  /** The id that all revisions of the record share; the message's own where there are no others. */
  readonly record: string;
  readonly replays?: Exclude<PondFacts["replays"], undefined>;
}

export function repeatsOf(message: Pick<Message, "id" | "timestamp" | "options">): Repeats {
  const { replays } = pondFacts(message.options);
  return { record: revisionOf(message).record, ...(replays === undefined ? {} : { replays }) };
}

/** Empty for an original, as nearly all are; what is the message's own id is left out. */
export function encodeRepeats(message: Pick<Message, "id" | "timestamp" | "options">): string {
  const { record: first, revises, replays: copied, restored } = pondOf(message.options);
  if ([first, revises, copied, restored].every((fact) => fact === undefined)) return "";
  const { record, replays } = repeatsOf(message);
  const facts: Record<string, JsonValue> = {};
  if (record !== message.id) facts["record"] = record;
  if (replays === true) facts["replays"] = true;
  else if (replays !== undefined) {
    const { session_id, message_id, also } = replays;
    const others = also === undefined ? {} : { also: also.map((other) => ({ ...other })) };
    const name = message_id === message.id ? { session_id } : { session_id, message_id };
    facts["replays"] = { ...name, ...others };
  }
  return Object.keys(facts).length === 0 ? "" : stringifyJson(facts);
}

/** The same of a row that turned out to be another version of a record: `text` is what it said of itself. */
export function repeatsOfVersion(text: string, record: string): string {
  const value = text === "" ? {} : parseJson(text);
  return stringifyJson({ ...(isJsonObject(value) ? value : {}), record });
}

export function decodeRepeats(text: string, id: string): Repeats {
  if (text === "") return { record: id };
  const value = parseJson(text);
  const facts: JsonObject = isJsonObject(value) ? value : {};
  const { record, replays } = facts;
  const pond = isJsonObject(replays) ? { replays: { message_id: id, ...replays } } : facts;
  const { replays: known } = pondFacts({ pond });
  return {
    record: typeof record === "string" ? record : id,
    ...(known === undefined ? {} : { replays: known }),
  };
}
