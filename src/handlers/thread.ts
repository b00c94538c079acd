/**
 * The messages of a session as a reader sees them (spec.md#model-branches, spec.md#model-revisions): of a rewritten
 * record the newest revision, of a tree the active branch, and in conversation one entry a response of the model.
 * Reads short columns and pond's own facts, no bodies.
 */
import type { JsonObject } from "../base/json.ts";
import type { PondFacts, SessionId, TreeIssue } from "../model/index.ts";
import {
  activeBranch,
  isMessageKey,
  newestRevisions,
  planTree,
  pondFacts,
  resolveTree,
} from "../model/index.ts";
import type { MessageRef, SessionStore, StoreTree } from "../sessions/index.ts";
import type { ResponseMode } from "../wire/index.ts";
import { PAGE_BYTES } from "../wire/index.ts";
import type { PlannedSession } from "./page.ts";

export interface ThreadMessage {
  readonly ref: MessageRef;
  readonly facts: PondFacts;
}

export interface Thread {
  /** In order, what is shown of the session in any mode. */
  readonly messages: readonly ThreadMessage[];
  /** Messages on branches that are not active. */
  readonly hidden: number;
  /** Every message that is stored, in order. */
  readonly stored: readonly MessageRef[];
  /** To read the rest from. */
  readonly session: PlannedSession;
  /** Messages that cannot be read. */
  readonly issues: readonly TreeIssue[];
}

/** One message as it is shown; several where a response of the model was recorded in pieces. */
export interface Entry {
  /** The one it is named and placed by. */
  readonly head: MessageRef;
  /** In order, the head included. */
  readonly members: readonly MessageRef[];
}

export interface ThreadRequest {
  readonly source: StoreTree;
  readonly session: SessionId;
  readonly branch: "active" | "all";
}

/** Throws `not_found` where there is no such session. */
export async function readThread(
  store: SessionStore,
  { source, session, branch }: ThreadRequest,
): Promise<Thread> {
  const { value: plan, issues: planned } = await planTree(source, session, { depth: 0, partTypes: [] });
  const { value: located } = await resolveTree(source, plan, isMessageKey);
  const stored = plan.messages.flatMap((message): readonly MessageRef[] => {
    const row = located.leaves.get(message)?.ref.row;
    return row === undefined ? [] : [{ ...message, row }];
  });
  const issues = planned.filter(({ kind }) => kind === "unreadable");
  const { spaces, texts } = await readFacts({ store, source }, stored);
  const base = { stored, session: { source, plan, texts }, issues };
  const all = stored.map((ref, at) => {
    const told = spaces[at] ?? {};
    const pond = ref.revises === undefined ? told : { ...told, revises: ref.revises };
    return { ref, facts: pondFacts({ pond }), message: { ...ref, options: { pond } } };
  });
  const newest = newestRevisions(all).filter(({ facts }) => facts.whole !== true);
  if (branch === "all") return { messages: newest, hidden: 0, ...base };
  const active = activeBranch(newest.map(({ message }) => message));
  const messages = newest.filter(({ ref }) => active.has(ref.id));
  return { messages, hidden: newest.length - messages.length, ...base };
}

/** Up to so much the texts of a session come with its facts: one read instead of two. */
const READ_TOGETHER = { messages: 200, bytes: PAGE_BYTES };

async function readFacts(
  { store, source }: { readonly store: SessionStore; readonly source: StoreTree },
  stored: readonly MessageRef[],
): Promise<{ readonly spaces: readonly JsonObject[]; readonly texts: PlannedSession["texts"] }> {
  const bytes = stored.reduce(
    (sum, { role, bytes: whole, text_bytes: text = 0 }) => sum + (role === "system" ? whole : text),
    0,
  );
  if (stored.length > READ_TOGETHER.messages || bytes > READ_TOGETHER.bytes)
    return { spaces: await store.pondSpaces(stored), texts: (refs) => store.texts(refs) };
  const said = await source.said(stored);
  const byRow = new Map(stored.map(({ row }, at) => [row, said[at]]));
  const texts: PlannedSession["texts"] = (refs) =>
    Promise.resolve(refs.map(({ row }) => byRow.get(row) ?? NOTHING_SAID));
  return { spaces: said.map(({ pond }) => pond), texts };
}

const NOTHING_SAID = { text: null, content: null };

/** What a mode shows: every message, or only those where somebody said something. */
export function entriesOf({ messages }: Thread, mode: ResponseMode): readonly Entry[] {
  if (mode !== "conversational") return messages.map(({ ref }) => ({ head: ref, members: [ref] }));
  const responses = Map.groupBy(
    messages.filter(({ ref, facts }) => ref.role === "assistant" && facts.turn !== undefined),
    ({ facts }) => facts.turn,
  );
  const entries: Entry[] = [];
  const shown = new Set<string>();
  for (const { ref, facts } of messages) {
    if (ref.text_bytes === undefined) continue;
    const response = ref.role === "assistant" ? responses.get(facts.turn) : undefined;
    if (response === undefined) entries.push({ head: ref, members: [ref] });
    else if (!shown.has(facts.turn ?? ""))
      entries.push({ head: ref, members: response.map((member) => member.ref) });
    shown.add(facts.turn ?? "");
  }
  return entries;
}
