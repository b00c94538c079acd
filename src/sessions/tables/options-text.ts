/**
 * Options as the JSON text of their column, and back (spec.md#model-lossless-projection, spec.md#exact-text). A text
 * column cannot represent a lone surrogate: its exact text is kept in the `pond` space of the options, under `exact`,
 * which is part of this encoding and no fact. What pond keeps comes first, so that it is read without the rest.
 */
import type { ColumnPredicate } from "../../substrate/engine/predicate.ts";
import { PondError } from "../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../base/json/json.ts";
import { isJsonObject, parseJson, stringifyJson } from "../../base/json/json.ts";
import type { PondFacts } from "../../model/derived/index.ts";
import { factText, pondFacts, pondSpace, SPACE_TEXT, withPondSpace } from "../../model/derived/index.ts";
import { contains } from "../../substrate/engine/predicate.ts";

/**
 * Options with the exact form of columns that UTF-8 cannot represent. An `exact` that came from outside is wrapped too, so
 * that decoding never takes it for ours; so is an empty space, which it would take for none.
 */
export function encodeOptions(options: JsonObject, columns: Readonly<Record<string, string>>): string {
  const exact: Record<string, JsonValue> = {};
  for (const name in columns) if (columns[name]?.isWellFormed() === false) exact[name] = columns[name];
  const space = pondSpace(options);
  const collides = isJsonObject(space) && Object.hasOwn(space, "exact");
  if (!collides && Object.keys(exact).length === 0)
    return stringifyJson(space === undefined ? options : { ...withPondSpace({}, space), ...options });
  const isFacts = isJsonObject(space) && !collides && Object.keys(space).length > 0;
  const wrapped = isFacts ? exact : withPondSpace(exact, space);
  const own = { ...(isFacts ? space : {}), exact: wrapped };
  return stringifyJson({ ...withPondSpace({}, own), ...withPondSpace(options, undefined) });
}

/** Options as they were given, and the exact text of columns that UTF-8 could not represent. */
export function decodeOptions(stored: string): {
  readonly options: JsonObject;
  readonly exact: Readonly<Record<string, string>>;
} {
  const options = parseObject(stored);
  const space = pondSpace(options);
  const wrapped = isJsonObject(space) && Object.hasOwn(space, "exact") ? space["exact"] : undefined;
  if (!isJsonObject(space) || !isJsonObject(wrapped)) return { options, exact: {} };
  const { exact: _, ...facts } = space;
  const exact: Record<string, string> = {};
  for (const [name, value] of Object.entries(withPondSpace(wrapped, undefined)))
    if (typeof value === "string") exact[name] = value;
  const own = Object.keys(facts).length === 0 ? undefined : facts;
  const given = pondSpace(wrapped);
  // What was given may be null.
  return { options: withPondSpace(options, given === undefined ? own : given), exact };
}

/** The facts in stored options alone: most of what is there is an envelope that nobody asked for. */
export function decodeFacts(stored: string): PondFacts {
  if (!stored.includes(SPACE_TEXT.anywhere)) return {};
  const end = stored.startsWith(SPACE_TEXT.first) ? objectEnd(stored, SPACE_TEXT.first.length - 1) : -1;
  return pondFacts(decodeOptions(end < 0 ? stored : `${stored.slice(0, end)}}`).options);
}

/** Lets in every row that has the fact, and others: of a fact that no column has, or not in rows of older ponds. */
export const mayHaveFact = (name: keyof PondFacts): ColumnPredicate<"options", string> =>
  contains("options", factText(name));

/** Past the object that begins at `start`; -1 where it does not end. */
function objectEnd(stored: string, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; at < stored.length; at++) {
    const character = stored[at];
    if (character === '"') isText = !isText;
    else if (isText && character === "\\") at += 1;
    else if (!isText && character === "{") depth += 1;
    else if (!isText && character === "}" && --depth === 0) return at + 1;
  }
  return -1;
}

export function parseObject(stored: string): JsonObject {
  const value = parseJson(stored);
  if (isJsonObject(value)) return value;
  throw corrupt("a JSON column does not contain an object");
}

export function corrupt(message: string): PondError {
  return new PondError("internal", `the store contains a row that cannot be read: ${message}`, {
    reason: "corrupt",
  });
}
