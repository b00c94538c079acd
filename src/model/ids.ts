/** Branded identifiers. Opaque: readers never parse them (spec.md#adapter-integrity-opaque-ids). */

declare const idKind: unique symbol;

export type SessionId = string & { readonly [idKind]: "session" };
export type MessageId = string & { readonly [idKind]: "message" };
export type PartId = string & { readonly [idKind]: "part" };

/** Names one session. A Session, a Message and a Part are each their own key (spec.md#model-keys). */
export interface SessionKey {
  readonly id: SessionId;
}

/** Names one message: message ids are unique only inside their session (spec.md#lance-table-creation). */
export interface MessageKey {
  readonly session_id: SessionId;
  readonly id: MessageId;
}

/** Names one part. */
export interface PartKey {
  readonly session_id: SessionId;
  readonly message_id: MessageId;
  readonly id: PartId;
}

/** Names one of the three; what it holds tells which. */
export type EntityKey = SessionKey | MessageKey | PartKey;

/* oxlint-disable typescript/no-unsafe-type-assertion -- the constructors of the brands */
export const sessionId = (id: string): SessionId => id as SessionId;
export const messageId = (id: string): MessageId => id as MessageId;
export const partId = (id: string): PartId => id as PartId;
/* oxlint-enable typescript/no-unsafe-type-assertion */

export function isPartKey(key: EntityKey): key is PartKey {
  return "message_id" in key;
}

export function isMessageKey(key: EntityKey): key is MessageKey {
  return "session_id" in key && !isPartKey(key);
}

/** The key alone of whatever has one. */
export function entityKeyOf(key: EntityKey): EntityKey {
  if (isPartKey(key)) return { session_id: key.session_id, message_id: key.message_id, id: key.id };
  return isMessageKey(key) ? { session_id: key.session_id, id: key.id } : { id: key.id };
}

export function isSameKey(a: EntityKey, b: EntityKey): boolean {
  return a.id === b.id && sessionOf(a) === sessionOf(b) && messageOf(a) === messageOf(b);
}

/** For people: where in the store something is. */
export function describeKey(key: EntityKey): string {
  if (isPartKey(key)) return `session ${key.session_id}, message ${key.message_id}, part ${key.id}`;
  return isMessageKey(key) ? `session ${key.session_id}, message ${key.id}` : `session ${key.id}`;
}

const sessionOf = (key: EntityKey): string | undefined => ("session_id" in key ? key.session_id : undefined);
const messageOf = (key: EntityKey): string | undefined => (isPartKey(key) ? key.message_id : undefined);
