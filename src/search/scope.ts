/**
 * What a search looks at, as one filter on the searched table (spec.md#search-prefilter-pushdown): it is answered by the
 * scalar indexes before anything is ranked, never afterwards.
 */
import { PondError } from "../base/errors.ts";
import { parseTimestamp } from "../model/index.ts";
import type { Role } from "../model/index.ts";
import type { SummaryList } from "../sessions/index.ts";
import type { Predicate } from "../substrate/index.ts";
import { and, contains, eq, ge, isIn, lt, startsWith } from "../substrate/index.ts";

export interface Scope {
  readonly project?:
    | string
    | { readonly contains: string }
    | { readonly prefix: string }
    | { readonly exact: string };
  readonly source_agent?: string;
  readonly session_id?: string;
  readonly role?: Role;
  /** Days, YYYY-MM-DD, both included. */
  readonly from_date?: string;
  readonly to_date?: string;
  readonly include_subagents?: boolean;
}

const DAY_MICROS = 86_400_000_000;

/** The filter on messages. Client names come from the summaries, so that subagents are left out by equality. */
export function scopeFilter(scope: Scope, summaries: SummaryList): Predicate {
  const filters: Predicate[] = [];
  if (scope.session_id !== undefined) filters.push(eq("session_id", scope.session_id));
  if (scope.role !== undefined) filters.push(eq("role", scope.role));
  if (scope.project !== undefined) filters.push(projectFilter(scope.project));
  if (scope.from_date !== undefined) filters.push(ge("timestamp", dayStart("from_date", scope.from_date)));
  if (scope.to_date !== undefined)
    filters.push(lt("timestamp", dayStart("to_date", scope.to_date) + DAY_MICROS));
  filters.push(...agentFilter(scope, summaries));
  return and(...filters);
}

function agentFilter(scope: Scope, summaries: SummaryList): Predicate[] {
  const agents = agentsInScope(scope, summaries);
  return agents === undefined ? [] : [isIn("source_agent", agents)];
}

/** Undefined when every client is meant. */
function agentsInScope(scope: Scope, summaries: SummaryList): readonly string[] | undefined {
  const { source_agent, session_id, include_subagents } = scope;
  const all = [...new Set(summaries.newestFirst.map((summary) => summary.source_agent))];
  if (source_agent !== undefined)
    return all.filter((agent) => agent === source_agent || agent.startsWith(`${source_agent}/`));
  if (include_subagents === true || session_id !== undefined) return undefined;
  return all.filter((agent) => !agent.includes("/"));
}

function projectFilter(project: NonNullable<Scope["project"]>): Predicate {
  if (typeof project === "string") return contains("project", project);
  if ("exact" in project) return eq("project", project.exact);
  if ("prefix" in project) return startsWith("project", project.prefix);
  return contains("project", project.contains);
}

function dayStart(field: string, day: string): number {
  const instant = parseTimestamp(`${day}T00:00:00Z`);
  if (instant !== undefined) return instant;
  throw new PondError("validation_failed", `${field} is ${JSON.stringify(day)}`, {
    hint: "a day as YYYY-MM-DD",
    data: { field, value: day },
  });
}
