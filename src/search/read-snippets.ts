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
import { keptOf } from "./kept/kept.ts";
import { matchPositions } from "./exact/match-positions.ts";
import { wordQuery } from "./words/query.ts";
import type { SearchInput } from "./search.ts";
import { literalMarks, soughtWords, wordMarks } from "./snippet/marks.ts";
import type { Mark, Snippet } from "./snippet/snippet.ts";
import { snippetOf } from "./snippet/snippet.ts";

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
    textsOf(store, spoken, input),
    store.parts(
      inParts.flatMap(({ part }) => part ?? []),
      { payloads: false },
    ),
    finding === undefined ? undefined : time.of(finding),
  ]);
  const sought = input.mode === "words" ? soughtWords(wordQuery(input.text)) : undefined;
  const snippets = new Map<ShownHit, Snippet>();
  for (const [at, hit] of spoken.entries()) {
    const text = texts[at] ?? "";
    const match = matches === "late" ? undefined : matches.get(hit);
    if (sought !== undefined) snippets.set(hit, snippetOf(text, wordMarks(text, sought)));
    else if (input.mode === "exact") snippets.set(hit, snippetOf(text, literalMarks(text, input.text)));
    else snippets.set(hit, snippetOf(text, match?.in === "text" ? [markOf(match)] : []));
  }
  for (const [at, hit] of inParts.entries()) {
    const leaves = parts[at] === undefined ? [] : [...textsIn(parts[at])];
    const match = matches === "late" ? undefined : matches.get(hit);
    const rest = match?.in === "part" ? match : { rest: "", length: 0 };
    const wanted = input.mode === "regex" ? rest.rest : input.text;
    const text = leaves.find((leaf) => wanted !== "" && leaf.includes(wanted)) ?? leaves.join("\n");
    const start = text.indexOf(wanted);
    const isFound = input.mode === "regex" && wanted !== "" && start >= 0;
    const marks = isFound ? [markOf({ start, length: rest.length })] : literalMarks(text, wanted);
    snippets.set(hit, snippetOf(text, marks));
  }
  return snippets;
}

/** By words only what is indexed is found, and it was read to be ranked. */
async function textsOf(
  store: SessionStore,
  hits: readonly ShownHit[],
  { mode }: SearchInput,
): Promise<readonly string[]> {
  if (mode === "words")
    return (await keptOf(store).texts.of(hits.map(({ row }) => row))).map(({ text }) => text);
  return (await store.texts(hits)).map(({ text, content }) => text ?? content ?? "");
}

/** Where only the place is known nothing is marked, and the window is there. */
const markOf = ({ start, length }: { readonly start: number; readonly length: number }): Mark => ({
  start,
  end: start + length,
  term: "",
});

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
