/** `get` of one message (spec.md#wire-get): its whole parts, page by page, and the conversation around it. */
import { PondError } from "../base/errors.ts";
import { stringifyJson } from "../base/json.ts";
import type { SessionStore, SessionSummary, View } from "../sessions/index.ts";
import { isPlain } from "../sessions/index.ts";
import { CONTEXT_LIMITS, PAGE_BYTES } from "../wire/index.ts";
import type { GetRequest, MessageResult, WirePart } from "../wire/index.ts";
import { checkLimit } from "./existing.ts";
import { requireMessage, requireSession } from "./find.ts";
import { planPage } from "./page.ts";
import type { Entry, Thread, ThreadMessage, ThreadRequest } from "./thread.ts";
import { entriesOf, readThread } from "./thread.ts";
import { headView, issueViews, sessionHead, viewEntries, viewParts } from "./views.ts";

export async function getMessage(
  store: SessionStore,
  request: GetRequest,
  { message_id, limit }: { readonly message_id: string; readonly limit: number },
): Promise<MessageResult> {
  const depth = checkLimit("context_depth", request.context_depth, { ...CONTEXT_LIMITS, least: 0 });
  const key = await requireMessage(store, message_id, request.session_id);
  const session = await requireSession(store, key.session_id);
  const thread = await threadWith(store, session, key.id);
  const found = thread.messages.find(({ ref }) => ref.id === key.id);
  if (found === undefined) throw new PondError("internal", `message ${key.id} vanished while it was read`);
  const { ref: target, state } = found;
  const payloads = request.include_payloads === true;
  const source = payloads ? store.tree({ payloads, view: "everything" }) : thread.session.source;
  const page = await planPage({ ...thread.session, source }, [target]);
  const rest = partsAfter(page.parts.get(target.id) ?? [], request.after_id);
  const options = { session: thread.session, mode: "complete", payloads: false } as const;
  const marked = state === undefined ? {} : { state };
  const { before, after } = neighbours(thread, target.id, depth);
  const [parts, own, siblings] = await Promise.all([
    viewParts(store, rest.slice(0, limit), { page, payloads }),
    viewEntries(store, [{ head: target, members: [target], ...marked }], options),
    viewEntries(store, [...before, ...after], { ...options, mode: "conversational" }),
  ]);
  const shown = withinBudget(parts.views);
  return {
    scope: "message",
    session: sessionHead(session),
    target: own.views[0] ?? { ...headView(target), ...marked, parts_summary: [] },
    target_parts: shown,
    target_parts_remaining: rest.length - shown.length,
    siblings: siblings.views,
    siblings_before: before.length,
    context_depth: depth,
    ...issueViews([...thread.issues, ...page.issues, ...parts.issues, ...own.issues, ...siblings.issues]),
  };
}

/**
 * The active branch if the message is on it, else everything that its end holds. What is in no end can be asked for by its
 * id, too: it is shown among what is current, where it stood.
 */
async function threadWith(store: SessionStore, session: SessionSummary, id: string): Promise<Thread> {
  const outlines = store.summaries();
  const read = (view: View, branch: ThreadRequest["branch"]): Promise<Thread> => {
    const source = store.tree({ payloads: false, outlines, view, ahead: ["texts"] });
    return readThread(store, { source, session: session.id, branch });
  };
  const active = await read("newest", "active");
  if (active.messages.some(({ ref }) => ref.id === id)) return active;
  if (active.stored.some((ref) => ref.id === id) && isPlain(session))
    return { ...active, messages: active.stored.map((ref) => ({ ref, facts: {} })), hidden: 0 };
  const all = await read("history", "history");
  const standing = all.messages.find(({ ref }) => ref.id === id)?.state;
  const isBeside = ({ ref, state }: ThreadMessage): boolean => ref.id === id || state === undefined;
  if (standing !== "other_end") return { ...all, messages: all.messages.filter(isBeside) };
  const { ends } = await store.tree({ payloads: false, outlines }).standings(session.id);
  const end = ends.findIndex(({ rows }) => rows.some((row) => row.id === id)) + 1;
  const other = await read({ end }, "all");
  const states = new Map(all.messages.map(({ ref, state }) => [ref.id, state]));
  const mark = (message: ThreadMessage): ThreadMessage => {
    const state = states.get(message.ref.id);
    return state === undefined ? message : { ...message, state };
  };
  return { ...other, messages: other.messages.map(mark) };
}

function partsAfter<T extends { readonly id: string }>(
  parts: readonly T[],
  after: string | undefined,
): readonly T[] {
  if (after === undefined) return parts;
  const position = parts.findIndex(({ id }) => id === after);
  if (position >= 0) return parts.slice(position + 1);
  throw new PondError("not_found", `after_id: the message has no part ${after}`, {
    hint: "in message mode after_id is the id of a part of the answer before",
    data: { kind: "part", id: after },
  });
}

/** Parts are not cut either: the first one is always whole. */
function withinBudget(parts: readonly WirePart[]): readonly WirePart[] {
  let room = PAGE_BYTES;
  const end = parts.findIndex((part) => (room -= stringifyJson(part).length) < 0);
  return end < 0 ? parts : parts.slice(0, Math.max(1, end));
}

/** The nearest conversation on both sides, the entry of the message itself left out. */
function neighbours(
  thread: Thread,
  id: string,
  depth: number,
): { readonly before: readonly Entry[]; readonly after: readonly Entry[] } {
  const position = new Map<string, number>(thread.messages.map(({ ref }, at) => [ref.id, at]));
  const at = position.get(id) ?? 0;
  const entries = entriesOf(thread, "conversational").filter(
    ({ members }) => !members.some((member) => member.id === id),
  );
  const placeOf = ({ head }: Entry): number => position.get(head.id) ?? 0;
  const before = entries.filter((entry) => placeOf(entry) < at);
  const after = entries.filter((entry) => placeOf(entry) > at);
  return { before: depth === 0 ? [] : before.slice(-depth), after: after.slice(0, depth) };
}
