/**
 * Search for exact text or a pattern (spec.md#search-literal), in the conversation and in everything else that is
 * stored: tool calls and results, reasoning, injected text, system messages. There is no index for it: sessions are
 * scanned newest first, a stretch at a time, until the page is full or the time is up, and the next page goes on there. The
 * engine cannot be stopped inside a scan, and a pattern can take it minutes a megabyte: what it has not answered in time is
 * left for the next page, and nobody waits for it.
 */
import type { Clock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { TimeLimit } from "../../base/waiting.ts";
import type { SessionId } from "../../model/index.ts";
import type { SessionStore, SessionSummary } from "../../sessions/index.ts";
import { compareByAge } from "../../sessions/index.ts";
import { isIn } from "../../substrate/engine/predicate.ts";
import type { Found, HitGroup } from "../hits/collapse.ts";
import { Collapser, originalsFirst } from "../hits/collapse.ts";
import { copiesFoundElsewhere } from "./copies.ts";
import type { Candidates } from "./candidates.ts";
import { candidatesFor } from "./candidates.ts";
import type { ScanRequest } from "./literal-scan.ts";
import { asPatternFault, placed, scanMessages, scanParts } from "./literal-scan.ts";

/** The last session that was scanned. */
export interface LiteralPosition {
  readonly last_at: number;
  readonly session_id: string;
}

export interface LiteralRequest extends ScanRequest {
  readonly limit: number;
  readonly perSession: number;
  readonly after: LiteralPosition | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface LiteralPage {
  readonly groups: readonly HitGroup[];
  readonly matched: number;
  /** False when sessions are left to scan, or a stretch had more matches than were read. */
  readonly isExact: boolean;
  /** Sessions in scope that are left for the next pages. */
  readonly unsearched: number;
  readonly next: LiteralPosition | undefined;
}

/**
 * Sessions of one scan: few at first, because what is looked for is mostly recent. By their bytes, too: a core looks
 * through some 600 MB a second, and a scan that is not done in time was for nothing.
 */
const STRETCH = {
  first: { sessions: 50, bytes: 20_000_000 },
  factor: 3,
  most: { sessions: 1000, bytes: 200_000_000 },
};
/** Scans of a stretch that run at once, and the sessions that are worth one of their own: a scan alone leaves cores idle. */
const SCANS = { most: 2, least: 200 };
/** After this long a page is given as it is, in the middle of a scan too. */
const TIME_MS = 5000;

export async function searchLiterally(store: SessionStore, request: LiteralRequest): Promise<LiteralPage> {
  const { scope, limit, after, clock, signal } = request;
  const deadline = clock.now() + TIME_MS;
  using time = new TimeLimit(clock, TIME_MS);
  const [candidates] = await Promise.all([candidatesFor(store, request), checkPattern(store, request)]);
  const { inMessages, inParts } = candidates;
  const inScope = scope.sessions.filter(({ id }) => inMessages(id) || inParts(id));
  const sessions = after === undefined ? inScope : inScope.filter(isAfter(after));
  const scan: StretchScan = { ...request, scope: { ...scope, sessions: inScope }, candidates };
  const collapser = new Collapser(request.perSession);
  const copies: { readonly hit: Found; readonly session: SessionSummary }[] = [];
  let matched = 0;
  let isWhole = true;
  let scanned = 0;
  for (const stretch of stretchesOf(sessions)) {
    signal.throwIfAborted();
    if (collapser.size >= limit || (scanned > 0 && clock.now() > deadline)) break;
    const found = await time.of(scanStretch(store, stretch, scan));
    if (found === "late" && scanned === 0) throw tooSlow(stretch.length, request);
    if (found === "late") break;
    scanned += stretch.length;
    isWhole &&= found.isWhole;
    const byId = new Map<string, SessionSummary>(stretch.map((session) => [session.id, session]));
    for (const hit of found.hits.toSorted(originalsFirst)) {
      const session = byId.get(hit.session_id);
      if (session === undefined) continue;
      if (found.copies.has(hit)) copies.push({ hit, session });
      else if (collapser.add(hit, session)) matched += 1;
    }
  }
  // Their originals are hits where their own sessions come: of this page, which then say where else they are, or another.
  for (const { hit, session } of copies) if (collapser.sameAs(hit) !== undefined) collapser.add(hit, session);
  // A stretch may hold more sessions than the page: the next one begins after the last that is shown.
  const groups = collapser.groups.toSorted((a, b) => compareByAge(a.session, b.session));
  const shown = groups.slice(0, limit);
  const last = groups.length > limit ? shown.at(-1)?.session : sessions[scanned - 1];
  const isDone = groups.length <= limit && scanned === sessions.length;
  return {
    groups: shown,
    matched,
    isExact: isDone && isWhole,
    unsearched: sessions.length - (last === undefined ? 0 : sessions.indexOf(last) + 1),
    next: isDone || last === undefined ? undefined : { last_at: last.last_at, session_id: last.id },
  };
}

/** Nothing was looked through: an answer would be a page without progress, which the next one would be again. */
function tooSlow(sessions: number, { kind, text }: LiteralRequest): PondError {
  const what = kind === "regex" ? "pattern" : "text";
  const which = sessions === 1 ? "the newest session" : `the ${sessions} newest sessions`;
  return new PondError(
    "validation_failed",
    `in ${TIME_MS / 1000} seconds ${which} in scope could not be searched for the ${what} ${JSON.stringify(text)}`,
    {
      reason: "limit",
      hint:
        kind === "regex"
          ? "simplify the pattern (counted repetitions inside others, as in (x{1,100}){1,20}, cost the most), or search fewer sessions"
          : "search fewer sessions: filter by session, project or date",
      data: { field: "query", value: text, sessions_unsearched: sessions },
    },
  );
}

function* stretchesOf(sessions: readonly SessionSummary[]): Generator<readonly SessionSummary[]> {
  let stretch: SessionSummary[] = [];
  let most = STRETCH.first;
  let bytes = 0;
  for (const session of sessions) {
    if (stretch.length === most.sessions || (bytes + session.bytes > most.bytes && stretch.length > 0)) {
      yield stretch;
      most = {
        sessions: Math.min(most.sessions * STRETCH.factor, STRETCH.most.sessions),
        bytes: Math.min(most.bytes * STRETCH.factor, STRETCH.most.bytes),
      };
      [stretch, bytes] = [[], 0];
    }
    stretch.push(session);
    bytes += session.bytes;
  }
  if (stretch.length > 0) yield stretch;
}

const isAfter =
  (position: LiteralPosition) =>
  (session: SessionSummary): boolean =>
    compareByAge({ last_at: position.last_at, id: position.session_id }, session) < 0;

interface Stretch {
  /** Newest first. */
  readonly hits: readonly Found[];
  /** Those that are no hits of their own: what they are copies of is found in another stretch. */
  readonly copies: ReadonlySet<Found>;
  readonly isWhole: boolean;
}

/** With what signatures say; in scope is only what they do not exclude. */
interface StretchScan extends ScanRequest {
  readonly candidates: Candidates;
}

/** The engine reads a pattern before anything else does: where nothing is looked through, it is still refused. */
async function checkPattern(store: SessionStore, request: LiteralRequest): Promise<void> {
  if (request.kind === "regex")
    await store.tables.messages.checkPattern(request.text).catch(asPatternFault(request));
}

/** A list for each scan that is worth one. */
function inLists(ids: readonly SessionId[]): (readonly SessionId[])[] {
  const size = Math.max(SCANS.least, Math.ceil(ids.length / SCANS.most));
  const lists: (readonly SessionId[])[] = [];
  for (let start = 0; start < ids.length; start += size) lists.push(ids.slice(start, start + size));
  return lists;
}

async function scanStretch(
  store: SessionStore,
  sessions: readonly SessionSummary[],
  request: StretchScan,
): Promise<Stretch> {
  const { inMessages, inParts } = request.candidates;
  const ids = sessions.map(({ id }) => id);
  const scans = [
    ...inLists(ids.filter(inMessages)).map((some) => scanMessages(store, isIn("session_id", some), request)),
    ...inLists(ids.filter(inParts)).map((some) => scanParts(store, isIn("session_id", some), request)),
  ];
  const done = await Promise.all(scans).catch(asPatternFault(request));
  const hits = done
    .flatMap(({ found }) => found)
    .toSorted((a, b) => b.timestamp - a.timestamp || (a.row < b.row ? 1 : -1));
  const shown = await placed(hits, request);
  const copies = await copiesFoundElsewhere(store, shown, { ...request, sessions });
  return { hits: shown, copies, isWhole: done.every(({ isWhole }) => isWhole) };
}
