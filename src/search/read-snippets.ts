/**
 * What is shown of the texts of some hits (spec.md#search-hit-payload). Where a pattern stands in a text is told by the engine
 * that found it there: a pattern in JavaScript can keep the process from everything else for as long as it likes.
 */
import type { JsonValue } from "../base/json/json.ts";
import { isJsonObject } from "../base/json/json.ts";
import { TimeLimit } from "../base/waiting.ts";
import type { Part } from "../model/index.ts";
import { openJson } from "../model/index.ts";
import type { SessionStore } from "../sessions/index.ts";
import type { ShownHit } from "./hits/collapse.ts";
import { matchPositions } from "./exact/match-positions.ts";
import { wordQuery } from "./words/query.ts";
import type { SearchInput } from "./search.ts";
import type { Snippet } from "./snippet.ts";
import { cutAround, snippetOf } from "./snippet.ts";

/** After this long texts are shown from their start, not around the match. */
const TIME_MS = 2000;

export async function readSnippets(
  store: SessionStore,
  hits: readonly ShownHit[],
  input: SearchInput,
): Promise<ReadonlyMap<ShownHit, Snippet>> {
  const spoken = hits.filter(({ part }) => part === undefined);
  const inParts = hits.filter(({ part }) => part !== undefined);
  using time = new TimeLimit(input.clock, TIME_MS);
  const finding = input.mode === "regex" ? matchPositions(store, hits, input.text) : undefined;
  const [texts, parts, matches = "late"] = await Promise.all([
    store.texts(spoken),
    store.parts(
      inParts.flatMap(({ part }) => part ?? []),
      { payloads: false },
    ),
    finding === undefined ? undefined : time.of(finding),
  ]);
  const { terms } = wordQuery(input.text);
  const snippets = new Map<ShownHit, Snippet>();
  for (const [at, hit] of spoken.entries()) {
    const text = texts[at]?.text ?? texts[at]?.content ?? "";
    if (input.mode === "words") snippets.set(hit, snippetOf(text, terms));
    else if (input.mode === "exact") snippets.set(hit, cutAround(text, text.indexOf(input.text)));
    else {
      const match = matches === "late" ? undefined : matches.get(hit);
      snippets.set(hit, cutAround(text, match?.in === "text" ? match.start : -1));
    }
  }
  for (const [at, hit] of inParts.entries()) {
    const leaves = parts[at] === undefined ? [] : [...textsIn(parts[at])];
    const match = matches === "late" ? undefined : matches.get(hit);
    const rest = match?.in === "part" ? match.rest : "";
    const sought = input.mode === "regex" ? rest : input.text;
    const text = leaves.find((leaf) => sought !== "" && leaf.includes(sought)) ?? leaves.join("\n");
    snippets.set(hit, cutAround(text, sought === "" ? -1 : text.indexOf(sought)));
  }
  return snippets;
}

/** Every text in a part, in order. */
function* textsIn(part: Part): Generator<string> {
  if (part.type === "tool_call" && part.params !== undefined) yield* leavesOf(openJson(part.params));
  else if (part.type === "tool_result" && part.result !== undefined) yield* leavesOf(openJson(part.result));
  else if (part.type === "text" || part.type === "reasoning") yield part.text ?? "";
  else if (part.type === "file") yield [part.file_name, part.media_type].filter(Boolean).join(" ");
}

/** Without recursion: what a tool returned may be nested deeper than a stack. */
function* leavesOf(value: JsonValue): Generator<string> {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") yield next;
    else if (Array.isArray(next)) for (const item of next.toReversed()) open.push(item);
    else if (isJsonObject(next)) for (const item of Object.values(next).toReversed()) open.push(item);
  }
}
