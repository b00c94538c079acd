/**
 * The names in `source_agent` (spec.md#adapter-lineage): a client's brand alone, or `<brand>/<agent>` for a session of one of
 * its subagents. An agent's own name may have slashes; a brand has none.
 */

/** The client that recorded a session: native restore means that it is the target's. */
export function brandOf(sourceAgent: string): string {
  const slash = sourceAgent.indexOf("/");
  return slash === -1 ? sourceAgent : sourceAgent.slice(0, slash);
}

/** The name of the subagent; undefined for a session that a person leads. */
export function subagentOf(sourceAgent: string): string | undefined {
  const slash = sourceAgent.indexOf("/");
  return slash === -1 ? undefined : sourceAgent.slice(slash + 1);
}

/** Neither the brand nor the agent's name is empty. */
export function isSourceAgent(sourceAgent: string): boolean {
  return brandOf(sourceAgent) !== "" && subagentOf(sourceAgent) !== "";
}

export function isSubagent(sourceAgent: string): boolean {
  return sourceAgent.includes("/");
}

/** The label of a subagent's session; without a name it is called `subagent`. */
export function subagentLabel(brand: string, agent = "subagent"): string {
  return `${brand}/${agent}`;
}

/** Whether a filter by a client, or by one of its agents, lets a session in: itself and everything below. */
export function isOfAgent(sourceAgent: string, filter: string): boolean {
  return sourceAgent === filter || sourceAgent.startsWith(`${filter}/`);
}
