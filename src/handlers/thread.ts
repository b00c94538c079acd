/**
 * The messages of a session as a reader sees them (spec.md#model-branches, spec.md#sources-order): what one of its ends
 * holds, of a tree the active branch, and in conversation one entry a response of the model; or its history, which is
 * every row with a word on where it stands. Reads short columns and pond's own facts, no bodies.
 */
import { PondError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Found, PondFacts, SessionId, SessionPlan, TreeIssue } from "../model/index.ts";
import { activeBranch, describeKey, newestRevisions, pondFacts } from "../model/index.ts";
import type { MessageRef, SessionStore, Standing, StoreTree } from "../sessions/index.ts";
import type { ResponseMode, RowState } from "../wire/index.ts";
import { PAGE_BYTES } from "../wire/index.ts";
import type { PlannedSession } from "./page.ts";
import { rowState } from "./views.ts";

export interface ThreadMessage {
  readonly ref: MessageRef;
  readonly facts: PondFacts;
  /** Told where it is not in the newest end. */
  readonly state?: RowState;
}

export interface Thread {
  /** In order, what is shown of the session in any mode. */
  readonly messages: readonly ThreadMessage[];
  /** Messages on branches that are not active. */
  readonly hidden: number;
  /** Every message of the view that was read, in order. */
  readonly stored: readonly MessageRef[];
  /** To read the rest from. */
  readonly session: PlannedSession;
  /** Messages that cannot be read, and how many are lost. */
  readonly issues: readonly TreeIssue[];
}

/** One message as it is shown; several where a response of the model was recorded in pieces. */
export interface Entry {
  /** The one it is named and placed by. */
  readonly head: MessageRef;
  /** In order, the head included. */
  readonly members: readonly MessageRef[];
  readonly state?: RowState;
}

export interface ThreadRequest {
  readonly source: StoreTree;
  readonly session: SessionId;
  /** `history`: every row that the source tells of. */
  readonly branch: "active" | "all" | "history";
}

/** Throws `not_found` where there is no such session. */
export async function readThread(
  store: SessionStore,
  { source, session, branch }: ThreadRequest,
): Promise<Thread> {
  const found = source.refs(session);
  // Awaited below, unless there is no such session; then its failure is nobody's business.
  found.catch(() => undefined);
  const head = await source.session(session);
  if (head === undefined) throw notThere(session);
  const { value: stored, faults } = await found;
  const issues = issuesOf(session, faults);
  const bytes = stored.reduce((sum, ref) => sum + ref.bytes, 0);
  const plan = (wanted: ReadonlySet<string>): SessionPlan => ({
    ...head,
    depth: 0,
    total: { messages: stored.length, bytes },
    messages: source
      .planned(
        session,
        stored.filter(({ id }) => wanted.has(id)),
      )
      .map((message) => ({ ...message, parts: [] })),
    children: [],
  });
  const { spaces, texts } = await readFacts({ store, source, session }, stored);
  const base = { stored, session: { source, plan, texts }, issues };
  const all = stored.map((ref, at) => {
    const told = spaces[at] ?? {};
    const pond = ref.revises === undefined ? told : { ...told, revises: ref.revises };
    const { id, seq, timestamp, role } = ref;
    const options = { pond };
    const message =
      seq === undefined ? { id, timestamp, role, options } : { id, seq, timestamp, role, options };
    return { ref, facts: pondFacts(options), message };
  });
  const isShown = ({ facts }: ThreadMessage): boolean => facts.whole !== true;
  if (branch === "history") {
    const { of } = await source.standings(session);
    const messages = all.filter(isShown).map(({ ref, facts }) => withState({ ref, facts }, of.get(ref.id)));
    return { messages, hidden: 0, ...base };
  }
  // A recorded state has one version of each record, whatever the others say of their times.
  const { isRecorded } = await source.history(session);
  const newest = (isRecorded ? all : newestRevisions(all)).filter(isShown);
  if (branch === "all") return { messages: newest, hidden: 0, ...base };
  const active = activeBranch(newest.map(({ message }) => message));
  const messages = newest.filter(({ ref }) => active.has(ref.id));
  return { messages, hidden: newest.length - messages.length, ...base };
}

/** Each message that cannot be read; what is not stored at all has no id to ask for, so it is counted. */
function issuesOf(session: SessionId, faults: Found<unknown>["faults"]): readonly TreeIssue[] {
  const isMissing = ({ fault }: (typeof faults)[number]): boolean => fault.kind === "missing";
  const told = faults
    .filter((each) => !isMissing(each))
    .map(({ key, fault }): TreeIssue => ({ stage: "plan", key, ...fault }));
  // A row that is there and cannot be read is missing in its state, too.
  const lost = faults.filter(isMissing).length - told.length;
  if (lost <= 0) return told;
  const records = lost === 1 ? "1 of its records is" : `${lost} of its records are`;
  const message =
    `${records} not stored, though its source had ${lost === 1 ? "it" : "them"} when it was read: run pond repair, ` +
    "which reads again what its sources still have, or pond sync with --path where they are now; " +
    "pond verify --stored says what is whole";
  return [...told, { stage: "plan", key: { id: session }, kind: "missing", message }];
}

function notThere(id: SessionId): PondError {
  return new PondError("not_found", `${describeKey({ id })} is not stored`, { data: { id } });
}

function withState(message: ThreadMessage, standing: Standing | undefined): ThreadMessage {
  const state = rowState(standing);
  return state === undefined ? message : { ...message, state };
}

/** Up to so much the texts of a session come with its facts: one read instead of two. */
const READ_TOGETHER = { messages: 200, bytes: PAGE_BYTES };

async function readFacts(
  {
    store,
    source,
    session,
  }: { readonly store: SessionStore; readonly source: StoreTree; readonly session: SessionId },
  stored: readonly MessageRef[],
): Promise<{ readonly spaces: readonly JsonObject[]; readonly texts: PlannedSession["texts"] }> {
  const bytes = stored.reduce(
    (sum, { role, bytes: whole, text_bytes: text = 0 }) => sum + (role === "system" ? whole : text),
    0,
  );
  if (stored.length > READ_TOGETHER.messages || bytes > READ_TOGETHER.bytes)
    return { spaces: await store.pondSpaces(stored), texts: (refs) => store.texts(refs) };
  source.planned(session, stored);
  const said = await source.said(stored);
  const byRow = new Map(stored.map(({ row }, at) => [row, said[at]]));
  const texts: PlannedSession["texts"] = (refs) =>
    Promise.resolve(refs.map(({ row }) => byRow.get(row) ?? NOTHING_SAID));
  return { spaces: said.map(({ pond }) => pond), texts };
}

const NOTHING_SAID = { text: null, content: null };

/** What a mode shows: every message, or only those where somebody said something. */
export function entriesOf({ messages }: Thread, mode: ResponseMode): readonly Entry[] {
  if (mode !== "conversational") return messages.map(alone);
  // What is no longer in the session is an entry of its own: it is not joined with what is.
  const responses = Map.groupBy(
    messages.filter(
      ({ ref, facts, state }) => ref.role === "assistant" && facts.turn !== undefined && state === undefined,
    ),
    ({ facts }) => facts.turn,
  );
  const entries: Entry[] = [];
  const shown = new Set<string>();
  for (const message of messages) {
    const { ref, facts, state } = message;
    if (ref.text_bytes === undefined) continue;
    const response = ref.role === "assistant" && state === undefined ? responses.get(facts.turn) : undefined;
    if (response === undefined) {
      entries.push(alone(message));
      continue;
    }
    if (!shown.has(facts.turn ?? ""))
      entries.push({ head: ref, members: response.map((member) => member.ref) });
    shown.add(facts.turn ?? "");
  }
  return entries;
}

const alone = ({ ref, state }: ThreadMessage): Entry => ({
  head: ref,
  members: [ref],
  ...(state === undefined ? {} : { state }),
});
