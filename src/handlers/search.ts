/**
 * `search` (spec.md#wire-search): messages that match, grouped by session, at most three a session. Scores are relative
 * to the best hit; an answer says how many messages were in its scope, so that an empty one is honest.
 */
import { PondError } from "../base/errors.ts";
import { formatTimestamp } from "../model/index.ts";
import type { Candidate, Collapsed } from "../search/index.ts";
import {
  byText,
  byWords,
  collapseCopies,
  explainWords,
  newestVersions,
  scopeFilter,
  searchable,
  snippet,
} from "../search/index.ts";
import type { SessionStore, SummaryList } from "../sessions/index.ts";
import type { Hit, HitSession, SearchRequest, SearchResponse } from "../wire/index.ts";
import { SEARCH_LIMITS } from "../wire/index.ts";
import type { Context } from "./context.ts";
import { checkLimit, requireStore } from "./existing.ts";
import { summariseParts } from "./views.ts";

const HITS_PER_SESSION = 3;
/** Candidates that are ranked and grouped; what is beyond them is `has_more` of nobody's first pages. */
const POOL = { perSession: 30, least: 300, most: 3000 };

export async function search(context: Context, request: SearchRequest): Promise<SearchResponse> {
  const limit = checkLimit("limit", request.limit, SEARCH_LIMITS);
  const query = requireQuery(request);
  const mode = request.mode ?? "fts";
  const store = await requireStore(context);
  const summaries = await store.summaries();
  const filters = request.filters ?? {};
  const where = scopeFilter(filters, summaries);
  const offset = request.cursor === undefined ? 0 : decodeCursor(request.cursor);
  const pool = Math.min(POOL.most, Math.max(POOL.least, (offset + limit) * POOL.perSession));
  const [found, scope] = await Promise.all([
    mode === "fts"
      ? byWords(store.tables, query, { where, pool })
      : byText(store.tables, query, { where, pool, mode }),
    searchable(store.tables, where),
  ]);
  const scored = found.filter(
    ({ score, session_id }) => score >= (filters.min_score ?? 0) && summaries.get(session_id) !== undefined,
  );
  const settled = newestVersions(scored, await store.pondSpaces(scored));
  const hits = collapseCopies(settled, (id) => summaries.get(id)?.created_at ?? 0);
  const perSession = filters.session_id === undefined ? HITS_PER_SESSION : limit;
  const groups = groupBySession(hits);
  const page = groups.slice(offset, offset + limit);
  const sessions = await Promise.all(
    page.map((group) => viewGroup(store, group, { query, summaries, perSession })),
  );
  const has_more = offset + page.length < groups.length;
  return {
    mode,
    sessions,
    matched_total: hits.length,
    matched_total_exact: found.length < pool,
    searchable_in_scope: scope,
    has_more,
    ...(has_more ? { next_cursor: encodeCursor(offset + page.length) } : {}),
  };
}

/** How the engine answers a search by words: shows that filters are pushed down. */
export async function explainSearch(context: Context, request: SearchRequest): Promise<string> {
  const store = await requireStore(context);
  const where = scopeFilter(request.filters ?? {}, await store.summaries());
  return explainWords(store.tables, requireQuery(request), where);
}

function requireQuery({ query, similar_to }: SearchRequest): string {
  if (similar_to !== undefined)
    throw new PondError("validation_failed", "similar_to needs embeddings, and no model is configured", {
      reason: "unsupported",
      hint: "search with a query instead",
    });
  const text = query?.trim() ?? "";
  if (text !== "") return text;
  throw new PondError("validation_failed", "the query is empty", {
    hint: "name a word or two to look for",
    data: { field: "query" },
  });
}

/** Sessions in the order of their best hit. */
function groupBySession(hits: readonly Collapsed[]): (readonly Collapsed[])[] {
  const groups = new Map<string, Collapsed[]>();
  for (const hit of hits) {
    const group = groups.get(hit.session_id);
    if (group === undefined) groups.set(hit.session_id, [hit]);
    else group.push(hit);
  }
  return [...groups.values()];
}

interface GroupView {
  readonly query: string;
  readonly summaries: SummaryList;
  readonly perSession: number;
}

async function viewGroup(
  store: SessionStore,
  group: readonly Collapsed[],
  view: GroupView,
): Promise<HitSession> {
  const shown = group.slice(0, view.perSession);
  const session_id = group[0]?.session_id ?? shown[0]?.session_id;
  const summary = session_id === undefined ? undefined : view.summaries.get(session_id);
  if (session_id === undefined || summary === undefined)
    throw new PondError("internal", "a hit has no session");
  const users = shown.filter(({ role }) => role === "user").map(({ message_id }) => message_id);
  const total = Object.values(summary.messages).reduce((sum, n) => sum + n, 0);
  const [texts, parts] = await Promise.all([
    store.texts(shown),
    store
      .partRefs({ session: session_id, messages: users, of: total })
      .then((refs) => summariseParts(store, refs)),
  ]);
  const matches = shown.map((hit, at): Hit => {
    const text = texts[at]?.text ?? "";
    const summaryOfParts = parts.get(hit.message_id);
    return {
      ...hitHead(hit),
      text: snippet(text, view.query),
      text_length: text.length,
      ...(summaryOfParts === undefined ? {} : { parts_summary: summaryOfParts }),
      ...(hit.copies.length === 0
        ? {}
        : { also_in: hit.copies.map(({ session_id: id, message_id }) => ({ session_id: id, message_id })) }),
    };
  });
  return {
    session_id,
    ...(summary.title === undefined ? {} : { title: summary.title }),
    project: summary.project,
    source_agent: summary.source_agent,
    last_at: formatTimestamp(summary.last_at),
    session_messages_count: total,
    matched_message_count: group.length,
    matches,
  };
}

function hitHead({
  message_id,
  role,
  timestamp,
  score,
}: Candidate): Pick<Hit, "message_id" | "role" | "timestamp" | "score"> {
  return { message_id, role, timestamp: formatTimestamp(timestamp), score: Math.round(score * 1000) / 1000 };
}

const encodeCursor = (offset: number): string => Buffer.from(`search:${offset}`).toString("base64url");

function decodeCursor(cursor: string): number {
  const match = /^search:(\d{1,6})$/.exec(Buffer.from(cursor, "base64url").toString("utf8"));
  if (match !== null) return Number(match[1]);
  throw new PondError("validation_failed", "this cursor is none of ours", {
    reason: "stale_cursor",
    hint: "pass next_cursor of the answer before as it is, or leave it out to start anew",
  });
}
