/**
 * The titles that sources record of a session, and which of them counts (spec.md#model-title). A carrier with the fact
 * `title` has one: a JSON pointer into its own options, so that the text is stored once. One rule for every reader: the
 * highest rank wins (what a person chose before what a model wrote), among equals the newest. Where none is recorded the
 * summary of a session takes the first text that a person typed.
 */
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { isJsonObject } from "../../base/json/json.ts";
import { pondFacts } from "./facts.ts";
import { revisionOf } from "./revision.ts";
import type { Message } from "../types.ts";

/** A title that a source recorded. */
export interface RecordedTitle {
  readonly text: string;
  readonly rank: number;
  /** Milliseconds since 1970 of its record's last change. */
  readonly at: number;
  /** The record's position in the log: many records of titles have no instant of their own. */
  readonly seq: number | undefined;
}

type Titled = Pick<Message, "id" | "seq" | "timestamp" | "role" | "options">;

/** The title that a message records, or undefined. */
export function titleIn({ id, seq, timestamp, role, options }: Titled): RecordedTitle | undefined {
  const { title } = role === "system" ? pondFacts(options) : {};
  const text = title === undefined ? undefined : valueAt(options, title.at);
  if (title === undefined || typeof text !== "string" || titleLine(text) === "") return undefined;
  return { text, rank: title.rank, at: revisionOf({ id, timestamp, options }).at, seq };
}

/** The one that counts: of equal ones the last that is given. */
export function bestTitle<T extends RecordedTitle>(titles: Iterable<T>): T | undefined {
  let best: T | undefined;
  for (const title of titles) if (best === undefined || compareTitles(title, best) >= 0) best = title;
  return best;
}

/** The text of the title that counts, as its source has it; undefined where there is none. */
export function recordedTitle(messages: Iterable<Titled>): string | undefined {
  const titles: RecordedTitle[] = [];
  for (const message of messages) {
    const title = titleIn(message);
    if (title !== undefined) titles.push(title);
  }
  return bestTitle(titles)?.text;
}

function compareTitles(a: RecordedTitle, b: RecordedTitle): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.at !== b.at) return a.at - b.at;
  return a.seq === undefined || b.seq === undefined ? 0 : a.seq - b.seq;
}

const MAX_TITLE = 200;

/** A title as it is shown: one line of bounded length, never cut inside a surrogate pair. */
export function titleLine(text: string): string {
  const line = text
    .slice(0, MAX_TITLE * 20)
    .replaceAll(/\s+/gu, " ")
    .trim();
  if (line.length <= MAX_TITLE) return line.toWellFormed();
  const head = line.slice(0, MAX_TITLE - 3);
  return `${(/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head).trimEnd()}...`.toWellFormed();
}

/** The value at a JSON pointer (RFC 6901), or undefined. */
function valueAt(options: JsonObject, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = options;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}
