/**
 * Where a pattern first stands in what is stored of some hits, as the engine that found it there says (spec.md#search-literal): a
 * pattern in JavaScript is another dialect, and can keep the process from everything else for as long as it likes.
 */
import { REF } from "../../model/tree/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import type { ShownHit } from "../hits/collapse.ts";

/** UTF-16 units, as JavaScript counts. The length is 0 where only the place is known. */
export type MatchPosition =
  | {
      /** In the message's own text. */
      readonly in: "text";
      readonly start: number;
      readonly length: number;
    }
  | {
      /** In a string of the part's JSON: what that string says from the match on, cut off where it is long. */
      readonly in: "part";
      readonly rest: string;
      /** How much of it matched. */
      readonly length: number;
    };

/** Of the hits in which a match is found; one outside of any string of a part's JSON has no place that could be shown. */
export async function matchPositions(
  { tables }: SessionStore,
  hits: readonly ShownHit[],
  pattern: string,
): Promise<ReadonlyMap<ShownHit, MatchPosition>> {
  const positions = new Map<ShownHit, MatchPosition>();
  const inMessages = async (of: readonly ShownHit[], column: "search_text" | "content"): Promise<void> => {
    if (of.length === 0) return;
    const found = await tables.messages.takeMatches(
      of.map(({ row }) => row),
      { column, pattern, select: [column] },
    );
    for (const [at, hit] of of.entries()) {
      const match = found.matchAt(column, at);
      if (match === undefined) continue;
      const text = found.string(column, at);
      const start = unitsOf(text, 0, match);
      const length = unitsOf(text, start, found.matchLength(column, at) ?? 0);
      positions.set(hit, { in: "text", start, length });
    }
  };
  const inParts = async (of: readonly ShownHit[]): Promise<void> => {
    if (of.length === 0) return;
    const found = await tables.parts.takeMatches(
      of.flatMap(({ part }) => part?.[REF].row ?? []),
      { column: "variant_data", pattern, select: ["variant_data"] },
    );
    for (const [at, hit] of of.entries()) {
      const match = found.matchAt("variant_data", at);
      if (match === undefined) continue;
      const json = found.string("variant_data", at);
      const start = unitsOf(json, 0, match);
      const rest = saidIn(json.slice(start, start + FRAGMENT));
      const end = start + unitsOf(json, start, found.matchLength("variant_data", at) ?? 0);
      const { length } = saidIn(json.slice(start, Math.min(end, start + FRAGMENT)));
      if (rest !== "") positions.set(hit, { in: "part", rest, length });
    }
  };
  const spoken = hits.filter(({ part }) => part === undefined);
  // What a message says is in the one column or the other.
  await Promise.all([
    inMessages(spoken, "search_text"),
    inParts(hits.filter(({ part }) => part !== undefined)),
  ]);
  await inMessages(
    spoken.filter((hit) => hit.role === "system" && !positions.has(hit)),
    "content",
  );
  return positions;
}

/** Characters of JSON text that are enough to find a match again. */
const FRAGMENT = 200;
/** What a JSON string may hold up to its closing quote. */
const IN_STRING = /^(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])+/;

/** What JSON text says from inside a string to the end of it; empty where it begins outside of any. */
function saidIn(json: string): string {
  const escaped = IN_STRING.exec(json)?.[0];
  return escaped === undefined ? "" : String(JSON.parse(`"${escaped}"`));
}

/** UTF-16 units of so many code points of a text. */
function unitsOf(text: string, from: number, characters: number): number {
  let units = from;
  for (let left = characters; left > 0 && units < text.length; left--)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units - from;
}
