/** Events to session state, purely (spec.md#model-replay): what a stream of canonical events adds up to. */
import { PondError } from "../../base/errors.ts";
import type { Untyped } from "./fields.ts";
import { isObject, shown } from "./fields.ts";
import type { Event, Message, Part, Session } from "../types.ts";
import { compareInSession, compareParts } from "../order.ts";

/** A message with its parts, in order. */
export interface MessageWithParts {
  readonly message: Message;
  readonly parts: readonly Part[];
}

export interface SessionState {
  readonly session: Session;
  readonly messages: readonly MessageWithParts[];
  /** Where they were read from; absent: where the session says that it was first read. */
  readonly source?: StateSource;
}

/** A source of a session, as far as restoring it needs to know. */
export interface StateSource {
  /** Its name below the place it was found in, with `/`. */
  readonly key: string;
  /** How it holds the session. */
  readonly form: string;
}

/** A session and everything that descends from it. */
export interface Lineage {
  readonly state: SessionState;
  readonly children: readonly Lineage[];
}

/**
 * The sessions that a stream describes, in order of first appearance. A row that came before is kept, a later one
 * under the same key changes nothing (spec.md#adapter-integrity-additive-sync), so replaying twice is replaying
 * once. Events of a session that was never announced are left out.
 */
export function replay(events: Iterable<Event>): SessionState[] {
  const drafts = new Map<string, Draft>();
  for (const event of events) {
    if (event.kind === "session") {
      if (!drafts.has(event.session.id))
        drafts.set(event.session.id, { session: event.session, turns: new Map() });
    } else if (event.kind === "message") {
      const turns = drafts.get(event.message.session_id)?.turns;
      if (turns !== undefined && !turns.has(event.message.id))
        turns.set(event.message.id, { message: event.message, parts: new Map() });
    } else {
      const parts = drafts.get(event.part.session_id)?.turns.get(event.part.message_id)?.parts;
      if (parts !== undefined && !parts.has(event.part.id)) parts.set(event.part.id, event.part);
    }
  }
  return [...drafts.values()].map(finish);
}

/**
 * The events of a state, in the order that the ingest contract wants: the inverse of `replay`. Throws `validation_failed` for
 * what is no state, and for a message id that is there twice: only one of the two could be stored under it.
 */
export function eventsOf(state: SessionState): Generator<Event> {
  checkState(state);
  return eventsIn(state);
}

function checkState(state: unknown): void {
  if (!isObject(state)) throw noState("state", `must be { session, messages }, not ${shown(state)}`);
  const { session, messages } = state;
  if (!isObject(session))
    throw noState("session", `must be a session that createSession made, not ${shown(session)}`);
  if (!Array.isArray(messages))
    throw noState("messages", `must be an array of what createMessage made, not ${shown(messages)}`);
  const ids = new Set<unknown>();
  for (const [at, each] of messages.entries()) {
    const { message, parts }: Untyped = isObject(each) ? each : {};
    if (!isObject(message) || !Array.isArray(parts))
      throw noState("messages", `must be an array of what createMessage made, not ${shown(each)} (at ${at})`);
    const { id } = message;
    if (ids.has(id))
      throw noState("messages", `has the message id ${shown(id)} twice: ids are unique in their session`);
    ids.add(id);
  }
}

const noState = (field: string, message: string): PondError =>
  new PondError("validation_failed", `eventsOf: ${field} ${message}`, {
    data: { rule: "model-identity", field },
  });

function* eventsIn(state: SessionState): Generator<Event> {
  yield { kind: "session", session: state.session };
  for (const { message, parts } of state.messages) {
    yield { kind: "message", message };
    for (const part of parts) yield { kind: "part", part };
  }
}

/** What an event is about; its own key too (spec.md#model-keys). */
export function entityOf(event: Event): Session | Message | Part {
  if (event.kind === "session") return event.session;
  return event.kind === "message" ? event.message : event.part;
}

interface Draft {
  readonly session: Session;
  readonly turns: Map<string, { readonly message: Message; readonly parts: Map<string, Part> }>;
}

function finish(draft: Draft): SessionState {
  const messages = [...draft.turns.values()]
    .map(({ message, parts }) => ({ message, parts: [...parts.values()].toSorted(compareParts) }))
    .toSorted((a, b) => compareInSession(a.message, b.message));
  return { session: draft.session, messages };
}
