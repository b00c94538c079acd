/**
 * The messages of a session as a reader sees them (spec.md#model-branches, spec.md#sources-order): those of one of its
 * ends, of a tree the active branch, and in conversation one for each response of the model; or its history, which is
 * every row with a word on where it is now. Reads short columns and pond's own facts, no bodies.
 */
import { optional } from "../../base/optional.ts";
import { PondError } from "../../base/errors.ts";
import type { Found, SessionOutline, TreeIssue } from "../../model/tree/index.ts";
import type { PondFacts } from "../../model/derived/index.ts";
import type { SessionId } from "../../model/index.ts";
import { activeBranch, newestRevisions } from "../../model/derived/index.ts";
import { describeKey } from "../../model/index.ts";
import type { MessageText, RowRef, RowStatus, StoredMessage } from "../../sessions/states/index.ts";
import type { SessionStore, StoreTree } from "../../sessions/index.ts";
import type { ResponseMode, RowState } from "../../wire/index.ts";
import { PAGE_BYTES } from "../../wire/index.ts";
import { rowState } from "./views.ts";

/** One message as it is shown; several where a response of the model was recorded in pieces. */
export interface ShownMessage {
  /** The one it is named and placed by. */
  readonly head: StoredMessage;
  /** In order, the head included. */
  readonly members: readonly StoredMessage[];
  /** The response of the model that it is of. */
  readonly turn?: string;
  /** Absent where it is in the newest end. */
  readonly state?: RowState;
}

/** A session without bodies, and where to read them from. */
export interface OutlinedSession {
  readonly source: StoreTree;
  readonly outline: SessionOutline<RowRef>;
  /** Every message of the view that was read, in order. */
  readonly stored: readonly StoredMessage[];
  /** In order, what is shown of the session in any mode. */
  readonly messages: readonly ShownMessage[];
  /** Messages on branches that are not active. */
  readonly hidden: number;
  /** The texts of some of its messages, in the order given. */
  readonly texts: (messages: readonly StoredMessage[]) => Promise<readonly MessageText[]>;
  /** Messages that cannot be read, and how many are lost. */
  readonly issues: readonly TreeIssue[];
}

export interface OutlineRequest {
  readonly source: StoreTree;
  readonly session: SessionId;
  /** `history`: every row that the source has. */
  readonly branch: "active" | "all" | "history";
}

/** Throws `not_found` where there is no such session. */
export async function outlineSession(
  store: SessionStore,
  { source, session, branch }: OutlineRequest,
): Promise<OutlinedSession> {
  const found = source.messages(session);
  // Awaited below, unless there is no such session; then its failure is nobody's business.
  found.catch(() => undefined);
  const outline = await source.session(session);
  if (outline === undefined) throw notThere(session);
  const { value: stored, faults } = await found;
  const { known, texts } = await readFacts(store, source, stored);
  const base = { source, outline, stored, texts, issues: issuesOf(session, faults) };
  const all = stored.map((head, at) => {
    const { id, seq, timestamp, role, revises } = head;
    const facts = { ...known[at], ...optional("revises", revises) };
    const { turn, whole } = facts;
    const message = { id, timestamp, role, facts, ...optional("seq", seq) };
    const shown = turn === undefined ? alone(head) : { ...alone(head), turn };
    return { shown, isShown: whole !== true, message };
  });
  if (branch === "history") {
    const { of } = await source.rowStates(session);
    const messages = all.filter(({ isShown }) => isShown).map(({ shown }) => withState(shown, of));
    return { messages, hidden: 0, ...base };
  }
  // A recorded state has one version of each record, whatever the others say of their times.
  const { isRecorded } = await source.history(session);
  const newest = (isRecorded ? all : newestRevisions(all)).filter(({ isShown }) => isShown);
  const active = branch === "all" ? undefined : activeBranch(newest.map(({ message }) => message));
  const messages = newest
    .map(({ shown }) => shown)
    .filter(({ head }) => active === undefined || active.has(head.id));
  return { messages, hidden: newest.length - messages.length, ...base };
}

/** A message by itself. */
export const alone = (head: StoredMessage): ShownMessage => ({ head, members: [head] });

/** Each message that cannot be read; what is not stored at all has no id to ask for, so it is counted. */
function issuesOf(session: SessionId, faults: Found<unknown>["faults"]): readonly TreeIssue[] {
  const isMissing = ({ fault }: (typeof faults)[number]): boolean => fault.kind === "missing";
  const unreadable = faults
    .filter((each) => !isMissing(each))
    .map(({ key, fault }): TreeIssue => ({ stage: "plan", key, ...fault }));
  // A row that is there and cannot be read is missing in its state, too.
  const lost = faults.filter(isMissing).length - unreadable.length;
  if (lost <= 0) return unreadable;
  const records = lost === 1 ? "1 of its records is" : `${lost} of its records are`;
  const message = `${records} not stored, though its source had ${lost === 1 ? "it" : "them"} when it was read`;
  return [...unreadable, { stage: "plan", key: { id: session }, kind: "missing", message }];
}

function notThere(id: SessionId): PondError {
  return new PondError("not_found", `${describeKey({ id })} is not stored`, { data: { id } });
}

function withState(message: ShownMessage, statuses: ReadonlyMap<string, RowStatus>): ShownMessage {
  const state = rowState(statuses.get(message.head.id));
  return state === undefined ? message : { ...message, state };
}

/** Up to so much the texts of a session come with its facts: one read instead of two. */
const READ_TOGETHER = { messages: 200, bytes: PAGE_BYTES };

async function readFacts(
  store: SessionStore,
  source: StoreTree,
  stored: readonly StoredMessage[],
): Promise<{ readonly known: readonly PondFacts[]; readonly texts: OutlinedSession["texts"] }> {
  const bytes = stored.reduce(
    (sum, { role, bytes: whole, text_bytes: text = 0 }) => sum + (role === "system" ? whole : text),
    0,
  );
  if (stored.length > READ_TOGETHER.messages || bytes > READ_TOGETHER.bytes)
    return { known: await store.facts(stored), texts: (messages) => source.texts(messages) };
  const read = await source.textsWithFacts(stored);
  const byId = new Map(stored.map(({ id }, at) => [id, read[at]]));
  return {
    known: read.map(({ facts }) => facts),
    texts: (messages) => Promise.resolve(messages.map(({ id }) => byId.get(id) ?? NO_TEXT)),
  };
}

const NO_TEXT = { text: null, content: null };

/** What a mode shows: every message, or only those with a text, one for each response of the model. */
export function shownIn(mode: ResponseMode, messages: readonly ShownMessage[]): readonly ShownMessage[] {
  if (mode !== "conversational") return messages;
  // What is no longer in the session is shown by itself: it is not joined with what is.
  const isOfResponse = ({ head, turn, state }: ShownMessage): boolean =>
    head.role === "assistant" && turn !== undefined && state === undefined;
  const responses = Map.groupBy(messages.filter(isOfResponse), ({ turn }) => turn);
  const joined = new Set<string | undefined>();
  return messages
    .filter(({ head }) => head.text_bytes !== undefined)
    .flatMap((message) => {
      if (!isOfResponse(message)) return [message];
      if (joined.has(message.turn)) return [];
      joined.add(message.turn);
      return [{ ...message, members: (responses.get(message.turn) ?? []).map(({ head }) => head) }];
    });
}
