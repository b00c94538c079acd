/** The Session row of a log: who it is, where it came from, in which project (docs/adapters/qwen-code.md#identity). */
import { basename } from "node:path";
import type { Session } from "../../../model/index.ts";
import { sessionId } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { LogEvidence } from "../../kit/log/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { extractFromPath } from "../../kit/extract/index.ts";
import type { HeadFinder } from "./head.ts";
import { stemOf } from "../../kit/files/path-names.ts";
import { ADAPTER, EXTENSION, subagentIn } from "../layout.ts";

export function sessionOf({ unit, place, head, fileTime, known }: LogEvidence<HeadFinder>): Session {
  const recorded = head.id?.isWellFormed() === true ? head.id : undefined;
  const agent = subagentIn(unit.key);
  const own = recorded ?? stemOf(unit.key, EXTENSION);
  // A subagent's log records the id of the session that started it.
  const name = agent === undefined || recorded === undefined ? own : `${recorded}/${agent}`;
  const id = known ?? (recorded === undefined ? copyId(own, nameOfSource(place, unit.key)) : name);
  return {
    id: sessionId(id),
    ...parentOf(head, agent),
    source_agent: agent === undefined ? ADAPTER : `${ADAPTER}/${head.agent ?? "subagent"}`,
    created_at: head.instant ?? fileTime,
    project: head.directory ?? extractFromPath(unit.key.split("/").at(-3) ?? basename(place.path)),
    options: withFacts(
      { source: { path: unit.key, ...(own === id ? {} : { session_id: own }) } },
      head.instant === undefined ? { created_at: "file" } : {},
    ),
  };
}

function parentOf(
  { id, forkedFrom }: HeadFinder,
  agent: string | undefined,
): Pick<Session, "parent_session_id" | "relation"> {
  if (agent !== undefined && id !== undefined) return { parent_session_id: sessionId(id), relation: "spawn" };
  if (forkedFrom === undefined || forkedFrom === id) return {};
  return { parent_session_id: sessionId(forkedFrom), relation: "fork" };
}
