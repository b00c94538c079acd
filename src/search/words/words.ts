/**
 * Search by words: rank keys, read what the page needs of them, leave out what was replaced, show each message once, page
 * by the best hits.
 */
import type { MessageHead, SessionStore, SummaryList } from "../../sessions/index.ts";
import type { Found, HitGroup } from "../hits/collapse.ts";
import { Collapser, originalsFirst } from "../hits/collapse.ts";
import { keptOf } from "../kept/kept.ts";
import type { TextMap } from "../kept/text-map.ts";
import type { Candidate, Ranked, Ranking } from "./lexical.ts";
import { byScore, rankByWords, termWeights } from "./lexical.ts";
import { OriginalMessages } from "../hits/origins.ts";
import { pushedDown } from "../hits/part-scope.ts";
import type { WordQuery } from "./query.ts";
import { rescore } from "./rescore.ts";
import type { Scope } from "../hits/scope.ts";
import type { ArmScores } from "../vectors/fuse.ts";
import { fuse } from "../vectors/fuse.ts";
import type { NearRequest, VectorSource, VectorUse } from "../vectors/near.ts";
import { nearTexts } from "../vectors/near.ts";
import type { HitStates } from "../hits/hit-states.ts";

export interface RankRequest extends NearRequest {
  readonly query: WordQuery;
  readonly rowStates: HitStates;
  /** Undefined where no model is configured: words alone. */
  readonly vectors?: VectorSource | undefined;
  /** Messages by words. */
  readonly most: number;
}

/** Where the page before ended. */
export interface WordPosition {
  readonly score: number;
  readonly session_id: string;
  /** Sessions shown so far. */
  readonly shown: number;
}

export interface WordRequest extends Omit<RankRequest, "most">, Omit<PageRequest, "canRankMore"> {}

export interface PageRequest {
  readonly summaries: SummaryList;
  readonly rowStates: HitStates;
  /** Whether another page could rank more than this one did. */
  readonly canRankMore: boolean;
  /** Sessions of the page. */
  readonly limit: number;
  readonly perSession: number;
  readonly minScore: number;
  readonly after: WordPosition | undefined;
}

export interface WordPage {
  readonly groups: readonly HitGroup[];
  readonly matched: number;
  readonly isExact: boolean;
  readonly next: WordPosition | undefined;
  readonly vectors: VectorUse;
}

/** Messages that are ranked: enough for a first page and an honest count, 4 ms over 500,000. Deeper pages rank more. */
const POOL = { first: 1000, perShown: 100, most: 20_000 };
/** Messages for each session of the page that are looked at together, best first, until the page is full. */
const LOOKED_AT = 4;
/** Sessions behind those of the page that are looked into for the sake of the count: some hundred milliseconds. */
const MOST_COUNTED = 100;

/** Messages that vectors alone find: of the nearest some are always far, and an empty answer must mean something. */
const MOST_JOINED = 50;

export interface RankedMessages {
  /** Best first, the best with score 1. */
  readonly candidates: readonly Candidate[];
  /** Both scores of each, where vectors were asked. */
  readonly arms: ReadonlyMap<bigint, ArmScores> | undefined;
  readonly isCut: boolean;
  readonly map: TextMap | undefined;
  readonly vectors: VectorUse;
}

/** All that matches, as far as it is ranked: by words with their neighbours and, where there are any, by vectors. */
export async function rankMessages(store: SessionStore, request: RankRequest): Promise<RankedMessages> {
  const { scope, summaries, rowStates, text, most } = request;
  const kept = keptOf(store);
  const map = await kept.begin(summaries);
  const [ranked, weights, near] = await Promise.all([
    rankInScope(scope, most, (step) =>
      rankOnce(store, request.query, { where: pushedDown(scope), most: step, map }),
    ),
    termWeights(store, request.query, kept.weights),
    nearTexts(store, request.vectors, request),
  ]);
  const isKnown = ({ session_id }: { readonly session_id: string }): boolean =>
    summaries.get(session_id) !== undefined;
  const listed = ranked.candidates.filter(isKnown);
  const byWords = new Set(listed.map(({ row }) => row));
  const joined = near.messages
    .filter((each) => isKnown(each) && !byWords.has(each.row) && each.similarity >= near.scale.alone)
    .slice(0, MOST_JOINED)
    .map(({ row, session_id }): Candidate => ({ row, session_id, score: 0 }));
  const { candidates, coverage } = await rescore(store, listed, {
    text,
    weights,
    rowStates,
    texts: kept.texts,
    map: ranked.map,
    also: joined,
  });
  const { isCut } = ranked;
  const all = { isCut, map: ranked.map, vectors: near.use };
  if (near.use.state !== "used") return { ...all, candidates: fromTop(candidates), arms: undefined };
  const similarity = new Map(near.messages.map((each) => [each.row, each.similarity]));
  const arms = fuse(candidates, { coverage, similarity, scale: near.scale });
  const fused = candidates
    .map((candidate) => ({ ...candidate, score: arms.get(candidate.row)?.fused ?? 0 }))
    .toSorted(byScore);
  return { ...all, vectors: { ...near.use, alone: joined.length }, candidates: fromTop(fused), arms };
}

/** Scores as shares of the best one. */
function fromTop(candidates: readonly Candidate[]): readonly Candidate[] {
  const top = candidates[0]?.score ?? 0;
  return candidates.map((candidate) => ({ ...candidate, score: top > 0 ? candidate.score / top : 0 }));
}

export async function searchByWords(store: SessionStore, request: WordRequest): Promise<WordPage> {
  const most = Math.min(POOL.most, POOL.first + POOL.perShown * (request.after?.shown ?? 0));
  return pageOf(store, await rankMessages(store, { ...request, most }), {
    ...request,
    canRankMore: most < POOL.most,
  });
}

/** A page of messages that are ranked, whatever by. */
export async function pageOf(
  store: SessionStore,
  ranked: RankedMessages,
  request: PageRequest,
): Promise<WordPage> {
  const { summaries, rowStates, limit, after } = request;
  const visible = ranked.candidates.filter(({ score }) => score >= request.minScore);
  const collapser = new Collapser(request.perSession);
  const origins = new OriginalMessages(store, summaries);
  let readCount = 0;
  let left = 0;
  const read = async (step: readonly Candidate[]): Promise<void> => {
    for (const found of await readFound(store, step, { rowStates, origins, map: ranked.map })) {
      const session = summaries.get(found.session_id);
      const isHit = session !== undefined && rowStates.isShown(found) && collapser.add(found, session);
      if (!isHit) left += 1;
    }
    readCount += step.length;
  };
  while (readCount < visible.length && groupsAfter(collapser.groups, after).length <= limit)
    await read(visible.slice(readCount, readCount + Math.max(LOOKED_AT * limit, request.perSession)));
  // What is not read yet belongs to later pages, but for further hits of the sessions of this one.
  const behind = visible.slice(readCount);
  const further = furtherHits(
    behind,
    groupsAfter(collapser.groups, after).slice(0, limit),
    request.perSession,
  );
  await read(further);
  const isRead = new Set(further);
  const rest = await unreadHits(
    behind.filter((each) => !isRead.has(each)),
    rowStates,
  );
  const unread = countBySession(rest.hits);
  const later = groupsAfter(collapser.groups, after);
  const groups = later.slice(0, limit);
  for (const group of groups) group.matched += unread.get(group.session.id) ?? 0;
  const hasMore =
    later.length > limit ||
    [...unread.keys()].some((session) => !collapser.has(session)) ||
    !rest.isWhole ||
    (ranked.isCut && request.canRankMore && groups.length > 0);
  const last = groups.at(-1);
  return {
    groups,
    vectors: ranked.vectors,
    matched: readCount - left + rest.hits.length,
    isExact: !ranked.isCut && rest.isWhole,
    next:
      hasMore && last !== undefined
        ? { score: last.best, session_id: last.session.id, shown: (after?.shown ?? 0) + groups.length }
        : undefined,
  };
}

type RankedOnce = Ranked & { readonly map: TextMap | undefined };

/** With the map, as far as it knows what is found; and which map that was. */
async function rankOnce(store: SessionStore, query: WordQuery, ranking: Ranking): Promise<RankedOnce> {
  const ranked = await rankByWords(store, query, ranking);
  if (ranked !== undefined) return { ...ranked, map: ranking.map };
  const again = await rankByWords(store, query, { ...ranking, map: undefined });
  return { candidates: [], isCut: false, ...again, map: undefined };
}

interface Finding {
  readonly rowStates: HitStates;
  readonly origins: OriginalMessages;
  readonly map: TextMap | undefined;
}

/** Steps in which more is ranked, where what is in scope could not be told to the engine. */
const STEP = 8;

/** As many as are wanted of those that are in scope, if there are so many. */
async function rankInScope(
  { parts }: Scope,
  most: number,
  rank: (most: number) => Promise<RankedOnce>,
): Promise<RankedOnce> {
  for (let step = most; ; step *= STEP) {
    const ranked = await rank(step);
    if (parts === undefined) return ranked;
    const candidates = ranked.candidates.filter(({ row }) => parts.rows.has(row));
    if (!ranked.isCut || candidates.length >= most) return { ...ranked, candidates };
  }
}

/** Best first; of equal ones originals before their copies. */
async function readFound(
  store: SessionStore,
  candidates: readonly Candidate[],
  { rowStates, origins, map }: Finding,
): Promise<Found[]> {
  const scores = new Map(candidates.map(({ row, score }) => [row, score]));
  const [heads] = await Promise.all([
    headsOf(store, [...scores.keys()], map),
    rowStates.load(candidates.map(({ session_id }) => session_id)),
  ]);
  return (await origins.follow(heads))
    .map((head) => ({ ...head, score: scores.get(head.row) ?? 0, status: rowStates.of(head) }))
    .toSorted(originalsFirst);
}

/** From the map, and from the table what it cannot tell; in the order given. */
async function headsOf(
  store: SessionStore,
  rows: readonly bigint[],
  map: TextMap | undefined,
): Promise<readonly MessageHead[]> {
  if (map === undefined) return store.heads(rows);
  const known = rows.map((row) => map.head(row));
  const read = await store.heads(rows.filter((_, at) => known[at] === undefined));
  const byRow = new Map(read.map((head) => [head.row, head]));
  return rows.flatMap((row, at) => known[at] ?? byRow.get(row) ?? []);
}

/** The next best candidates of sessions that show fewer hits than they may, some of which may be versions or copies. */
function furtherHits(
  candidates: readonly Candidate[],
  groups: readonly HitGroup[],
  perSession: number,
): readonly Candidate[] {
  const wanted = new Map(
    groups.map(({ session, hits }): [string, number] => [session.id, LOOKED_AT * (perSession - hits.length)]),
  );
  return candidates.filter(({ session_id }) => {
    const left = wanted.get(session_id) ?? 0;
    wanted.set(session_id, left - 1);
    return left > 0;
  });
}

/** What the page does not show, for its count: without what was replaced, as far as that is looked into. */
async function unreadHits(
  candidates: readonly Candidate[],
  rowStates: HitStates,
): Promise<{ readonly hits: readonly Candidate[]; readonly isWhole: boolean }> {
  const sessions = new Set(candidates.map(({ session_id }) => session_id));
  if (rowStates.unknown(sessions).length <= MOST_COUNTED) await rowStates.load(sessions);
  const unknown = new Set(rowStates.unknown(sessions));
  return {
    hits: candidates.filter((each) => !unknown.has(each.session_id) && rowStates.isShown(each)),
    isWhole: unknown.size === 0,
  };
}

/** What the pages before have not shown: after the last session shown or, if it is gone, after its score. */
function groupsAfter(groups: readonly HitGroup[], after: WordPosition | undefined): readonly HitGroup[] {
  if (after === undefined) return groups;
  const last = groups.findIndex(({ session }) => session.id === after.session_id);
  return last >= 0 ? groups.slice(last + 1) : groups.filter(({ best }) => best < after.score);
}

function countBySession(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { session_id } of candidates) counts.set(session_id, (counts.get(session_id) ?? 0) + 1);
  return counts;
}
