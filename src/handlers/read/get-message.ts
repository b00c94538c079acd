/** `get` of one message (spec.md#wire-get): its whole parts, page by page, and the conversation around it. */
import { PondError } from "../../base/errors.ts";
import { stringifyJson } from "../../base/json/json.ts";
import type { SessionStore, SessionSummary, View } from "../../sessions/index.ts";
import { isPlain } from "../../sessions/index.ts";
import { CONTEXT_LIMITS, PAGE_BYTES } from "../../wire/index.ts";
import type { GetRequest, MessageResult, WirePart } from "../../wire/index.ts";
import { checkLimit } from "../context/existing.ts";
import { requireMessage, requireSession } from "../context/find.ts";
import { planPage } from "./page.ts";
import type { OutlinedSession, OutlineRequest, ShownMessage } from "./shown-messages.ts";
import { alone, outlineSession, shownIn } from "./shown-messages.ts";
import { headView, issueViews, sessionHead, viewMessages, viewParts } from "./views.ts";

export async function getMessage(
  store: SessionStore,
  request: GetRequest,
  { message_id, limit }: { readonly message_id: string; readonly limit: number },
): Promise<MessageResult> {
  const depth = checkLimit("context_depth", request.context_depth, { ...CONTEXT_LIMITS, least: 0 });
  const key = await requireMessage(store, message_id, request.session_id);
  const session = await requireSession(store, key.session_id);
  const outlined = await outlineAround(store, session, key.id);
  const found = outlined.messages.find(({ head }) => head.id === key.id);
  if (found === undefined) throw new PondError("internal", `message ${key.id} vanished while it was read`);
  const { head: target, state } = found;
  const payloads = request.include_payloads === true;
  const source = payloads ? store.tree({ payloads, view: "everything" }) : outlined.source;
  const page = await planPage({ ...outlined, source }, [target]);
  const rest = partsAfter(page.parts.get(target.id) ?? [], request.after_id);
  const options = { session: outlined, mode: "complete", payloads: false } as const;
  const { before, after } = neighbours(outlined.messages, target.id, depth);
  const [parts, own, siblings] = await Promise.all([
    viewParts(store, rest.slice(0, limit), { page, payloads }),
    viewMessages(store, [found], options),
    viewMessages(store, [...before, ...after], { ...options, mode: "conversational" }),
  ]);
  const shown = withinBudget(parts.views);
  return {
    scope: "message",
    session: sessionHead(session),
    target: own.views[0] ?? {
      ...headView(target),
      ...(state === undefined ? {} : { state }),
      parts_summary: [],
    },
    target_parts: shown,
    target_parts_remaining: rest.length - shown.length,
    siblings: siblings.views,
    siblings_before: before.length,
    context_depth: depth,
    ...issueViews([...outlined.issues, ...page.issues, ...parts.issues, ...own.issues, ...siblings.issues]),
  };
}

/**
 * The active branch if the message is on it, else everything that its end holds. What is in no end can be asked for by its
 * id, too: it is shown among what is current, where it stood.
 */
async function outlineAround(
  store: SessionStore,
  session: SessionSummary,
  id: string,
): Promise<OutlinedSession> {
  const outlines = store.summaries();
  const read = (view: View, branch: OutlineRequest["branch"]): Promise<OutlinedSession> => {
    const source = store.tree({ payloads: false, outlines, view, ahead: ["texts"] });
    return outlineSession(store, { source, session: session.id, branch });
  };
  const active = await read("newest", "active");
  if (active.messages.some(({ head }) => head.id === id)) return active;
  if (active.stored.some((message) => message.id === id) && isPlain(session))
    return { ...active, messages: active.stored.map(alone), hidden: 0 };
  const all = await read("history", "history");
  const asked = all.messages.find(({ head }) => head.id === id)?.state;
  const isBeside = ({ head, state }: ShownMessage): boolean => head.id === id || state === undefined;
  if (asked !== "other_end") return { ...all, messages: all.messages.filter(isBeside) };
  const { ends } = await store.tree({ payloads: false, outlines }).rowStates(session.id);
  const end = ends.findIndex(({ rows }) => rows.some((row) => row.id === id)) + 1;
  const other = await read({ end }, "all");
  const states = new Map(all.messages.map(({ head, state }) => [head.id, state]));
  const mark = (message: ShownMessage): ShownMessage => {
    const state = states.get(message.head.id);
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
    hint: "in message mode after_id is the id of a part of the previous answer",
    data: { kind: "part", id: after },
  });
}

/** Parts are not cut either: the first one is always whole. */
function withinBudget(parts: readonly WirePart[]): readonly WirePart[] {
  let room = PAGE_BYTES;
  const end = parts.findIndex((part) => (room -= stringifyJson(part).length) < 0);
  return end < 0 ? parts : parts.slice(0, Math.max(1, end));
}

/** The nearest conversation on both sides, without what the message itself is shown in. */
function neighbours(
  messages: readonly ShownMessage[],
  id: string,
  depth: number,
): { readonly before: readonly ShownMessage[]; readonly after: readonly ShownMessage[] } {
  const position = new Map<string, number>(messages.map(({ head }, at) => [head.id, at]));
  const at = position.get(id) ?? 0;
  const others = shownIn("conversational", messages).filter(
    ({ members }) => !members.some((member) => member.id === id),
  );
  const placeOf = ({ head }: ShownMessage): number => position.get(head.id) ?? 0;
  const before = others.filter((message) => placeOf(message) < at);
  const after = others.filter((message) => placeOf(message) > at);
  return { before: depth === 0 ? [] : before.slice(-depth), after: after.slice(0, depth) };
}
