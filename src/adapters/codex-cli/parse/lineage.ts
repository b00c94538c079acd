/** Who a session descends from, as its `session_meta` tells it (spec.md#model-lineage). */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Relation } from "../../../model/index.ts";
import { subagentLabel } from "../../../model/derived/index.ts";
import { field, integerField, objectField } from "../../kit/extract/index.ts";
import { ADAPTER, parseRolloutName, sessionIdOf } from "../layout.ts";
import { ordinalId } from "../records/record.ts";

export interface CodexLineage {
  readonly sourceAgent: string;
  readonly parentId?: string;
  readonly relation?: Relation;
  /** The last message of the parent that the fork includes. */
  readonly cut?: string;
}

export function lineageOf(meta: JsonObject, fileName: string): CodexLineage {
  const agent = agentOf(meta);
  const sourceAgent = agent === undefined ? ADAPTER : subagentLabel(ADAPTER, agent.kind);
  if (agent !== undefined) {
    const parentId = agent.parentId ?? nameIn(meta, "parent_thread_id") ?? nameIn(meta, "forked_from_id");
    if (parentId === undefined) return { sourceAgent };
    return { sourceAgent, parentId, relation: "spawn", ...cutIn(meta, parentId) };
  }
  const parentId = forkParent(meta, fileName);
  if (parentId === undefined) return { sourceAgent };
  return { sourceAgent, parentId, relation: "fork", ...cutIn(meta, parentId) };
}

/** True for sessions that the harness starts for itself from a template of its own. */
export function isHarnessSession(meta: JsonObject): boolean {
  const agent = agentOf(meta);
  return agent !== undefined && !agent.spawned;
}

interface Agent {
  readonly kind: string;
  /** Spawned by an agent with a task of its own, not by the harness. */
  readonly spawned: boolean;
  readonly parentId?: string;
}

/** `{subagent: "review" | {thread_spawn: {...}} | {other: "..."}}` or `{internal: "guardian"}`. */
function agentOf(meta: JsonObject): Agent | undefined {
  const source = objectField(meta, "source");
  if (source === undefined) return nameIn(meta, "thread_source") === "subagent" ? spawned(meta) : undefined;
  const internal = nameIn(source, "internal");
  if (internal !== undefined) return { kind: internal, spawned: false };
  const kind = nameIn(source, "subagent");
  if (kind !== undefined) return { kind, spawned: false };
  const subagent = objectField(source, "subagent");
  if (subagent === undefined) return undefined;
  const spawn = objectField(subagent, "thread_spawn");
  if (spawn !== undefined) return { ...spawned(spawn, meta), ...parentIn(spawn) };
  const other = nameIn(subagent, "other");
  return other === undefined ? spawned(meta) : { kind: other, spawned: false };
}

function spawned(...facts: readonly JsonObject[]): Agent {
  const names = facts.flatMap((fact) => [nameIn(fact, "agent_role"), nameIn(fact, "agent_type")]);
  return { kind: names.find((name) => name !== undefined) ?? "subagent", spawned: true };
}

function parentIn(spawn: JsonObject): { readonly parentId?: string } {
  const parentId = nameIn(spawn, "parent_thread_id");
  return parentId === undefined ? {} : { parentId };
}

/**
 * A fork names its thread in `forked_from_id`. A paginated one also names the file whose prefix it goes on from; that
 * id is a rollout's, which after a revert is not the thread's.
 */
function forkParent(meta: JsonObject, fileName: string): string | undefined {
  const base = objectField(meta, "history_base");
  const rolloutId = base === undefined ? undefined : nameIn(base, "thread_id");
  const name = parseRolloutName(fileName);
  const reverted = name?.rolloutId === undefined ? undefined : name.threadId;
  const threadId = nameIn(meta, "forked_from_id") ?? reverted;
  if (threadId === undefined) return rolloutId;
  return rolloutId === undefined || rolloutId === threadId ? threadId : sessionIdOf({ threadId, rolloutId });
}

/** Records are numbered through from the prefix on, so the last included one is known by its number. */
function cutIn(meta: JsonObject, parentId: string): { readonly cut?: string } {
  const base = objectField(meta, "history_base");
  const end = base === undefined ? undefined : integerField(base, "end_ordinal_exclusive");
  const rolloutId = base === undefined ? undefined : nameIn(base, "thread_id");
  if (end === undefined || end < 1 || rolloutId === undefined || !parentId.endsWith(rolloutId)) return {};
  return { cut: ordinalId(end - 1) };
}

function nameIn(object: JsonObject, name: string): string | undefined {
  const value = field(object, name);
  return typeof value === "string" && value !== "" && value.isWellFormed() ? value : undefined;
}
