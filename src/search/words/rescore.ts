/**
 * The best candidates by words, ranked again with their neighbours (spec.md#search-windows). Neighbours are texts of the same
 * session in its order, as far as they are in what people see of it: a map tells them, or one scan of short columns.
 */
import type { SessionStore } from "../../sessions/index.ts";
import { isNull, not } from "../../substrate/engine/predicate.ts";
import type { HitStates } from "../hits/hit-states.ts";
import type { KnownText, KnownTexts } from "../kept/known-texts.ts";
import type { TextMap } from "../kept/text-map.ts";
import type { Candidate } from "./lexical.ts";
import type { CountedText } from "../analysis/vocabulary.ts";
import { WINDOW, windowScore } from "./window-score.ts";

/** Candidates that are ranked again: beyond 50 nothing was gained (bench/retrieval). */
const MOST = 50;
/** Of text that one search reads to rank again: a usual one has some 100 KB. */
const MOST_BYTES = 8_000_000;

interface Rescoring {
  /** As it was typed. */
  readonly text: string;
  readonly weights: ReadonlyMap<string, number>;
  readonly rowStates: HitStates;
  readonly texts: KnownTexts;
  readonly map: TextMap | undefined;
  /** What vectors found and words did not: ranked with the best of those. */
  readonly also: readonly Candidate[];
}

export interface Rescored {
  readonly candidates: readonly Candidate[];
  /** How much of the query, by the weight of its terms, the best one has with its neighbours: from 0 to 1. */
  readonly coverage: number;
}

interface Place {
  readonly texts: readonly bigint[];
  readonly at: number;
}

export async function rescore(
  store: SessionStore,
  candidates: readonly Candidate[],
  { text, weights, rowStates, texts: known, map, also }: Rescoring,
): Promise<Rescored> {
  const best = [...candidates.slice(0, MOST), ...also];
  if (best.length === 0 || weights.size === 0 || (best.length === 1 && also.length === 0))
    return { candidates, coverage: 1 };
  await rowStates.load(best.map(({ session_id }) => session_id));
  const { places, bytes } =
    map === undefined ? await scannedPlaces(store, best, rowStates) : mappedPlaces(map, best, rowStates);
  const rows = within(
    MOST_BYTES,
    best.flatMap(({ row }) => neighboursOf(row, places)),
    bytes,
  );
  const read = await known.of(rows);
  const textOf = new Map(rows.map((row, at) => [row, read[at]]));
  const counts = known.count(read, new Set(weights.keys()));
  const counted = new Map(rows.map((row, at) => [row, counts[at] ?? EMPTY]));
  const isPhraseIn = phraseFinder(text);
  const top = best[0]?.score || 1;
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const averageLength = counts.reduce((sum, { length }) => sum + length, 0) / (counts.length || 1);
  const covered = new Map<bigint, number>();
  const rescored = best.map((candidate) => {
    const place = places.get(candidate.row) ?? { texts: [candidate.row], at: 0 };
    const from = Math.max(0, place.at - WINDOW + 1);
    const texts = place.texts.slice(from, place.at + WINDOW).map((row) => counted.get(row) ?? EMPTY);
    covered.set(candidate.row, weightIn(texts, weights) / all);
    const own = counted.get(candidate.row);
    // Too long to be read: the engine's word is all there is.
    if (own === undefined) return { ...candidate, score: (0.5 * all * candidate.score) / top };
    const whole = isPhraseIn(textOf.get(candidate.row)) ? PHRASE * all : 0;
    return { ...candidate, score: windowScore(texts, place.at - from, { weights, averageLength }) + whole };
  });
  const ranked = rescored.toSorted((a, b) => b.score - a.score || (a.row < b.row ? -1 : 1));
  const least = rescored
    .slice(0, MOST)
    .reduce((low, { score }) => Math.min(low, score), Number.POSITIVE_INFINITY);
  return {
    candidates: [...ranked, ...below(candidates.slice(MOST), least)],
    coverage: covered.get(ranked[0]?.row ?? 0n) ?? 0,
  };
}

/** The weight of those terms that are in any of some texts. */
function weightIn(texts: readonly CountedText[], weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [term, weight] of weights) if (texts.some(({ counts }) => counts.has(term))) sum += weight;
  return sum;
}

const EMPTY = { counts: new Map<string, number>(), length: 0 };

/** What a text gains that has the query as it was typed, as a share of all its words: names, paths and errors are pasted. */
const PHRASE = 1;

/** What was not ranked again keeps its order, behind what was. */
function below(rest: readonly Candidate[], least: number): readonly Candidate[] {
  const top = rest[0]?.score ?? 0;
  return rest.map((candidate) => ({
    ...candidate,
    score: top > 0 ? (0.999 * least * candidate.score) / top : 0,
  }));
}

interface Neighbours {
  /** Where each candidate is among texts of its session: all, or those around it. */
  readonly places: ReadonlyMap<bigint, Place>;
  /** Of texts. */
  readonly bytes: ReadonlyMap<bigint, number>;
}

function mappedPlaces(map: TextMap, candidates: readonly Candidate[], rowStates: HitStates): Neighbours {
  const places = new Map<bigint, Place>();
  const bytes = new Map<bigint, number>();
  for (const { row, session_id } of candidates) {
    bytes.set(row, map.bytesOf(row));
    const isCurrent = (each: bigint): boolean => rowStates.of({ session_id, row: each }) === "current";
    if (!isCurrent(row)) continue;
    const { before, after } = map.around(row, WINDOW - 1, isCurrent);
    places.set(row, { texts: [...before, row, ...after], at: before.length });
    for (const each of [...before, ...after]) bytes.set(each, map.bytesOf(each));
  }
  return { places, bytes };
}

async function scannedPlaces(
  store: SessionStore,
  candidates: readonly Candidate[],
  rowStates: HitStates,
): Promise<Neighbours> {
  const sessions = [...new Set(candidates.map(({ session_id }) => session_id))];
  const texts = new Map<string, { readonly row: bigint; readonly seq: number; readonly time: number }[]>();
  const bytes = new Map<bigint, number>();
  const select = ["session_id", "seq", "timestamp", "text_bytes"] as const;
  const options = { select, where: not(isNull("text_bytes")), withRowId: true } as const;
  for await (const rows of store.tables.messages.scanIn("session_id", sessions, options))
    for (let at = 0; at < rows.length; at++) {
      const session_id = rows.string("session_id", at);
      const row = rows.rowId(at);
      bytes.set(row, rows.intOrNull("text_bytes", at) ?? 0);
      if (rowStates.of({ session_id, row }) !== "current") continue;
      const own = texts.get(session_id) ?? [];
      texts.set(session_id, own);
      own.push({ row, seq: rows.intOrNull("seq", at) ?? -1, time: rows.timestamp("timestamp", at) });
    }
  const wanted = new Set(candidates.map(({ row }) => row));
  const places = new Map<bigint, Place>();
  for (const own of texts.values()) {
    const inOrder = own.toSorted((a, b) => a.seq - b.seq || a.time - b.time || (a.row < b.row ? -1 : 1));
    const all = inOrder.map(({ row }) => row);
    for (const [at, row] of all.entries()) if (wanted.has(row)) places.set(row, { texts: all, at });
  }
  return { places, bytes };
}

/** A message, then the texts around it. */
function neighboursOf(row: bigint, places: ReadonlyMap<bigint, Place>): readonly bigint[] {
  const { texts, at } = places.get(row) ?? { texts: [], at: 0 };
  return [row, ...texts.slice(Math.max(0, at - WINDOW + 1), at + WINDOW)];
}

/** As many of some texts, in their order, as have so many bytes together: people paste whole logs. */
function within(
  most: number,
  rows: readonly bigint[],
  bytes: ReadonlyMap<bigint, number>,
): readonly bigint[] {
  let left = most;
  return [...new Set(rows)].filter((row) => {
    const size = bytes.get(row) ?? 0;
    if (size > left) return false;
    left -= size;
    return true;
  });
}

/** Tells whether a text has the query as it was typed. */
function phraseFinder(phrase: string): (text: KnownText | undefined) => boolean {
  const sought = phrase.toLowerCase();
  return (text) => text !== undefined && text.text.toLowerCase().includes(sought);
}
