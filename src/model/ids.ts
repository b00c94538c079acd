/** Branded identifiers. Opaque: readers never parse them (spec.md#adapter-integrity-opaque-ids). */

declare const idKind: unique symbol;

export type SessionId = string & { readonly [idKind]: "session" };
export type MessageId = string & { readonly [idKind]: "message" };
export type PartId = string & { readonly [idKind]: "part" };

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

/* oxlint-disable typescript/no-unsafe-type-assertion -- the constructors of the brands */
export const sessionId = (id: string): SessionId => id as SessionId;
export const messageId = (id: string): MessageId => id as MessageId;
export const partId = (id: string): PartId => id as PartId;
/* oxlint-enable typescript/no-unsafe-type-assertion */
