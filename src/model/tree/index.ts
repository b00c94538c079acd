/** Trees in stages over any source: plan, resolve, hydrate (spec.md#live-staged-tree). */
export { hydrateTree, lineageOf, loadTree, resolveTree, sessionsIn, stateOf } from "./load.ts";
export { planParts, planTree } from "./plan.ts";
export { REF } from "./types.ts";
export type {
  Fault,
  Found,
  Located,
  MessageNode,
  MessageOutline,
  MessagePlan,
  MessageRange,
  Outcome,
  Outline,
  PartNode,
  PartOutline,
  PartScope,
  PlanNode,
  RefTree,
  SessionNode,
  SessionOutline,
  SessionPlan,
  Staged,
  TreeIssue,
  TreeRef,
  TreeScope,
  TreeSource,
} from "./types.ts";
