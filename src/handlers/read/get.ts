/**
 * `get` (spec.md#wire-get): a session page by page, or one message with its neighbours. A page obeys a size budget and
 * never cuts a message.
 */
import { isPondError, PondError } from "../../base/errors.ts";
import { compareOldestFirst, sessionId } from "../../model/index.ts";
import { sentence } from "../../base/sentence.ts";
import type { SessionStore, SessionSummary, StoreTree, SummaryList } from "../../sessions/index.ts";
import type { RowStatus } from "../../sessions/states/index.ts";
import { isPlain, messageCount } from "../../sessions/index.ts";
import { GET_LIMITS, PAGE_BYTES } from "../../wire/index.ts";
import type { ChildView, GetRequest, GetResponse, ResponseMode, SessionResult } from "../../wire/index.ts";
import type { Context } from "../context/context.ts";
import { checkLimit, requireStore } from "../context/existing.ts";
import { noSession } from "../context/find.ts";
import { getMessage } from "./get-message.ts";
import { mappedFiles } from "../restore/note.ts";
import type { ShownMessage } from "./shown-messages.ts";
import { outlineSession, shownIn } from "./shown-messages.ts";
import { endViews, issueViews, sessionHead, stateViews, viewMessages } from "./views.ts";

export async function get(context: Context, request: GetRequest): Promise<GetResponse> {
  const { session_id, message_id } = request;
  const limit = checkLimit("limit", request.limit, GET_LIMITS);
  const store = await requireStore(context);
  if (message_id !== undefined) return getMessage(store, request, { message_id, limit });
  if (session_id !== undefined) return getSession(store, request, { session_id, limit });
  throw new PondError("validation_failed", "get needs session_id or message_id", {
    hint: sentence`${{ do: "sessions" }} and ${{ do: "search" }} print ids`,
    data: { field: "session_id" },
  });
}

/** Children listed on one page; a session with more says how many. */
const MAX_CHILDREN = 100;

async function getSession(
  store: SessionStore,
  request: GetRequest,
  { session_id, limit }: { readonly session_id: string; readonly limit: number },
): Promise<SessionResult> {
  const mode = request.response_mode ?? "conversational";
  const payloads = request.include_payloads === true;
  const outlines = store.summaries();
  const { end = 1, history = false } = request;
  checkView(request);
  const source = store.tree({
    payloads,
    outlines,
    view: history ? "history" : { end },
    ahead: mode === "verbatim" ? ["texts", "bodies"] : ["texts"],
  });
  const branch = history ? "history" : (request.branch ?? "active");
  const [summaries, outlined] = await Promise.all([
    outlines,
    outlineSession(store, { source, session: sessionId(session_id), branch }).catch(orNoSession),
  ]);
  const session = summaries.get(session_id);
  if (session === undefined || outlined === undefined) throw await noSession(store, session_id);
  const past = await pastOf({ store, source }, session, history ? undefined : end);
  const shown = shownIn(mode, outlined.messages);
  const page = pageOf(shown, request, { limit, mode });
  const children = childrenOf(session, summaries);
  const onPage = shown.slice(page.start, page.end);
  const { views, issues } = await viewMessages(store, onPage, { session: outlined, mode, payloads });
  return {
    scope: "session",
    session: sessionHead(session),
    response_mode: mode,
    session_from: page.isFromEnd ? "end" : "start",
    messages: views,
    messages_before: page.start,
    messages_remaining: page.isFromEnd ? page.start : shown.length - page.end,
    hidden: outlined.hidden,
    children: children.slice(0, MAX_CHILDREN),
    children_remaining: Math.max(0, children.length - MAX_CHILDREN),
    ...past,
    ...issueViews([...outlined.issues, ...issues]),
  };
}

function checkView({ end, history, branch }: GetRequest): void {
  if (end !== undefined && !(Number.isSafeInteger(end) && end >= 1))
    throw new PondError("validation_failed", `end ${end} is out of bounds`, {
      reason: "limit",
      hint: "give the number of an end; 1 is the newest",
      data: { field: "end", value: end, least: 1 },
    });
  const [field] = [...(end === undefined ? [] : ["end"]), ...(branch === undefined ? [] : ["branch"])];
  if (history !== true || field === undefined) return;
  throw new PondError(
    "validation_failed",
    `history shows every ${field} at once, so ${field} cannot be chosen`,
    {
      hint: `leave out history or ${field}`,
      data: { field },
    },
  );
}

/** The ends of the session, where there are several, and how much is stored that is in none of them. */
async function pastOf(
  { store, source }: { readonly store: SessionStore; readonly source: StoreTree },
  session: SessionSummary,
  end: number | undefined,
): Promise<Pick<SessionResult, "end" | "ends" | "history" | "states" | "states_remaining" | "replaced">> {
  const { of, ends } = isPlain(session) ? NO_PAST : await source.rowStates(session.id);
  const replaced = of
    .values()
    .filter((each) => each === "superseded" || each === "removed")
    .toArray().length;
  const most = Math.max(1, ends.length);
  if (end !== undefined && end > most)
    throw new PondError("not_found", `session ${session.id} has no end ${end}`, {
      hint:
        most === 1
          ? sentence`leave ${{ field: "end" }} out; this session has one end`
          : `its ends are 1 to ${most}`,
      data: { kind: "end", id: String(end), field: "end" },
    });
  return {
    ...(end === undefined ? { history: true, ...(await statesOf(source, session)) } : {}),
    ...(ends.length > 1 && end !== undefined ? { end } : {}),
    ...(ends.length > 1 ? { ends: endViews(ends, await mappedFiles(store, session.id)) } : {}),
    ...(replaced > 0 ? { replaced } : {}),
  };
}

/** States listed with a history; a session with more says how many. */
const MAX_STATES = 100;

async function statesOf(
  source: StoreTree,
  { id }: SessionSummary,
): Promise<Pick<SessionResult, "states" | "states_remaining">> {
  const { sources } = await source.history(id);
  const states = sources
    .flatMap(({ all }) => all)
    .toSorted((a, b) => b.read_at - a.read_at || b.state - a.state || (a.source < b.source ? -1 : 1));
  const left = states.length - MAX_STATES;
  return {
    states: stateViews(states.slice(0, MAX_STATES)),
    ...(left > 0 ? { states_remaining: left } : {}),
  };
}

const NO_PAST = { of: new Map<string, RowStatus>(), ends: [] };

/** The answer then says which sessions there are. */
function orNoSession(error: unknown): undefined {
  if (isPondError(error) && error.code === "not_found") return undefined;
  throw error;
}

/** Oldest first. */
function childrenOf(session: SessionSummary, summaries: SummaryList): ChildView[] {
  return summaries
    .childrenOf(session.id)
    .toSorted(compareOldestFirst)
    .map((child) => {
      const { parent_session_id: _, project: __, ...head } = sessionHead(child);
      return { ...head, messages: messageCount(child) };
    });
}

interface PageRange {
  readonly start: number;
  readonly end: number;
  readonly isFromEnd: boolean;
}

/** As many messages as the limit and the budget allow, at least one where there is one. */
function pageOf(
  messages: readonly ShownMessage[],
  request: GetRequest,
  { limit, mode }: { readonly limit: number; readonly mode: ResponseMode },
): PageRange {
  const { after_id, before_id } = request;
  const isFromEnd = before_id !== undefined || (after_id === undefined && request.session_from === "end");
  let start = after_id === undefined ? 0 : positionOf(messages, after_id, "after_id") + 1;
  let end = before_id === undefined ? messages.length : positionOf(messages, before_id, "before_id");
  let room = PAGE_BYTES;
  if (isFromEnd) {
    const first = Math.max(start, end - limit);
    start = end;
    while (start > first && fits(messages[start - 1], start < end)) start -= 1;
  } else {
    const last = Math.min(end, start + limit);
    end = start;
    while (end < last && fits(messages[end], end > start)) end += 1;
  }
  return { start, end, isFromEnd };

  function fits(message: ShownMessage | undefined, isFull: boolean): boolean {
    room -= message === undefined ? 0 : costOf(message, mode);
    return room >= 0 || !isFull;
  }
}

/** Bytes of a header and the like in a transcript. */
const MESSAGE_OVERHEAD = 200;

function costOf({ members }: ShownMessage, mode: ResponseMode): number {
  return members.reduce((sum, { bytes, text_bytes: textBytes = 0, role }) => {
    const isWhole = mode === "verbatim" || (mode === "complete" && role === "system");
    return sum + (isWhole ? bytes + textBytes : textBytes) + MESSAGE_OVERHEAD;
  }, 0);
}

function positionOf(messages: readonly ShownMessage[], id: string, field: string): number {
  const position = messages.findIndex(({ members }) => members.some((member) => member.id === id));
  if (position >= 0) return position;
  throw new PondError("not_found", `message ${id} is not among those of this session in this mode`, {
    hint: "take it from the previous answer, and ask with the same mode, branch, end and history",
    data: { kind: "message", id, field },
  });
}
