/** What hits have beside their text: files, calls. Most have nothing, which a process that lives long knows without a look. */
import type { SessionStore } from "../sessions/index.ts";
import type { StoredPart } from "../sessions/states/index.ts";
import type { ShownHit } from "./hits/collapse.ts";
import { keptOf } from "./kept/kept.ts";
import type { SearchInput } from "./search.ts";

/** The parts of some hits that are not merely text, in the order given. */
export async function readOtherParts(
  store: SessionStore,
  hits: readonly ShownHit[],
  { mode }: SearchInput,
): Promise<readonly (readonly StoredPart[])[]> {
  const { isMereText } = keptOf(store);
  // What is kept is as of the last search by words.
  const unknown = mode === "words" ? hits.filter((hit) => !isMereText(hit)) : hits;
  const parts = unknown.length === 0 ? [] : await store.otherPartOutlines(unknown);
  const byHit = new Map(unknown.map((hit, at) => [hit, parts[at] ?? []]));
  return hits.map((hit) => byHit.get(hit) ?? []);
}
