/** `sessions` (spec.md#wire-sessions): what is stored, newest first, with titles, counts and spans. */
import { PondError } from "../base/errors.ts";
import type { Timestamp } from "../model/index.ts";
import { formatTimestamp, parseTimestamp } from "../model/index.ts";
import type { SessionSummary } from "../sessions/index.ts";
import type { ProjectFilter, SessionLine, SessionsRequest, SessionsResponse } from "../wire/index.ts";
import { SESSIONS_LIMITS } from "../wire/index.ts";
import type { Context } from "./context.ts";
import { checkLimit, requireStore } from "./existing.ts";

export async function listSessions(context: Context, request: SessionsRequest): Promise<SessionsResponse> {
  const limit = checkLimit("limit", request.limit, SESSIONS_LIMITS);
  const store = await requireStore(context);
  const summaries = await store.summaries();
  const chosen = summaries.newestFirst.filter(matcher(request));
  const start = request.cursor === undefined ? 0 : positionAfter(chosen, request.cursor);
  const page = chosen.slice(start, start + limit);
  const last = page.at(-1);
  const has_more = start + page.length < chosen.length;
  return {
    sessions: page.map(lineOf),
    total: chosen.length,
    has_more,
    ...(has_more && last !== undefined ? { next_cursor: cursorOf(last) } : {}),
  };
}

function matcher(request: SessionsRequest): (summary: SessionSummary) => boolean {
  const from = request.from_date === undefined ? undefined : dayStart("from_date", request.from_date);
  const to = request.to_date === undefined ? undefined : dayStart("to_date", request.to_date) + DAY;
  const words = request.title?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const showsChildren = request.include_subagents === true || request.parent_session_id !== undefined;
  return (summary) =>
    (showsChildren || request.source_agent?.includes("/") === true || !summary.source_agent.includes("/")) &&
    (request.parent_session_id === undefined || summary.parent_session_id === request.parent_session_id) &&
    isBelow(summary.source_agent, request.source_agent) &&
    isProject(summary.project, request.project) &&
    (from === undefined || summary.last_at >= from) &&
    (to === undefined || summary.first_at < to) &&
    words.every((word) => summary.title?.toLowerCase().includes(word) === true);
}

const DAY = 86_400_000_000;

/** Microseconds of the start of a day, UTC. */
function dayStart(field: string, day: string): Timestamp {
  const instant = parseTimestamp(`${day}T00:00:00Z`);
  if (instant !== undefined) return instant;
  throw new PondError("validation_failed", `${field} is ${JSON.stringify(day)}`, {
    hint: "a day as YYYY-MM-DD",
    data: { field, value: day },
  });
}

/** A client and everything below it. */
function isBelow(agent: string, filter: string | undefined): boolean {
  return filter === undefined || agent === filter || agent.startsWith(`${filter}/`);
}

function isProject(project: string, filter: ProjectFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (typeof filter === "string") return project.toLowerCase().includes(filter.toLowerCase());
  if ("exact" in filter) return project === filter.exact;
  if ("prefix" in filter) return project.startsWith(filter.prefix);
  return project.toLowerCase().includes(filter.contains.toLowerCase());
}

/** Age and id of the last line shown: stable when newer sessions arrive meanwhile. */
function cursorOf({ last_at, id }: SessionSummary): string {
  return Buffer.from(JSON.stringify([last_at, id])).toString("base64url");
}

function positionAfter(sorted: readonly SessionSummary[], cursor: string): number {
  const [last, id] = decodeCursor(cursor);
  const at = sorted.findIndex(
    (summary) => summary.last_at < last || (summary.last_at === last && summary.id > id),
  );
  return at === -1 ? sorted.length : at;
}

function decodeCursor(cursor: string): readonly [number, string] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value) && typeof value[0] === "number" && typeof value[1] === "string")
      return [value[0], value[1]];
  } catch {
    // Said below.
  }
  throw new PondError("validation_failed", "this cursor is none of ours", {
    reason: "stale_cursor",
    hint: "pass next_cursor of the answer before as it is, or leave it out to start anew",
  });
}

function lineOf(summary: SessionSummary): SessionLine {
  const { id, title, source_agent, project, parent_session_id, parent_message_id, relation } = summary;
  return {
    id,
    ...(title === undefined ? {} : { title }),
    source_agent,
    project,
    created_at: formatTimestamp(summary.created_at),
    ...(parent_session_id === undefined ? {} : { parent_session_id }),
    ...(parent_message_id === undefined ? {} : { parent_message_id }),
    ...(relation === undefined ? {} : { relation }),
    first_at: formatTimestamp(summary.first_at),
    last_at: formatTimestamp(summary.last_at),
    messages: { total: Object.values(summary.messages).reduce((sum, n) => sum + n, 0), ...summary.messages },
    bytes: summary.bytes,
    children: summary.children,
  };
}
