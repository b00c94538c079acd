/**
 * The Session row of a rollout: who it is, whose child or fork, in which project (spec.md#model-project-non-empty). One
 * that records neither a directory nor a repository is named by the folder it stands in.
 */
import { basename as nativeBasename } from "node:path";
import { basename, dirname } from "node:path/posix";
import { optional } from "../../../base/optional.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { Session, Timestamp } from "../../../model/index.ts";
import { messageId, sessionId, timestampFromMillis } from "../../../model/index.ts";
import { extractFromPath, field } from "../../kit/extract/index.ts";
import type { Place, Unit } from "../../kit/sources/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { parseRolloutName, sessionIdOf } from "../layout.ts";
import type { HeadFinder } from "./head.ts";
import type { CodexLineage } from "./lineage.ts";
import { lineageOf } from "./lineage.ts";

/** The session that the header describes; `known` is the id under which earlier records of the log were told. */
export function sessionOf(
  head: HeadFinder,
  unit: Unit,
  from: { readonly place: Place; readonly known?: string | undefined },
): Session {
  const stamp = unit.files[0];
  const created = head.createdAt;
  const fallback = created ?? timestampFromMillis(Math.floor(stamp?.mtime ?? 0));
  const name = nameOfSource(from.place, unit.key);
  const folder = name === unit.key ? dirname(name) : basename(dirname(name));
  const id = from.known ?? idOf(head, unit, name);
  const lineage = lineageOf(head.meta ?? {}, basename(unit.key));
  return {
    id: sessionId(id),
    ...(lineage.parentId === id ? {} : parentFields(lineage)),
    source_agent: lineage.sourceAgent,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file's mtime is an instant
    created_at: fallback as Timestamp,
    project: head.scope ?? extractFromPath(folder === "." ? nativeBasename(from.place.path) : folder),
    options: withFacts({ source: { path: unit.key } }, created === undefined ? { created_at: "file" } : {}),
  };
}

function parentFields({ parentId, cut, relation }: CodexLineage): Partial<Session> {
  if (parentId === undefined) return {};
  return {
    parent_session_id: sessionId(parentId),
    ...optional("parent_message_id", cut === undefined ? undefined : messageId(cut)),
    ...optional("relation", relation),
  };
}

/**
 * Every log that records an id is a source of that session, wherever it stands; one that lost its first line is told by
 * the id in its name; any other has an id of its own.
 */
function idOf(head: HeadFinder, unit: Unit, source: string): string {
  const file = basename(unit.key);
  const own = head.meta === undefined ? undefined : field(head.meta, "id");
  const isUsable = typeof own === "string" && own !== "" && own.isWellFormed();
  const name = parseRolloutName(file);
  if (name !== undefined && (!isUsable || name.threadId === own)) return sessionIdOf(name);
  return isUsable ? own : copyId(file.replace(/\.jsonl?$/, ""), source);
}
