/** `get` of one message (spec.md#wire-get): its whole parts, page by page, and the conversation around it. */
import { PondError } from "../base/errors.ts";
import { stringifyJson } from "../base/json.ts";
import type { SessionStore, SessionSummary } from "../sessions/index.ts";
import { CONTEXT_LIMITS, PAGE_BYTES } from "../wire/index.ts";
import type { GetRequest, MessageResult, WirePart } from "../wire/index.ts";
import { checkLimit } from "./existing.ts";
import { requireMessage, requireSession } from "./find.ts";
import { planPage } from "./page.ts";
import type { Entry, Thread } from "./thread.ts";
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
  const target = thread.messages.find(({ ref }) => ref.id === key.id)?.ref;
  if (target === undefined) throw new PondError("internal", `message ${key.id} vanished while it was read`);
  const payloads = request.include_payloads === true;
  const source = payloads ? store.tree({ payloads }) : thread.session.source;
  const page = await planPage({ ...thread.session, source }, [target]);
  const rest = partsAfter(page.parts.get(target.id) ?? [], request.after_id);
  const options = { session: thread.session, mode: "complete", payloads: false } as const;
  const { before, after } = neighbours(thread, target.id, depth);
  const [parts, own, siblings] = await Promise.all([
    viewParts(store, rest.slice(0, limit), { page, payloads }),
    viewEntries(store, [{ head: target, members: [target] }], options),
    viewEntries(store, [...before, ...after], { ...options, mode: "conversational" }),
  ]);
  const shown = withinBudget(parts.views);
  return {
    scope: "message",
    session: sessionHead(session),
    target: own.views[0] ?? { ...headView(target), parts_summary: [] },
    target_parts: shown,
    target_parts_remaining: rest.length - shown.length,
    siblings: siblings.views,
    context_depth: depth,
    ...issueViews([...thread.issues, ...page.issues, ...parts.issues, ...own.issues, ...siblings.issues]),
  };
}

/** The active branch if the message is on it, else everything: superseded revisions can be asked for by their id. */
async function threadWith(store: SessionStore, session: SessionSummary, id: string): Promise<Thread> {
  const source = store.tree({ payloads: false, outlines: store.summaries(), ahead: ["texts"] });
  const active = await readThread(store, { source, session: session.id, branch: "active" });
  if (active.messages.some(({ ref }) => ref.id === id)) return active;
  return { ...active, messages: active.stored.map((ref) => ({ ref, facts: {} })), hidden: 0 };
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
