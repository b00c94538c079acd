/**
 * The second and third stage (spec.md#live-staged-tree-resolve, spec.md#live-staged-tree-hydrate) and all three in one
 * call. A leaf that cannot be had is one issue, and everything else comes.
 */
import type { SessionId } from "../ids.ts";
import { describeKey, isSameKey, entityKeyOf } from "../ids.ts";
import type { Lineage, MessageWithParts, SessionState } from "../events/replay.ts";
import { entityOf } from "../events/replay.ts";
import type { Event } from "../types.ts";
import { planTree } from "./plan.ts";
import type {
  Fault,
  Leaf,
  MessageNode,
  Outcome,
  PlanNode,
  RefTree,
  SessionNode,
  SessionPlan,
  Staged,
  TreeIssue,
  TreeRef,
  TreeScope,
  TreeSource,
} from "./types.ts";
import { REF } from "./types.ts";

type Choice<R extends TreeRef> = (node: PlanNode<R>) => boolean;

const all = (): boolean => true;

/** Where the chosen nodes of a plan are, all when nothing chooses. Reads no bodies. */
export async function resolveTree<R extends TreeRef>(
  source: TreeSource<R>,
  plan: SessionPlan<R>,
  choose: Choice<R> = all,
): Promise<Staged<RefTree<R>>> {
  const issues: TreeIssue[] = [];
  const leaves = new Map<PlanNode<R>, Leaf<R>>();
  for (const session of sessionsIn(plan)) {
    const nodes = [...nodesOf(session)].filter((node) => choose(node));
    const unlocated = nodes.filter((node) => ownRef(node) === undefined);
    const located = unlocated.length === 0 ? [] : await source.locate(unlocated);
    const found = new Map(unlocated.map((node, at) => [node, located[at] ?? NOTHING] as const));
    for (const node of nodes) {
      const ref = ownRef(node);
      const outcome = found.get(node) ?? NOTHING;
      if (ref !== undefined) leaves.set(node, { outline: node, ref });
      else if (outcome.ok) leaves.set(node, { ...outcome.value });
      else issues.push(issueOf("resolve", node, outcome.fault));
    }
  }
  return { value: { plan, leaves }, issues };
}

/** The reference that a node was outlined with; not that of another one whose copy it is. */
function ownRef<R extends TreeRef>(node: PlanNode<R>): R | undefined {
  const ref = node[REF];
  return ref !== undefined && isSameKey(ref.key, node) ? ref : undefined;
}

/**
 * The values of the chosen nodes, all when nothing chooses. Doing it again, with the same or another choice, reads no
 * leaf a second time.
 */
export async function hydrateTree<R extends TreeRef>(
  source: TreeSource<R>,
  { plan, leaves }: RefTree<R>,
  choose: Choice<R> = all,
): Promise<Staged<SessionNode<R>>> {
  const issues: TreeIssue[] = [];
  const values = new Map<PlanNode<R>, Event>();
  for (const session of sessionsIn(plan)) {
    const chosen = [...nodesOf(session)].filter((node) => leaves.has(node) && choose(node));
    for (const [node, outcome] of await readLeaves(source, leaves, chosen))
      if (outcome.ok) values.set(node, outcome.value);
      else issues.push(issueOf("hydrate", node, outcome.fault));
  }
  return { value: nodeOf(plan, values), issues };
}

/** The three stages, their issues in order. */
export async function loadTree<R extends TreeRef>(
  source: TreeSource<R>,
  root: SessionId,
  scope: TreeScope = {},
): Promise<Staged<SessionNode<R>>> {
  const plan = await planTree(source, root, scope);
  const refs = await resolveTree(source, plan.value);
  const tree = await hydrateTree(source, refs.value);
  return { value: tree.value, issues: [...plan.issues, ...refs.issues, ...tree.issues] };
}

/** Every session of a plan or a hydrated tree, the root first, each before its children. */
export function* sessionsIn<T extends { readonly children: readonly T[] }>(tree: T): Generator<T> {
  yield tree;
  for (const child of tree.children) yield* sessionsIn(child);
}

/** What a hydrated session holds, without leaves that have no value; undefined where it has none itself. */
export function stateOf({ session, messages }: SessionNode): SessionState | undefined {
  if (session === undefined) return undefined;
  return { session, messages: messages.flatMap(turnOf) };
}

/** The same for the session and all below it; a session without a value goes with everything below. */
export function lineageOf(node: SessionNode): Lineage | undefined {
  const state = stateOf(node);
  if (state === undefined) return undefined;
  return { state, children: node.children.flatMap((child) => lineageOf(child) ?? []) };
}

function turnOf({ message, parts }: MessageNode): readonly MessageWithParts[] {
  if (message === undefined) return [];
  return [{ message, parts: parts.flatMap(({ part }) => part ?? []) }];
}

/** A session, then each of its messages with its parts. */
function* nodesOf<R extends TreeRef>(session: SessionPlan<R>): Generator<PlanNode<R>> {
  yield session;
  for (const message of session.messages) {
    yield message;
    yield* message.parts;
  }
}

/** Reads at once what no one has read before. A read that fails as a whole leaves no trace: it can be tried again. */
async function readLeaves<R extends TreeRef>(
  source: TreeSource<R>,
  leaves: RefTree<R>["leaves"],
  nodes: readonly PlanNode<R>[],
): Promise<readonly (readonly [PlanNode<R>, Outcome<Event>])[]> {
  const chosen = nodes.flatMap((node) => leaves.get(node) ?? []);
  const unread = chosen.filter(({ read }) => read === undefined);
  if (unread.length > 0) {
    const batch = source.bodies(unread);
    for (const [index, leaf] of unread.entries()) leaf.read = { batch, index };
    batch.catch(() => {
      for (const leaf of unread) delete leaf.read;
    });
  }
  // Taken now: another reader of the same tree may fail, and forget its leaves, while this one waits.
  const reads = chosen.map(({ read }) => read);
  const batches = new Map<unknown, readonly Outcome<Event>[]>();
  for (const read of reads)
    if (read !== undefined && !batches.has(read.batch)) batches.set(read.batch, await read.batch);
  return nodes.map((node, at) => {
    const read = reads[at];
    const outcome = read === undefined ? undefined : batches.get(read.batch)?.[read.index];
    return [node, checked(node, outcome ?? NOTHING)];
  });
}

/** A reference that leads to something else than it was made for is no value. */
function checked(node: PlanNode, outcome: Outcome<Event>): Outcome<Event> {
  if (!outcome.ok || isSameKey(node, entityOf(outcome.value))) return outcome;
  const message = `its reference leads to ${describeKey(entityOf(outcome.value))}`;
  return { ok: false, fault: { kind: "changed", message } };
}

function nodeOf<R extends TreeRef>(
  plan: SessionPlan<R>,
  values: ReadonlyMap<PlanNode<R>, Event>,
): SessionNode<R> {
  const own = values.get(plan);
  return {
    plan,
    ...(own?.kind === "session" ? { session: own.session } : {}),
    messages: plan.messages.map((message) => {
      const value = values.get(message);
      return {
        plan: message,
        ...(value?.kind === "message" ? { message: value.message } : {}),
        parts: message.parts.map((part) => {
          const body = values.get(part);
          return { plan: part, ...(body?.kind === "part" ? { part: body.part } : {}) };
        }),
      };
    }),
    children: plan.children.map((child) => nodeOf(child, values)),
  };
}

const NOTHING = {
  ok: false,
  fault: { kind: "missing", message: "the source gave no answer for it" },
} as const;

/** With the key alone: an issue does not hold on to the tree. */
function issueOf(stage: TreeIssue["stage"], node: PlanNode, fault: Fault): TreeIssue {
  return { stage, key: entityKeyOf(node), ...fault };
}
