/** The Session row of a log: who it is, where it came from, in which project (docs/adapters/qwen-code.md#identity). */
import { basename, sep } from "node:path";
import type { Session } from "../../../model/index.ts";
import { sessionId } from "../../../model/index.ts";
import { subagentLabel, withFacts } from "../../../model/derived/index.ts";
import type { LogEvidence } from "../../kit/log/index.ts";
import type { Place } from "../../kit/sources/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { extractFromPath } from "../../kit/extract/index.ts";
import type { HeadFinder } from "./head.ts";
import { stemOf } from "../../kit/files/path-names.ts";
import type { SubagentPlace } from "../layout.ts";
import { ADAPTER, CHATS, EXTENSION, isFileName, subagentAt, SUBAGENTS, subagentLog } from "../layout.ts";

export function sessionOf(evidence: LogEvidence<HeadFinder>): Session {
  const { unit, place, head, fileTime, known } = evidence;
  const recorded = head.id?.isWellFormed() === true ? head.id : undefined;
  const own = recorded ?? stemOf(unit.key, EXTENSION);
  const agent = agentOf(evidence, own);
  // A subagent's log records the id of the session that started it.
  const name = agent === undefined || recorded === undefined ? own : `${recorded}/${agent.name}`;
  const id = known ?? (recorded === undefined ? copyId(own, nameOfSource(place, unit.key)) : name);
  return {
    id: sessionId(id),
    ...parentOf(head, agent !== undefined),
    source_agent: agent === undefined ? ADAPTER : subagentLabel(ADAPTER, head.agent),
    created_at: head.instant ?? fileTime,
    project: head.directory ?? extractFromPath(projectFolder(place, unit.key, agent?.at)),
    options: withFacts(
      { source: { path: unit.key, ...(own === id ? {} : { session_id: own }) } },
      head.instant === undefined ? { created_at: "file" } : {},
    ),
  };
}

interface Agent {
  readonly name: string;
  readonly at: SubagentPlace | undefined;
}

/**
 * The subagent that wrote a log. Its folder says so, and elsewhere its records do (spec.md#adapter-lineage): a copy of it is
 * never joined with the session that it names. One that was read as that session before stays with it.
 */
function agentOf({ unit, place, head, known }: LogEvidence<HeadFinder>, own: string): Agent | undefined {
  const stem = stemOf(unit.key, EXTENSION);
  const inKey = subagentAt(unit.key);
  if (inKey === undefined && (!head.isSubagent || stem === own || known === own)) return undefined;
  const at = inKey ?? subagentAt(belowProject(place, unit.key));
  if (at?.session !== undefined) return { name: at.name, at };
  const { agentId } = head;
  if (agentId !== undefined && isFileName(agentId)) return { name: subagentLog(agentId), at };
  // Right below the folder of all subagents nothing but its place tells it from one in a session's folder.
  return { name: at === undefined ? stem : copyId(stem, nameOfSource(place, unit.key)), at };
}

/** The path of a log from the folder of its project on, where a place begins below that. */
function belowProject({ path }: Place, key: string): string {
  const folders = path.split(sep);
  const at = folders.lastIndexOf(SUBAGENTS);
  return at === -1 ? key : [...folders.slice(Math.max(0, at - 1)), key].join("/");
}

/** The folder of the project of a log, as it is. */
function projectFolder({ path }: Place, key: string, agent: SubagentPlace | undefined): string {
  if (agent !== undefined) return agent.project === "" ? basename(path) : agent.project;
  const folders = [...path.split(sep), ...key.split("/").slice(0, -1)];
  const isChat = folders.at(-1) === CHATS;
  return (isChat ? folders.at(-2) : key.split("/").at(-3)) ?? basename(path);
}

function parentOf(
  { id, forkedFrom }: HeadFinder,
  isSubagent: boolean,
): Pick<Session, "parent_session_id" | "relation"> {
  if (isSubagent && id !== undefined) return { parent_session_id: sessionId(id), relation: "spawn" };
  if (forkedFrom === undefined || forkedFrom === id) return {};
  return { parent_session_id: sessionId(forkedFrom), relation: "fork" };
}
