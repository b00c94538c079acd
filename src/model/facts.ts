/**
 * The facts that pond keeps in `options.pond` of a message, as readers use them. What is not of the expected shape was
 * written by nobody we know and counts as absent.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";

/** A message of another session. */
export interface MessageName {
  readonly session_id: string;
  readonly message_id: string;
}

export interface Replayed extends MessageName {
  /** What else it repeats, where its client joins what were several messages. */
  readonly also?: readonly MessageName[];
}

export interface PondFacts {
  /** The id that all revisions of this record share (spec.md#model-revisions). */
  readonly revises?: string;
  /** Records of one response of the model share it. */
  readonly turn?: string;
  /**
   * The message is a copy: of that one, or of one with the same id in a session unknown (spec.md#search-shown-once). The
   * client recorded it, or pond restored it so (spec.md#sources-restored).
   */
  readonly replays?: Replayed | true;
  /** Where in the options a title of the session stands, and how it ranks (spec.md#model-title). */
  readonly title?: { readonly at: string; readonly rank: number };
  /** The message carries a record that was cut as it was, for restore (spec.md#adapter-bounded-values): nothing to show. */
  readonly whole?: true;
}

export function pondFacts(options: JsonObject): PondFacts {
  const pond = pondOf(options);
  const { revises, turn } = pond;
  const replays = replaysOf(pond["restored"]) ?? replaysOf(pond["replays"]);
  const title = titleOf(pond["title"]);
  return {
    ...(typeof revises === "string" ? { revises } : {}),
    ...(typeof turn === "string" ? { turn } : {}),
    ...(replays === undefined ? {} : { replays }),
    ...(title === undefined ? {} : { title }),
    ...(pond["whole"] === true ? { whole: true } : {}),
  };
}

/** The `pond` space of an options bag; empty where there is none. */
export function pondOf(options: JsonObject): JsonObject {
  const pond = Object.hasOwn(options, "pond") ? options["pond"] : undefined;
  return isJsonObject(pond) ? pond : {};
}

/** The value at a JSON pointer (RFC 6901), or undefined. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function replaysOf(value: JsonValue | undefined): PondFacts["replays"] {
  if (value === true) return true;
  const name = messageNameOf(value);
  if (name === undefined || !isJsonObject(value) || !Array.isArray(value["also"])) return name;
  const also = value["also"].flatMap((other: JsonValue) => messageNameOf(other) ?? []);
  return also.length === 0 ? name : { ...name, also };
}

function messageNameOf(value: JsonValue | undefined): MessageName | undefined {
  if (!isJsonObject(value)) return undefined;
  const { session_id, message_id } = value;
  return typeof session_id === "string" && typeof message_id === "string"
    ? { session_id, message_id }
    : undefined;
}

function titleOf(value: JsonValue | undefined): PondFacts["title"] {
  if (!isJsonObject(value)) return undefined;
  const { at, rank } = value;
  return typeof at === "string" && typeof rank === "number" ? { at, rank } : undefined;
}
