/** What the filters of a search let in, for surfaces that say so. */
import { isSubagent } from "../model/derived/index.ts";
import type { SearchFilters } from "./types.ts";

/** Whether sessions of subagents are looked at: asked for, or named by their session or their agent. */
export function includesSubagents({ include_subagents, session_id, source_agent }: SearchFilters): boolean {
  const isNamed = source_agent !== undefined && isSubagent(source_agent);
  return include_subagents === true || session_id !== undefined || isNamed;
}
