/**
 * Sessions that hold what pond restored from another one (spec.md#sources-restored). Which one that was, and where they
 * belong because of it, only pond knows: restoring them leaves that out again.
 */
import type { RecordedLineage } from "../../model/derived/index.ts";
import type { Session, SessionId } from "../../model/index.ts";
import {
  isSubagent,
  pondFacts,
  pondSpace,
  subagentLabel,
  withFacts,
  withoutFacts,
  withPondSpace,
} from "../../model/derived/index.ts";
import { messageId, sessionId } from "../../model/index.ts";

export interface RestoredFrom {
  /** The session that its messages were restored from. */
  readonly session: SessionId;
  /** Where it belongs, where its client recorded nothing of that, or what nobody stored. */
  readonly below?: Below;
  /** The label that its row has, where it is stored: labels never change (spec.md#session-labels-immutable). */
  readonly label?: string | undefined;
}

export interface Below {
  readonly parent: SessionId;
  /** The last message of the parent that it repeats. */
  readonly message?: string | undefined;
  readonly relation: "resume" | "spawn";
}

/**
 * The session with what pond knows of it; what its client recorded of its lineage is kept beside that. A subagent whose
 * client links none is labelled as the subagents of others are.
 */
export function asRestoredFrom(session: Session, { session: from, below, label }: RestoredFrom): Session {
  const { source_agent: brand } = session;
  const isUnlabelled = below?.relation === "spawn" && !isSubagent(brand);
  const source_agent = isUnlabelled ? (label ?? subagentLabel(brand)) : brand;
  const agent = source_agent === brand ? {} : { source_agent: brand };
  const recorded = below === undefined ? {} : { recorded: { ...lineageOf(session), ...agent } };
  const restored = { session_id: from, ...recorded };
  const options = withFacts(session.options, { restored });
  if (below === undefined) return { ...session, options };
  const { parent, message, relation } = below;
  const cut = message === undefined ? {} : { parent_message_id: messageId(message) };
  return { ...withoutLineage(session), source_agent, parent_session_id: parent, ...cut, relation, options };
}

/** The session as its client recorded it: the inverse of `asRestoredFrom`. */
export function asRecorded(session: Session): Session {
  const { restored } = pondFacts(session.options);
  if (restored === undefined) return session;
  const left = withoutFacts(session.options, ["restored"]);
  const isEmpty = Object.keys(pondSpace(left) ?? {}).length === 0;
  const options = isEmpty ? withPondSpace(left, undefined) : left;
  // Until November 2026 it said no more than that the lineage is pond's.
  const recorded = restored === true ? {} : restored.recorded;
  if (recorded === undefined) return { ...session, options };
  const { source_agent } = recorded;
  const label = source_agent === undefined ? {} : { source_agent };
  return { ...withoutLineage(session), ...label, ...lineageIn(recorded), options };
}

type Lineage = Pick<Session, "parent_session_id" | "parent_message_id" | "relation">;

function withoutLineage(session: Session): Session {
  const { parent_session_id: _, parent_message_id: __, relation: ___, ...own } = session;
  return own;
}

function lineageOf({ parent_session_id, parent_message_id, relation }: Session): RecordedLineage {
  return {
    ...(parent_session_id === undefined ? {} : { parent_session_id }),
    ...(parent_message_id === undefined ? {} : { parent_message_id }),
    ...(relation === undefined ? {} : { relation }),
  };
}

function lineageIn({ parent_session_id, parent_message_id, relation }: RecordedLineage): Lineage {
  return {
    ...(parent_session_id === undefined ? {} : { parent_session_id: sessionId(parent_session_id) }),
    ...(parent_message_id === undefined ? {} : { parent_message_id: messageId(parent_message_id) }),
    ...(relation === undefined ? {} : { relation }),
  };
}
