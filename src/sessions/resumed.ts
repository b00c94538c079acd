/**
 * A session that pond restored from another client's and that its client then carried on (spec.md#sources-restored): it
 * resumes the session that it was restored from, which only pond knows, so that restoring it leaves that out again.
 */
import type { Session, SessionId } from "../model/index.ts";
import { messageId, pondOf } from "../model/index.ts";

/** The session that another one was restored from. */
export interface RestoredFrom {
  readonly session: SessionId;
  /** The last message that was restored. */
  readonly message: string | undefined;
}

/** A restored session that its client carried on: it resumes what it was restored from, unless its client recorded another parent. */
export function asResumeOf(session: Session, { session: parent, message }: RestoredFrom): Session {
  if (session.parent_session_id !== undefined) return session;
  const options = { ...session.options, pond: { ...pondOf(session.options), restored: true } };
  const cut = message === undefined ? {} : { parent_message_id: messageId(message) };
  return { ...session, parent_session_id: parent, ...cut, relation: "resume", options };
}

/** The session as its client recorded it: the inverse of `asResumeOf`. */
export function withoutResume(session: Session): Session {
  const { restored, ...pond } = pondOf(session.options);
  if (restored !== true) return session;
  const { parent_session_id: _, parent_message_id: __, relation: ___, options, ...own } = session;
  const { pond: ____, ...others } = options;
  return { ...own, options: Object.keys(pond).length === 0 ? others : { ...others, pond } };
}
