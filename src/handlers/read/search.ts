/** `search` (spec.md#wire-search): messages by words, exact text or pattern, grouped by session, best or newest first. */
import { PondError } from "../../base/errors.ts";
import { sentence } from "../../base/sentence.ts";
import type { MessageKey } from "../../model/index.ts";
import { formatTimestamp } from "../../model/index.ts";
import type {
  HitGroup,
  SearchInput,
  SearchPosition,
  ShownHit,
  Snippet,
  VectorSource,
  SearchedIn,
} from "../../search/index.ts";
import {
  explainSearch as explainRanking,
  readOtherParts,
  readSnippets,
  search as runSearch,
} from "../../search/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { messageCount } from "../../sessions/index.ts";
import { MAX_QUERY, SEARCH_LIMITS } from "../../wire/index.ts";
import type {
  Hit,
  HitSession,
  PartSummary,
  SearchExplanation,
  SearchRequest,
  SearchResponse,
} from "../../wire/index.ts";
import type { Context } from "../context/context.ts";
import { checkLimit, requireStore } from "../context/existing.ts";
import { requireClient, requireMessage } from "../context/find.ts";
import { decodeCursor, encodeCursor, requestName, scopeFilter } from "./filters.ts";
import { rowState, summariseParts } from "./views.ts";

/** Hits of one session; all of the page when one session is searched. */
const HITS_PER_SESSION = 3;

export async function search(context: Context, request: SearchRequest): Promise<SearchResponse> {
  const input = await inputOf(context, request);
  const store = await requireStore(context);
  if (request.filters?.source_agent !== undefined) await requireClient(context, request.filters.source_agent);
  const page = await runSearch(store, input);
  if (input.similarTo !== undefined && page.vectors?.state === "none") throw noVector(input.similarTo);
  const hits = page.groups.flatMap((group) => group.hits);
  const [snippets, summaries] = await Promise.all([
    readSnippets(store, hits, input),
    readPartSummaries(store, hits, input),
  ]);
  return {
    mode: input.similarTo === undefined ? input.mode : "similar",
    sessions: page.groups.map((group) => sessionOf(group, { snippets, summaries })),
    matched_total: page.matched,
    matched_total_exact: page.isExact,
    searchable_in_scope: page.searchable,
    ...(page.unsearched === 0 ? {} : { sessions_unsearched: page.unsearched }),
    ...(page.vectors === undefined ? {} : { vectors: page.vectors }),
    has_more: page.next !== undefined,
    ...(page.next === undefined ? {} : { next_cursor: encodeCursor(page.next, requestName(request)) }),
  };
}

/** The engine's plan instead of an answer: which filters an index takes before anything is ranked. */
export async function explainSearch(context: Context, request: SearchRequest): Promise<SearchExplanation> {
  const input = await inputOf(context, request);
  if (input.mode !== "words" || input.similarTo !== undefined)
    throw new PondError("validation_failed", "only a search by words is explained", {
      reason: "unsupported",
      hint: "leave the mode out",
      data: { field: "mode" },
    });
  const { plan, vectors, ranked } = await explainRanking(await requireStore(context), input);
  return {
    plan,
    vectors,
    ranked: ranked.map(({ session_id, id, ...message }) => ({ session_id, message_id: id, ...message })),
  };
}

async function inputOf(context: Context, request: SearchRequest): Promise<SearchInput> {
  const { filters = {} } = request;
  const limit = checkLimit("limit", request.limit, SEARCH_LIMITS);
  const similarTo = await similarMessage(context, request);
  const text = similarTo === undefined ? checkQuery(request) : "";
  const isOneSession = filters.session_id !== undefined;
  return {
    text,
    mode: request.mode ?? "words",
    searchedIn: checkIn(request),
    filter: {
      ...scopeFilter(filters),
      ...(filters.session_id === undefined ? {} : { session_id: filters.session_id }),
      ...(filters.role === undefined ? {} : { role: filters.role }),
      ...(filters.tool_name === undefined ? {} : { tool_name: filters.tool_name }),
      ...(filters.failed_only === true ? { failedOnly: true } : {}),
    },
    limit: isOneSession ? 1 : limit,
    perSession: isOneSession ? limit : HITS_PER_SESSION,
    minScore: filters.min_score ?? 0,
    includeSuperseded: request.include_superseded === true,
    ...(request.cursor === undefined ? {} : { after: positionOf(request.cursor, request) }),
    vectors: vectorSource(context),
    ...(similarTo === undefined ? {} : { similarTo }),
    clock: context.clock,
    signal: context.signal,
  };
}

function vectorSource({ embeddings, config }: Context): VectorSource | undefined {
  if (embeddings === undefined) return undefined;
  const { nprobes, refine_factor } = config.values.embeddings;
  return { open: embeddings.open, nprobes, refineFactor: refine_factor };
}

const noVector = ({ id }: MessageKey): PondError =>
  new PondError("validation_failed", `message ${id} has no vector, so nothing can be like it`, {
    reason: "unsupported",
    hint: sentence`set embeddings.provider and ${{ do: "sync" }}, or search by words instead`,
    data: { field: "similar_to", value: id },
  });

/** The message that others are to be like; it must be there, and it takes the place of a query. */
async function similarMessage(
  context: Context,
  { similar_to, similar_to_session, query, mode }: SearchRequest,
): Promise<MessageKey | undefined> {
  if (similar_to === undefined) {
    if (similar_to_session === undefined) return undefined;
    throw new PondError(
      "validation_failed",
      "similar_to_session names the session of similar_to, which is absent",
      {
        hint: "give the message, too",
        data: { field: "similar_to_session" },
      },
    );
  }
  if (query !== undefined && query.trim() !== "")
    throw new PondError(
      "validation_failed",
      "a search has a query or a message that others are to be like, not both",
      {
        hint: "leave one out",
        data: { field: "query", value: query },
      },
    );
  if (mode !== undefined && mode !== "words")
    throw new PondError("validation_failed", `mode ${mode} does not apply to similar_to`, {
      hint: "leave the mode out",
      data: { field: "mode", value: mode },
    });
  return requireMessage(await requireStore(context), similar_to, similar_to_session);
}

/** Only the conversation is found by words. */
function checkIn({
  mode = "words",
  in: where = mode === "words" ? "text" : "all",
}: SearchRequest): SearchedIn {
  if (mode !== "words" || where === "text") return where;
  throw new PondError("validation_failed", `words are found in the conversation only, not in ${where}`, {
    reason: "unsupported",
    hint: "mode exact finds text in tool calls and results and in everything else, too",
    data: { field: "in", value: where },
  });
}

function checkQuery({ query = "", mode }: SearchRequest): string {
  const text = mode === "exact" || mode === "regex" ? query : query.trim();
  if (text === "")
    throw new PondError("validation_failed", "the query is empty", {
      hint: sentence`give a query, for example: ${{ do: "search", query: "connection refused" }}`,
      data: { field: "query" },
    });
  if (text.length > MAX_QUERY)
    throw new PondError("validation_failed", `a query of ${text.length} characters is too long`, {
      reason: "limit",
      hint: `use at most ${MAX_QUERY}`,
      data: { field: "query" },
    });
  if (mode !== "exact" && mode !== "regex" && !/[\p{L}\p{N}]/u.test(text))
    throw new PondError("validation_failed", `${JSON.stringify(text)} contains no word`, {
      hint: "mode exact finds any text",
      data: { field: "query", value: text },
    });
  return text;
}

function positionOf(cursor: string, request: SearchRequest): SearchPosition {
  const position = decodeCursor(cursor, requestName(request));
  const { by, score, session_id, shown, last_at } = position;
  if (
    typeof session_id === "string" &&
    by === "words" &&
    typeof score === "number" &&
    typeof shown === "number"
  )
    return { by, score, session_id, shown };
  if (typeof session_id === "string" && by === "age" && typeof last_at === "number")
    return { by, session_id, last_at };
  throw new PondError("validation_failed", "cursor: not a cursor that pond issued", {
    reason: "stale_cursor",
  });
}

interface Texts {
  readonly snippets: ReadonlyMap<ShownHit, Snippet>;
  readonly summaries: ReadonlyMap<ShownHit, readonly PartSummary[]>;
}

function sessionOf({ session, hits, matched }: HitGroup, texts: Texts): HitSession {
  return {
    session_id: session.id,
    ...(session.title === undefined ? {} : { title: session.title }),
    project: session.project,
    source_agent: session.source_agent,
    last_at: formatTimestamp(session.last_at),
    session_messages_count: messageCount(session),
    matched_message_count: matched,
    matches: hits.map((hit) => hitOf(hit, session, texts)),
  };
}

function hitOf(hit: ShownHit, session: HitGroup["session"], { snippets, summaries }: Texts): Hit {
  const { part, alsoIn } = hit;
  const { text, length, highlights, windows } = snippets.get(hit) ?? NO_SNIPPET;
  const parts_summary = summaries.get(hit);
  const state = rowState(hit.status);
  return {
    message_id: hit.id,
    ...(state === undefined ? {} : { state }),
    ...(part === undefined ? {} : { part_id: part.id, kind: part.type }),
    ...(part?.tool_name === undefined ? {} : { tool_name: part.tool_name }),
    role: hit.role,
    timestamp: formatTimestamp(hit.timestamp),
    score: Math.round(hit.score * 10_000) / 10_000,
    text,
    text_length: length,
    ...(highlights.length === 0 ? {} : { highlights }),
    ...(windows.length === 0 ? {} : { windows }),
    // Of the newest end: the summary knows when it was last active, and nothing needs to be read for it.
    ...(session.last_at > hit.timestamp ? { newer: { last_at: formatTimestamp(session.last_at) } } : {}),
    ...(parts_summary === undefined ? {} : { parts_summary }),
    ...(alsoIn.length === 0 ? {} : { also_in: alsoIn }),
  };
}

const NO_SNIPPET: Snippet = { text: "", length: 0, highlights: [], windows: [] };

/** Of messages of users only: they tell a prompt with files from a plain one. */
async function readPartSummaries(
  store: SessionStore,
  hits: readonly ShownHit[],
  input: SearchInput,
): Promise<ReadonlyMap<ShownHit, readonly PartSummary[]>> {
  const users = hits.filter(({ role }) => role === "user");
  const summaries = await summariseParts(store, await readOtherParts(store, users, input));
  return new Map(users.map((hit, at) => [hit, summaries[at] ?? []]));
}
