/** The Session row of a log: who it is, whose child, and in which project (docs/adapters/claude-code.md#identity). */
import type { Place, Unit } from "../../kit/sources/index.ts";
import { basename } from "node:path";
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { isUuid } from "../../../base/text.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import type { Relation, Session, Timestamp } from "../../../model/index.ts";
import { messageId, sessionId } from "../../../model/index.ts";
import { subagentLabel, withFacts } from "../../../model/derived/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { extractFromPath, extractName, field } from "../../kit/extract/index.ts";
import type { Head } from "./head.ts";
import type { LogPlace } from "../layout.ts";
import { folderOf, joinPath, nameOf } from "../../kit/files/path-names.ts";
import { ADAPTER, placeOfLog } from "../layout.ts";

export interface Evidence {
  readonly unit: Unit;
  readonly place: Place;
  readonly head: Head;
  /** What `<agent>.meta.json` says of a subagent. */
  readonly meta: JsonObject | undefined;
  /** When the log itself records no instant. */
  readonly fileTime: Timestamp;
  /** The id under which earlier records of this log were told. */
  readonly known: string | undefined;
}

export function sessionOf(evidence: Evidence): Session {
  const { unit, head, meta } = evidence;
  const place = placeOfLog(unit.key);
  const origin = originOf(place, evidence);
  const id = evidence.known ?? origin.id;
  const own = place.kind === "session" && origin.own !== id ? { session_id: origin.own } : {};
  const facts: PondFacts = {
    ...(head.instant === undefined ? { created_at: "file" } : {}),
    ...callOf(meta),
  };
  return {
    id: sessionId(id),
    ...parentOf(place, origin, head),
    source_agent: origin.parent === undefined ? ADAPTER : subagentLabel(ADAPTER, agentTypeOf(meta)),
    created_at: head.instant ?? evidence.fileTime,
    project:
      head.directory ?? extractFromPath(nameOf(folderOf(baseOf(place))) || basename(evidence.place.path)),
    options: withFacts({ source: { path: unit.key, ...own } }, facts),
  };
}

/** True for a log of a subagent: its user slot belongs to the agent that called it. */
export function isChild(key: string): boolean {
  return placeOfLog(key).kind !== "session";
}

interface SessionIdentity {
  readonly id: string;
  /** The id that the client itself would use. */
  readonly own: string;
  readonly parent: string | undefined;
}

function originOf(place: LogPlace, { unit, head, place: found }: Evidence): SessionIdentity {
  const copyOf = (id: string, key: string): string => copyId(id, nameOfSource(found, key));
  const claim = isJsonObject(unit.found) ? unit.found : {};
  const isCopy = field(claim, "copy") === true;
  if (place.kind === "session") {
    const isNamed =
      isUuid(place.stem) ||
      field(claim, "folder") === true ||
      head.session === undefined ||
      head.session === place.stem;
    const own = isNamed ? place.stem : (head.session ?? place.stem);
    // Every log that names its session is a source of it; only what nothing names is told by where it stands.
    const isRecorded = isUuid(own) || head.session === own;
    return { id: isRecorded || !isCopy ? own : copyOf(own, unit.key), own, parent: undefined };
  }
  if (place.kind === "subagent") {
    const isRecorded = isUuid(place.stem) || head.session === place.stem;
    const parent = isCopy && !isRecorded ? copyOf(place.stem, `${place.base}.jsonl`) : place.stem;
    return { id: `${parent}/${place.child}`, own: place.child, parent };
  }
  const recorded = head.session;
  if (recorded === undefined) {
    const id = isCopy ? copyOf(place.stem, unit.key) : place.stem;
    return { id, own: place.stem, parent: undefined };
  }
  if (isUuid(recorded)) return { id: `${recorded}/${place.stem}`, own: place.stem, parent: recorded };
  const copies = field(claim, "copies");
  const isParentCopy = Array.isArray(copies) && copies.includes(recorded);
  const parent = isParentCopy ? copyOf(recorded, joinPath(place.folder, `${recorded}.jsonl`)) : recorded;
  const id = `${parent}/${place.stem}`;
  return { id: isCopy ? copyOf(id, unit.key) : id, own: place.stem, parent };
}

type Lineage = Pick<Session, "parent_session_id" | "parent_message_id" | "relation">;

/** Forks name their parent in the log; subagents are told by where they stand. */
function parentOf(place: LogPlace, origin: SessionIdentity, head: Head): Lineage {
  if (head.fork !== undefined) {
    // A worker's parent is the session in whose folder it stands, whatever id that has here.
    const isOwn =
      origin.parent !== undefined && place.kind === "subagent" && head.fork.session === place.stem;
    const parent = isOwn ? origin.parent : head.fork.session;
    const { message } = head.fork;
    return {
      parent_session_id: sessionId(parent),
      ...(message === undefined ? {} : { parent_message_id: messageId(message) }),
      relation: "fork",
    };
  }
  if (origin.parent === undefined) return {};
  const relation: Relation = nameOf(origin.own).startsWith("agent-acompact-") ? "compact" : "spawn";
  return { parent_session_id: sessionId(origin.parent), relation };
}

function agentTypeOf(meta: JsonObject | undefined): string {
  return (meta === undefined ? undefined : extractName(meta, "agentType")) ?? "subagent";
}

/** The call in the parent's log that started this agent. */
function callOf(meta: JsonObject | undefined): { readonly call_id?: string } {
  const call_id = meta === undefined ? undefined : extractName(meta, "toolUseId");
  return call_id === undefined ? {} : { call_id };
}

function baseOf(place: LogPlace): string {
  return place.kind === "agent" ? joinPath(place.folder, place.stem) : place.base;
}
