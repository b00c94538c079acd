/**
 * Trees of sessions in three stages (spec.md#live-staged-tree): a plan (keys, counts, sizes), references (where each
 * leaf is) and values. Every stage gives its value and its issues; a caller stops where it knows enough.
 */
import type { EntityKey, MessageId, MessageKey, PartKey, SessionId, SessionKey } from "../ids.ts";
import type { Timestamp } from "../timestamp.ts";
import type { Event, Message, Part, PartType, Provenance, Relation, Role, Session } from "../types.ts";

/** What a stage found, and what it could not. */
export interface Staged<T> {
  readonly value: T;
  readonly issues: readonly TreeIssue[];
}

export interface TreeIssue {
  readonly stage: "plan" | "resolve" | "hydrate";
  /** What the issue is about; of a cut the first thing that was left out. */
  readonly key: EntityKey;
  readonly kind: FaultKind | "cut" | "cycle";
  readonly message: string;
  /**
   * Of a cut. A message: plan again with it as `after` (from the start) or as `before` (from the end). A session: it
   * lies below the depth; plan it as a root.
   */
  readonly continue_from?: SessionKey | MessageKey;
}

/**
 * `missing`: what was planned is not there. `unreadable`: it is there and is not what it should be. `changed`: the
 * source is another one than when it was planned.
 */
export type FaultKind = "missing" | "unreadable" | "changed";

export interface Fault {
  readonly kind: FaultKind;
  readonly message: string;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

/** What of a tree is wanted (spec.md#live-staged-tree-scope). A filter makes no issues, a bound makes cuts. */
export interface TreeScope {
  /** Generations below the root; 0 is the root alone. No bound when absent. */
  readonly depth?: number;
  /** False leaves out the agents that a session started, with everything below (spec.md#adapter-lineage). */
  readonly subagents?: boolean;
  readonly messages?: MessageRange;
  /** Types of parts; all when absent. None: parts are not even looked for. */
  readonly partTypes?: readonly PartType[];
  /** Bytes of the messages taken, by their planned sizes. The first message is always taken. */
  readonly maxBytes?: number;
}

/**
 * A stretch of the tree's messages. Their order is that of the tree: a session's own, then those of its children, the
 * oldest child first, each with what is below it.
 */
export interface MessageRange {
  readonly after?: MessageKey;
  readonly before?: MessageKey;
  /** Which end `limit` and `maxBytes` count from; the start when absent. */
  readonly from?: "start" | "end";
  readonly limit?: number;
}

/** Where the body of a node is, for the source that outlined it: a row of a table, bytes of a file. */
export interface TreeRef {
  /** What it leads to. */
  readonly key: EntityKey;
}

/**
 * Under which an outline keeps its reference. A symbol, so that a plan stays plain data: a copy of a node keeps it, JSON
 * and structured clones leave it out. References mean nothing elsewhere, and there they are looked up again.
 */
export const REF: unique symbol = Symbol("reference");

/** A session without its body. */
export interface SessionOutline<R extends TreeRef = TreeRef> extends SessionKey {
  readonly parent_session_id?: SessionId;
  readonly relation?: Relation;
  readonly source_agent: string;
  readonly created_at: Timestamp;
  readonly [REF]?: R;
}

/** A message without its body: enough to order, page and choose. */
export interface MessageOutline<R extends TreeRef = TreeRef> extends MessageKey {
  readonly seq?: number;
  readonly timestamp: Timestamp;
  readonly role: Role;
  /** Of the message with all its parts, as the source counts them. */
  readonly bytes: number;
  /** Of its text for search; absent when it has none, or the source does not know. */
  readonly text_bytes?: number;
  /** The record that it is another version of (spec.md#model-revisions). */
  readonly revises?: string;
  readonly [REF]?: R;
}

/** A part without its body: enough to describe, order and choose. */
export interface PartOutline<R extends TreeRef = TreeRef> extends PartKey {
  readonly ordinal: number;
  readonly type: PartType;
  readonly provenance: Provenance;
  readonly tool_name?: string;
  readonly call_id?: string;
  readonly is_failure?: boolean;
  readonly [REF]?: R;
}

export type Outline<R extends TreeRef = TreeRef> = SessionOutline<R> | MessageOutline<R> | PartOutline<R>;

export interface MessagePlan<R extends TreeRef = TreeRef> extends MessageOutline<R> {
  readonly parts: readonly PartOutline<R>[];
}

/** What would be read. Plain data: it can be kept, sent, cut down by its holder, and resolved later. */
export interface SessionPlan<R extends TreeRef = TreeRef> extends SessionOutline<R> {
  /** Generations below the root. */
  readonly depth: number;
  /** Of the whole session; absent where the range did not reach it. */
  readonly total?: Total;
  /** In order, those in scope. */
  readonly messages: readonly MessagePlan<R>[];
  /** Oldest first. */
  readonly children: readonly SessionPlan<R>[];
}

export interface Total {
  readonly messages: number;
  readonly bytes: number;
}

export type PlanNode<R extends TreeRef = TreeRef> = SessionPlan<R> | MessagePlan<R> | PartOutline<R>;

/** What is outlined and can be read. */
export interface Located<R extends TreeRef> {
  readonly outline: Outline<R>;
  readonly ref: R;
}

/** A plan and where its leaves are. Leaves without a reference are in the issues of the stage that made it. */
export interface RefTree<R extends TreeRef> {
  readonly plan: SessionPlan<R>;
  readonly leaves: ReadonlyMap<PlanNode<R>, Leaf<R>>;
}

/** A leaf that was read keeps its value as long as the tree lives, so that no leaf is read twice. */
export interface Leaf<R extends TreeRef> extends Located<R> {
  read?: { readonly batch: Promise<readonly Outcome<Event>[]>; readonly index: number };
}

/** A session of a hydrated tree; values are absent where they were not chosen or could not be read. */
export interface SessionNode<R extends TreeRef = TreeRef> {
  readonly plan: SessionPlan<R>;
  readonly session?: Session;
  readonly messages: readonly MessageNode<R>[];
  readonly children: readonly SessionNode<R>[];
}

export interface MessageNode<R extends TreeRef = TreeRef> {
  readonly plan: MessagePlan<R>;
  readonly message?: Message;
  readonly parts: readonly PartNode<R>[];
}

export interface PartNode<R extends TreeRef = TreeRef> {
  readonly plan: PartOutline<R>;
  readonly part?: Part;
}

/** The messages of one session whose parts are wanted. */
export interface PartScope<R extends TreeRef = TreeRef> {
  readonly session: SessionId;
  readonly messages: readonly Pick<MessageOutline<R>, "id" | typeof REF>[];
  /** How many messages the session has. */
  readonly of: number;
}

/** Faults that planning met, by the key of what is left out. */
export interface Found<T> {
  readonly value: T;
  readonly faults: readonly { readonly key: EntityKey; readonly fault: Fault }[];
}

/**
 * Where trees come from: the store's tables, or a client's files. It is asked for outlines, of sessions, messages and
 * parts, which read no bodies, and for the bodies of what was outlined. One bad leaf is a fault among the answers; only
 * what leaves nothing to answer throws.
 */
export interface TreeSource<R extends TreeRef> {
  readonly session: (id: SessionId) => Promise<SessionOutline<R> | undefined>;
  /** The sessions that name one of these as their parent, oldest first. */
  readonly children: (parents: readonly SessionId[]) => Promise<Found<readonly SessionOutline<R>[]>>;
  /** Every message of a session in order. */
  readonly messages: (session: SessionId) => Promise<Found<readonly MessageOutline<R>[]>>;
  /** The parts of some messages, in order, by message. */
  readonly parts: (scope: PartScope<R>) => Promise<Found<ReadonlyMap<MessageId, readonly PartOutline<R>[]>>>;
  /** Nodes of one session that have no reference, as the source outlines them now, in the order given. */
  readonly locate: (nodes: readonly Outline<R>[]) => Promise<readonly Outcome<Located<R>>[]>;
  /** What was outlined, in the order given. */
  readonly bodies: (leaves: readonly Located<R>[]) => Promise<readonly Outcome<Event>[]>;
}
