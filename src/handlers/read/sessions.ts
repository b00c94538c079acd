/** `sessions` (spec.md#wire-sessions): what is stored, newest first, with titles, counts and spans. */
import { PondError } from "../../base/errors.ts";
import { formatTimestamp } from "../../model/index.ts";
import { isInScope } from "../../search/index.ts";
import type { RestoreHead, SessionSummary } from "../../sessions/index.ts";
import { messageCount } from "../../sessions/index.ts";
import type { SessionLine, SessionsRequest, SessionsResponse } from "../../wire/index.ts";
import { SESSIONS_LIMITS } from "../../wire/index.ts";
import type { Context } from "../context/context.ts";
import { checkLimit, requireStore } from "../context/existing.ts";
import { requireClient } from "../context/find.ts";
import { decodeCursor, encodeCursor, requestName, scopeFilter } from "./filters.ts";
import { sessionHead } from "./views.ts";

export async function listSessions(context: Context, request: SessionsRequest): Promise<SessionsResponse> {
  const limit = checkLimit("limit", request.limit, SESSIONS_LIMITS);
  const isWanted = matcher(request);
  const name = requestName(request);
  const after = request.cursor === undefined ? undefined : positionOf(request.cursor, name);
  const store = await requireStore(context);
  if (request.source_agent !== undefined) await requireClient(context, request.source_agent);
  const { sessions, total, hasMore } = (await store.summaries()).page(isWanted, { after, limit });
  const last = sessions.at(-1);
  const restores = Map.groupBy(await store.restoresOf(sessions.map(({ id }) => id)), ({ from }) => from);
  return {
    sessions: sessions.map((summary) => lineOf(summary, restores.get(summary.id) ?? [])),
    total,
    has_more: hasMore,
    // Age and id of the last line shown: stable when newer sessions arrive meanwhile.
    ...(hasMore && last !== undefined
      ? { next_cursor: encodeCursor({ last_at: last.last_at, id: last.id }, name) }
      : {}),
  };
}

function matcher(request: SessionsRequest): (summary: SessionSummary) => boolean {
  const { title, parent_session_id } = request;
  const filter = scopeFilter(request);
  const scope = { ...filter, includeSubagents: filter.includeSubagents || parent_session_id !== undefined };
  const words = title?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  return (summary) =>
    isInScope(summary, scope) &&
    (parent_session_id === undefined || isChildOf(summary, parent_session_id)) &&
    words.every((word) => summary.title?.toLowerCase().includes(word) === true);
}

/** One that names itself is a root. */
const isChildOf = ({ id, parent_session_id }: SessionSummary, parent: string): boolean =>
  parent_session_id === parent && id !== parent;

function positionOf(cursor: string, name: string): { readonly last_at: number; readonly id: string } {
  const { last_at, id } = decodeCursor(cursor, name);
  if (typeof last_at === "number" && typeof id === "string") return { last_at, id };
  throw new PondError("validation_failed", "cursor: not a cursor that pond issued", {
    reason: "stale_cursor",
  });
}

function lineOf(summary: SessionSummary, restores: readonly RestoreHead[]): SessionLine {
  const { messages, bytes, children, ends = 1 } = summary;
  return {
    ...sessionHead(summary),
    first_at: formatTimestamp(summary.first_at),
    last_at: formatTimestamp(summary.last_at),
    messages: { total: messageCount(summary), ...messages },
    bytes,
    children,
    ...(ends > 1 ? { ends } : {}),
    ...(restores.length === 0 ? {} : { restored_to: restores.map(restoreView) }),
  };
}

function restoreView({
  adapter,
  session,
  path,
  restored_at,
}: RestoreHead): NonNullable<SessionLine["restored_to"]>[number] {
  const at = new Date(restored_at / 1000).toISOString();
  return { client: adapter, session_id: session, path, restored_at: at };
}
