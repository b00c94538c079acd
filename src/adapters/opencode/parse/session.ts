/** The Session row: who it is, whose child, in which project (docs/adapters/opencode.md#identity). */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Extracted, Session, Timestamp } from "../../../model/index.ts";
import { sessionId, timestampFromMillis } from "../../../model/index.ts";
import { subagentLabel, withFacts } from "../../../model/derived/index.ts";
import { extractName, extractTimestamp, integerField, objectField } from "../../kit/extract/index.ts";
import { restoredFrom } from "../../kit/session/index.ts";
import { ADAPTER } from "../layout.ts";
import type { MessageRecord } from "../records/record.ts";
import { infoOf } from "../records/record.ts";
import type { Restoration } from "../records/records.ts";
import type { SessionSource } from "../records/source.ts";

export function restorationOf(facts: JsonObject): Restoration | undefined {
  const mark = restoredFrom(facts) ?? {};
  const session_id = extractName(mark, "session_id");
  // Until November 2026 the time of the restore stood there.
  const at = integerField(mark, "repeats_until") ?? integerField(mark, "restored_at");
  return session_id === undefined || at === undefined ? undefined : { session_id, at };
}

/** What the messages of a session say about it. */
export interface Head {
  /** The first message, which need not be read again. */
  readonly first: MessageRecord | undefined;
  readonly created: Timestamp | undefined;
  readonly directory: Extracted<string> | undefined;
  readonly agent: Extracted<string> | undefined;
}

/** Reads the first message, and on from there until one records a directory, if the session itself does not. */
export async function readHead(source: SessionSource): Promise<Head> {
  const first = source.count === 0 ? undefined : await source.message(0);
  const info = first && infoOf(first);
  const time = info && objectField(info, "time");
  const agent = info && extractName(info, "agent");
  let directory = extractName(source.facts, "directory") ?? directoryOf(info);
  for (let index = 1; directory === undefined && index < source.count; index += 1)
    directory = directoryOf(infoOf(await source.message(index)));
  return { first, created: time && extractTimestamp(time, "created"), directory, agent };
}

export interface Identity {
  /** The id here: what is left of a session has another one than the client gave it. */
  readonly id: string;
  readonly parent: string | undefined;
}

/** The session, or why it cannot be told. */
export function sessionOf(
  source: SessionSource,
  head: Head,
  identity: Identity,
): Session | { readonly fault: "no_project" | "no_timestamp" } {
  const project = head.directory ?? scopeOf(source.scopes);
  if (project === undefined) return { fault: "no_project" };
  const recorded = recordedAt(source.facts, head);
  const created_at = recorded ?? timestampFromMillis(source.newest);
  if (created_at === undefined) return { fault: "no_timestamp" };
  const own = identity.id === source.id ? {} : { session_id: source.id };
  return {
    id: sessionId(identity.id),
    ...(identity.parent === undefined
      ? {}
      : { parent_session_id: sessionId(identity.parent), relation: "spawn" }),
    source_agent:
      identity.parent === undefined ? ADAPTER : subagentLabel(ADAPTER, agentOf(source.facts, head)),
    created_at,
    project,
    options: withFacts(
      { source: { path: source.key, kind: source.kind, ...own } },
      recorded === undefined ? { created_at: "file" } : {},
    ),
  };
}

/** The earliest instant that is recorded: a session's own may be the time of a migration. */
function recordedAt(facts: JsonObject, head: Head): Timestamp | undefined {
  const time = objectField(facts, "time");
  const own = time && extractTimestamp(time, "created");
  const known = [own, head.created].flatMap((at) => (at !== undefined && at > 0 ? [at] : []));
  return known.toSorted((a, b) => a - b)[0];
}

/** A subagent is named by the agent that its first prompt was for; titles of older versions say it too. */
function agentOf(facts: JsonObject, head: Head): string {
  const agent = head.agent ?? extractName(facts, "agent");
  if (agent !== undefined) return agent.toWellFormed();
  const title = extractName(facts, "title") ?? "";
  return /\(@(\S+) subagent\)$/.exec(title)?.[1]?.toWellFormed() ?? "subagent";
}

function scopeOf(scopes: readonly JsonValue[]): Extracted<string> | undefined {
  for (const scope of scopes) {
    const name = extractName({ scope }, "scope");
    if (name !== undefined) return name;
  }
  return undefined;
}

function directoryOf(info: JsonObject | undefined): Extracted<string> | undefined {
  const path = info && objectField(info, "path");
  return path && (extractName(path, "cwd") ?? extractName(path, "root"));
}
