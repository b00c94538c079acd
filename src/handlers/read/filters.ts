/** Filters and cursors of lists and searches, from their wire form. */
import { hash } from "node:crypto";
import { PondError } from "../../base/errors.ts";
import type { ScopeFilter } from "../../search/index.ts";
import type { ProjectFilter, SessionsRequest } from "../../wire/index.ts";
import { spanOf } from "./dates.ts";

type WireScope = Pick<
  SessionsRequest,
  "project" | "source_agent" | "from_date" | "to_date" | "time_zone" | "include_subagents"
>;

export function scopeFilter(scope: WireScope): ScopeFilter {
  const { project, source_agent } = scope;
  return {
    ...(project === undefined ? {} : { project: projectMatcher(project) }),
    ...(source_agent === undefined ? {} : { source_agent }),
    ...spanOf(scope),
    includeSubagents: scope.include_subagents === true,
  };
}

/** Many sessions are of one project: each is looked at once. */
function projectMatcher(filter: ProjectFilter): (project: string) => boolean {
  const isMeant = projectTest(filter);
  const known = new Map<string, boolean>();
  return (project) => {
    let answer = known.get(project);
    if (answer === undefined) known.set(project, (answer = isMeant(project)));
    return answer;
  };
}

/** Paths are compared as they are, but `contains` does not look at case. */
function projectTest(filter: ProjectFilter): (project: string) => boolean {
  if (typeof filter !== "string" && "exact" in filter) return (project) => project === filter.exact;
  if (typeof filter !== "string" && "prefix" in filter) return (project) => project.startsWith(filter.prefix);
  const part = (typeof filter === "string" ? filter : filter.contains).toLowerCase();
  return (project) => project.toLowerCase().includes(part);
}

/** What tells a request from others, wherever it goes on: everything but its page. */
export function requestName(request: object): string {
  const isOfPage = new Set(["limit", "cursor"]);
  const facts = (value: object): unknown =>
    Object.entries(value)
      .filter(([key]) => !isOfPage.has(key))
      .map(([key, each]: [string, unknown]) => [key, isObject(each) ? facts(each) : each])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  return hash("sha256", JSON.stringify(facts(request)), "hex").slice(0, 16);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** An opaque cursor: where the page ended, and of which request it was. */
export function encodeCursor(position: object, request: string): string {
  return Buffer.from(JSON.stringify({ ...position, of: request })).toString("base64url");
}

/** The position in a cursor of this very request. */
export function decodeCursor(cursor: string, request: string): Readonly<Record<string, unknown>> {
  const position = parseCursor(cursor);
  if (position?.["of"] === request) return position;
  throw new PondError(
    "validation_failed",
    position === undefined
      ? "cursor: not a cursor that pond issued"
      : "cursor: it belongs to another request",
    {
      reason: "stale_cursor",
      hint: "pass the cursor unchanged, with the query and filters it was issued for; or leave it out to start over",
      data: { field: "cursor" },
    },
  );
}

function parseCursor(cursor: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
