/**
 * The first stage (spec.md#live-staged-tree-plan): which sessions, messages and parts a scope holds, with their sizes,
 * read from keys and short facts only. Nothing outside the scope is looked at.
 */
import { PondError } from "../../base/errors.ts";
import type { EntityKey, MessageId, MessageKey, SessionId } from "../ids.ts";
import { describeKey } from "../ids.ts";
import { isSubagent } from "../derived/source-agent.ts";
import type {
  Found,
  MessageOutline,
  MessagePlan,
  PartOutline,
  SessionOutline,
  SessionPlan,
  Staged,
  Total,
  TreeIssue,
  TreeRef,
  TreeScope,
  TreeSource,
} from "./types.ts";

/** Throws `not_found` where there is no such session, or no message where the range starts or ends. */
export async function planTree<R extends TreeRef>(
  source: TreeSource<R>,
  root: SessionId,
  scope: TreeScope = {},
): Promise<Staged<SessionPlan<R>>> {
  checkScope(scope);
  const issues: TreeIssue[] = [];
  const ahead = startsAt(root, scope) ? source.messages(root) : undefined;
  // Awaited below, unless there is no such session; then its failure is nobody's business.
  ahead?.catch(() => undefined);
  const draft = await growSessions(source, root, { scope, issues });
  const outlines = (id: SessionId) => (id === root ? ahead : undefined) ?? source.messages(id);
  await takeMessages(outlines, [...preorder(draft)], { scope, issues });
  const planned = await planParts(source, finish(draft), scope.partTypes);
  return { value: planned.value, issues: [...issues, ...planned.issues] };
}

/** The plan with the parts of its messages; of some types only, or all. For plans that their holder has cut down. */
export async function planParts<R extends TreeRef>(
  source: TreeSource<R>,
  plan: SessionPlan<R>,
  types?: TreeScope["partTypes"],
): Promise<Staged<SessionPlan<R>>> {
  if (types?.length === 0) return { value: plan, issues: [] };
  const wanted = types === undefined ? undefined : new Set(types);
  const issues: TreeIssue[] = [];
  const value = await fill(plan);
  return { value, issues };

  async function fill(session: SessionPlan<R>): Promise<SessionPlan<R>> {
    const parts = await partsOf(session);
    const messages = session.messages.map((message): MessagePlan<R> => {
      const own = parts.get(message.id) ?? [];
      return { ...message, parts: wanted === undefined ? own : own.filter(({ type }) => wanted.has(type)) };
    });
    const children: SessionPlan<R>[] = [];
    for (const child of session.children) children.push(await fill(child));
    return { ...session, messages, children };
  }

  async function partsOf(
    session: SessionPlan<R>,
  ): Promise<ReadonlyMap<MessageId, readonly PartOutline<R>[]>> {
    if (session.messages.length === 0) return new Map();
    const { id, messages, total } = session;
    return take(
      await source.parts({ session: id, messages, of: total?.messages ?? messages.length }),
      issues,
    );
  }
}

interface Draft<R extends TreeRef = TreeRef> {
  readonly head: SessionOutline<R>;
  readonly depth: number;
  readonly children: Draft<R>[];
  total?: Total;
  messages: readonly MessageOutline<R>[];
}

interface Planning {
  readonly scope: TreeScope;
  readonly issues: TreeIssue[];
}

function checkScope({ depth = 0, messages, maxBytes = 0 }: TreeScope): void {
  const isFine = depth >= 0 && maxBytes >= 0 && (messages?.limit ?? 1) >= 1;
  if (isFine) return;
  throw new PondError("validation_failed", "a tree's depth and bytes start at 0, its limit at 1", {
    reason: "limit",
    data: { depth, limit: messages?.limit ?? null, max_bytes: maxBytes },
  });
}

/** Generation by generation, one look for all parents of a generation. */
async function growSessions<R extends TreeRef>(
  source: TreeSource<R>,
  root: SessionId,
  { scope, issues }: Planning,
): Promise<Draft<R>> {
  const [head, children] = await Promise.all([source.session(root), source.children([root])]);
  if (head === undefined) throw notThere({ id: root });
  const draft: Draft<R> = { head, depth: 0, children: [], messages: [] };
  const known = new Map<SessionId, Draft<R>>([[head.id, draft]]);
  let level = [draft];
  let found = children;
  while (level.length > 0) {
    const next: Draft<R>[] = [];
    for (const child of take(found, issues)) {
      const parent = child.parent_session_id === undefined ? undefined : known.get(child.parent_session_id);
      // One that names itself has no parent: it is no child, and nothing is left out.
      if (parent === undefined || parent.head.id === child.id) continue;
      if (scope.subagents === false && isSubagent(child.source_agent)) continue;
      const below = { head: child, depth: parent.depth + 1, children: [], messages: [] };
      if (known.has(child.id)) issues.push(cycle(child, ancestry(parent, known)));
      else if (below.depth > (scope.depth ?? Infinity)) issues.push(tooDeep(child, below.depth));
      else {
        known.set(child.id, below);
        parent.children.push(below);
        next.push(below);
      }
    }
    level = next;
    if (next.length > 0) found = await source.children(next.map(({ head: { id } }) => id));
  }
  return draft;
}

/** True when the root's messages are looked at whatever its lineage turns out to be: they can be had meanwhile. */
function startsAt(root: SessionId, { messages: { after, before, from } = {}, depth }: TreeScope): boolean {
  const start = from === "end" ? before : after;
  return start === undefined ? from !== "end" || depth === 0 : start.session_id === root;
}

/** Fills in the messages of the range, session by session in the range's direction, and says where it was cut. */
async function takeMessages<R extends TreeRef>(
  outlines: TreeSource<R>["messages"],
  drafts: readonly Draft<R>[],
  { scope, issues }: Planning,
): Promise<void> {
  const { after, before, from = "start" } = scope.messages ?? {};
  const first = after === undefined ? 0 : placeOf(drafts, after);
  const last = before === undefined ? drafts.length - 1 : placeOf(drafts, before);
  const isForward = from === "start";
  const inRange = drafts.slice(first, last + 1);
  const meter = new Meter(scope);
  for (const draft of isForward ? inRange : inRange.toReversed()) {
    const all = take(await outlines(draft.head.id), issues);
    draft.total = { messages: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
    const start = draft === drafts[first] ? positionOf(all, after, -1) + 1 : 0;
    const end = draft === drafts[last] ? positionOf(all, before, all.length) : all.length;
    const open = all.slice(start, end);
    const taken = meter.take(isForward ? open : open.toReversed());
    draft.messages = isForward ? taken : taken.toReversed();
    if (meter.cut === undefined) continue;
    issues.push(meter.cut);
    return;
  }
}

/** Takes messages until a bound is reached; the first one always, so that going on always gets on. */
class Meter {
  readonly #limit: number;
  readonly #maxBytes: number;
  #count = 0;
  #bytes = 0;
  #last: MessageKey | undefined;
  /** Set when something was left out. */
  cut: TreeIssue | undefined;

  constructor({ messages, maxBytes }: TreeScope) {
    this.#limit = messages?.limit ?? Infinity;
    this.#maxBytes = maxBytes ?? Infinity;
  }

  take<T extends MessageOutline>(messages: readonly T[]): readonly T[] {
    for (const [index, message] of messages.entries()) {
      const isFull = this.#count >= this.#limit;
      const isHeavy = this.#count > 0 && this.#bytes + message.bytes > this.#maxBytes;
      if (isFull || isHeavy) {
        const bound = isFull
          ? `the limit of ${this.#limit} messages`
          : `the budget of ${this.#maxBytes} bytes`;
        this.cut = cut(messageKeyOf(message), { message: `${bound} is reached`, from: this.#last });
        return messages.slice(0, index);
      }
      this.#count += 1;
      this.#bytes += message.bytes;
      this.#last = messageKeyOf(message);
    }
    return messages;
  }
}

function* preorder<R extends TreeRef>(draft: Draft<R>): Generator<Draft<R>> {
  yield draft;
  for (const child of draft.children) yield* preorder(child);
}

function finish<R extends TreeRef>({ head, depth, total, messages, children }: Draft<R>): SessionPlan<R> {
  return {
    ...head,
    depth,
    ...(total === undefined ? {} : { total }),
    messages: messages.map((message) => ({ ...message, parts: [] })),
    children: children.map((child) => finish(child)),
  };
}

function take<T>({ value, faults }: Found<T>, issues: TreeIssue[]): T {
  for (const { key, fault } of faults) issues.push({ stage: "plan", key, ...fault });
  return value;
}

function placeOf(drafts: readonly Draft[], key: MessageKey): number {
  const place = drafts.findIndex(({ head }) => head.id === key.session_id);
  if (place === -1) throw notThere(key);
  return place;
}

function positionOf(messages: readonly MessageOutline[], key: MessageKey | undefined, none: number): number {
  if (key === undefined) return none;
  const position = messages.findIndex(({ id }) => id === key.id);
  if (position === -1) throw notThere(key);
  return position;
}

const messageKeyOf = ({ session_id, id }: MessageKey): MessageKey => ({ session_id, id });

function cut(
  key: EntityKey,
  { message, from }: { readonly message: string; readonly from: TreeIssue["continue_from"] },
): TreeIssue {
  return {
    stage: "plan",
    key,
    kind: "cut",
    message,
    ...(from === undefined ? {} : { continue_from: from }),
  };
}

function tooDeep({ id }: SessionOutline, depth: number): TreeIssue {
  return cut({ id }, { message: `it lies ${depth} generations below the root`, from: { id } });
}

/** From a session up to the root, by the parents that they name. */
function ancestry(draft: Draft, known: ReadonlyMap<SessionId, Draft>): readonly SessionId[] {
  const ids: SessionId[] = [];
  for (let at: Draft | undefined = draft; at !== undefined && !ids.includes(at.head.id);) {
    ids.push(at.head.id);
    const { parent_session_id: parent }: SessionOutline = at.head;
    at = at.depth === 0 || parent === undefined ? undefined : known.get(parent);
  }
  return ids;
}

function cycle({ id }: SessionOutline, above: readonly SessionId[]): TreeIssue {
  const message = `session ${id} descends from itself: ${[id, ...above].join(" is a child of ")}`;
  return { stage: "plan", key: { id }, kind: "cycle", message };
}

function notThere(key: EntityKey): PondError {
  return new PondError("not_found", `${describeKey(key)} is not in the tree's source`, { data: { ...key } });
}
