/**
 * What is shown of the texts of some hits (spec.md#search-hit-payload). Where a pattern stands in a text is told by the engine
 * that found it there: a pattern in JavaScript can keep the process from everything else for as long as it likes.
 */
import type { JsonValue } from "../base/json/json.ts";
import { isJsonObject } from "../base/json/json.ts";
import { TimeLimit } from "../base/waiting.ts";
import type { Part } from "../model/index.ts";
import { openJson } from "../model/index.ts";
import { REF } from "../model/tree/index.ts";
import type { SessionStore } from "../sessions/index.ts";
import type { ShownHit } from "./hits/collapse.ts";
import { keptOf } from "./kept/kept.ts";
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
  const finding = input.mode === "regex" ? findMatches(store, { spoken, inParts }, input.text) : undefined;
  const [texts, parts, matches = "late"] = await Promise.all([
    textsOf(store, spoken, input),
    store.parts(
      inParts.flatMap(({ part }) => part ?? []),
      { payloads: false },
    ),
    finding === undefined ? undefined : time.of(finding),
  ]);
  const { terms } = wordQuery(input.text);
  const snippets = new Map<ShownHit, Snippet>();
  for (const [at, hit] of spoken.entries()) {
    const text = texts[at] ?? "";
    if (input.mode === "words") snippets.set(hit, snippetOf(text, terms));
    else if (input.mode === "exact") snippets.set(hit, cutAround(text, text.indexOf(input.text)));
    else snippets.set(hit, cutAround(text, unitsBefore(text, startOf(matches, hit))));
  }
  for (const [at, hit] of inParts.entries()) {
    const leaves = parts[at] === undefined ? [] : [...textsIn(parts[at])];
    const sought = input.mode === "regex" ? fragmentOf(matches, hit) : input.text;
    const text = leaves.find((leaf) => sought !== "" && leaf.includes(sought)) ?? leaves.join("\n");
    snippets.set(hit, cutAround(text, sought === "" ? -1 : text.indexOf(sought)));
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

/** Where a pattern stands in what is stored of a hit: characters before it, and of a part its JSON from there on. */
interface Match {
  readonly start: number;
  readonly rest: string;
}

type Matches = ReadonlyMap<ShownHit, Match>;

interface Hits {
  readonly spoken: readonly ShownHit[];
  readonly inParts: readonly ShownHit[];
}

async function findMatches(
  { tables }: SessionStore,
  { spoken, inParts }: Hits,
  pattern: string,
): Promise<Matches> {
  const matches = new Map<ShownHit, Match>();
  const ofMessages = async (hits: readonly ShownHit[], column: "search_text" | "content"): Promise<void> => {
    if (hits.length === 0) return;
    const found = await tables.messages.takeMatches(
      hits.map(({ row }) => row),
      { column, pattern, select: [] },
    );
    for (const [at, hit] of hits.entries()) {
      const start = found.matchAt(column, at);
      if (start !== undefined) matches.set(hit, { start, rest: "" });
    }
  };
  const ofParts = async (): Promise<void> => {
    if (inParts.length === 0) return;
    const found = await tables.parts.takeMatches(
      inParts.flatMap(({ part }) => part?.[REF].row ?? []),
      { column: "variant_data", pattern, select: ["variant_data"] },
    );
    for (const [at, hit] of inParts.entries()) {
      const start = found.matchAt("variant_data", at);
      if (start === undefined) continue;
      const json = found.string("variant_data", at);
      const from = unitsBefore(json, start);
      matches.set(hit, { start, rest: json.slice(from, from + FRAGMENT) });
    }
  };
  // What a message says is in the one column or the other.
  await Promise.all([ofMessages(spoken, "search_text"), ofParts()]);
  const elsewhere = spoken.filter((hit) => hit.role === "system" && !matches.has(hit));
  await ofMessages(elsewhere, "content");
  return matches;
}

const startOf = (matches: Matches | "late", hit: ShownHit): number | undefined =>
  matches === "late" ? undefined : matches.get(hit)?.start;

/** Characters of JSON text that are enough to find a match again. */
const FRAGMENT = 200;
/** What a JSON string may hold up to its closing quote. */
const IN_STRING = /^(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])+/;

/** From the match to the end of the string that it stands in; empty where it stands in no string. */
function fragmentOf(matches: Matches | "late", hit: ShownHit): string {
  const rest = matches === "late" ? undefined : matches.get(hit)?.rest;
  const escaped = IN_STRING.exec(rest ?? "")?.[0];
  return escaped === undefined ? "" : String(JSON.parse(`"${escaped}"`));
}

/** UTF-16 units of so many code points from the start of a text; -1 for none. */
function unitsBefore(text: string, characters: number | undefined): number {
  if (characters === undefined) return -1;
  let units = 0;
  for (let left = characters; left > 0 && units < text.length; left--)
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
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
