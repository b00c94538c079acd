/**
 * Which sessions and messages a search looks at. Filters on a session's labels are answered from the summaries and
 * become lists of labels, so that the scalar indexes decide before anything is ranked
 * (spec.md#search-prefilter-pushdown).
 */
import type { Role } from "../../model/index.ts";
import type { MessageFilter, SessionSummary, SummaryList } from "../../sessions/index.ts";
import { isOfAgent, isSubagent } from "../../model/derived/index.ts";
import { isPlain } from "../../sessions/index.ts";
import type { PartScope } from "./part-scope.ts";
import { and, eq, ge, isIn, lt, MAX_IN_VALUES, or } from "../../substrate/engine/predicate.ts";

export interface ScopeFilter {
  readonly project?: (project: string) => boolean;
  readonly session_id?: string;
  /** A client, or one of its agents, and everything below. */
  readonly source_agent?: string;
  readonly role?: Role;
  /** Microseconds: the first instant in scope, and the first one past it. */
  readonly from?: number;
  readonly until?: number;
  /** Sessions of subagents too; they are also in when a session or an agent's brand is asked for. */
  readonly includeSubagents: boolean;
  /** Messages with a call or result of this tool, or with a call that failed. */
  readonly tool_name?: string;
  readonly failedOnly?: boolean;
}

export interface Scope {
  /** Sessions in scope, newest first. */
  readonly sessions: readonly SessionSummary[];
  /** Over the messages, and over their vectors; undefined when everything is in scope. */
  readonly messages: MessageFilter | undefined;
  /** What of it concerns single messages and not whole sessions. */
  readonly perMessage: readonly MessageFilter[];
  /** Where a filter asks for parts. */
  readonly parts?: PartScope;
}

export function scopeOf(summaries: SummaryList, filter: ScopeFilter): Scope {
  const all = showsAgents(filter) ? summaries.newestFirst : summaries.main;
  const sessions = isUnfiltered(filter) ? all : all.filter((session) => mayHold(session, filter));
  const perMessage = messagePredicates(filter);
  const ofSessions =
    filter.session_id === undefined
      ? labelPredicates(summaries, sessions)
      : [eq("session_id", filter.session_id)];
  const predicates = [...ofSessions, ...perMessage];
  return { sessions, perMessage, messages: predicates.length === 0 ? undefined : and(...predicates) };
}

/** A summary spans the newest end alone: where there is more, the messages' own times decide. */
function mayHold(session: SessionSummary, filter: ScopeFilter): boolean {
  if (isPlain(session)) return isInScope(session, filter);
  const { from: _, until: __, ...rest } = filter;
  return isInScope(session, rest);
}

/** Whether a session has messages that a filter may let in. */
export function isInScope(session: SessionSummary, filter: ScopeFilter): boolean {
  const { session_id, source_agent, project, from, until } = filter;
  if (session_id !== undefined && session.id !== session_id) return false;
  if (source_agent !== undefined && !isOfAgent(session.source_agent, source_agent)) return false;
  if (!showsAgents(filter) && isSubagent(session.source_agent)) return false;
  if (from !== undefined && session.last_at < from) return false;
  if (until !== undefined && session.first_at >= until) return false;
  return project === undefined || project(session.project);
}

const showsAgents = ({ includeSubagents, session_id, source_agent }: ScopeFilter): boolean =>
  includeSubagents || session_id !== undefined || (source_agent !== undefined && isSubagent(source_agent));

/** Nothing is said about sessions, apart from their agents. */
const isUnfiltered = ({ session_id, source_agent, project, from, until }: ScopeFilter): boolean =>
  [session_id, source_agent, project, from, until].every((filter) => filter === undefined);

function messagePredicates({ role, from, until }: ScopeFilter): MessageFilter[] {
  return [
    ...(role === undefined ? [] : [eq("role", role)]),
    ...(from === undefined ? [] : [ge("timestamp", from)]),
    ...(until === undefined ? [] : [lt("timestamp", until)]),
  ];
}

/**
 * The labels of the sessions in scope. Each filter looks at one label, so a message with both labels in the lists
 * passes them all. No list where every session's label is in it.
 */
function labelPredicates(
  summaries: SummaryList,
  sessions: readonly SessionSummary[],
): readonly MessageFilter[] {
  if (sessions.length === summaries.size) return [];
  const predicates: MessageFilter[] = [];
  for (const label of ["source_agent", "project"] as const) {
    const wanted = new Set<string>();
    for (const session of sessions) wanted.add(session[label]);
    if (wanted.size < summaries.labels(label).size) predicates.push(isOneOf(label, [...wanted]));
  }
  return predicates;
}

function isOneOf(column: "source_agent" | "project", values: readonly string[]): MessageFilter {
  const lists: MessageFilter[] = [];
  for (let start = 0; start < values.length; start += MAX_IN_VALUES)
    lists.push(isIn(column, values.slice(start, start + MAX_IN_VALUES)));
  return or(...lists);
}
