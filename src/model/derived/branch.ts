/**
 * The active branch of a log that is a tree (spec.md#model-branches), computed from what the source recorded each
 * time it is read, from the facts `parent`, `leaf` and `aside` of its messages. A message without a `parent` is no node:
 * headers, side files and logs that are a plain list are always active. In a plain list a `leaf` leaves out what is between
 * it and the record that has the fact.
 * The leaf is the last node of the log or where a later `leaf` points; the branch is the way from it to the root. A
 * parent that the log does not have gives way to where the log stood then, so that no history is hidden behind it.
 */
import type { WithFacts } from "./facts.ts";
import { factsOf } from "./facts.ts";
import type { Message } from "../types.ts";

type BranchMessage = Pick<Message, "id" | "seq" | "role"> & WithFacts;

/** The ids of the messages to show, given all messages of a session in order. */
export function activeBranch(messages: readonly BranchMessage[]): ReadonlySet<string> {
  if (!messages.some(isOfTree)) return new Set(messages.map(({ id }) => id));
  const nodes = nodesOf(messages);
  if (![...nodes.values()].some(({ isPlaced }) => isPlaced)) return activeOfList(messages);
  const leaf = joinUp(nodes);
  if (leaf === undefined) return new Set(messages.map(({ id }) => id));
  const path = pathTo(leaf, nodes);
  addWholeResponses(path, nodes);
  const parents = new Set([...nodes.values()].map((node) => node.parent));
  const active = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (factsOf(message).removed === true) continue;
    const key = nodeKey(message);
    const node = nodes.get(key);
    const isOutside = node === undefined || (!node.isPlaced && !parents.has(key));
    // One record may be split over several messages: the further ones share its position and its fate.
    const previous = messages[index - 1];
    const follows = isOutside && previous?.seq !== undefined && previous.seq === message.seq;
    const isActive = follows
      ? active.has(previous.id)
      : isOutside || path.has(key) || belongsTo(path, node, nodes);
    if (!isActive) continue;
    active.add(message.id);
    if (!isOutside) path.add(key);
  }
  return active;
}

/** What has no position is no step of the list, and stays. */
function activeOfList(messages: readonly BranchMessage[]): ReadonlySet<string> {
  let kept: BranchMessage[] = [];
  for (const message of messages) {
    const { leaf } = factsOf(message);
    const at = typeof leaf === "string" ? kept.findLastIndex((entry) => nodeKey(entry) === leaf) : -1;
    if (at !== -1 || leaf === null) {
      const seq = kept[at]?.seq;
      const isOfLeaf = (entry: BranchMessage): boolean => seq !== undefined && entry.seq === seq;
      kept = kept.filter((entry, index) => index <= at || entry.seq === undefined || isOfLeaf(entry));
    }
    kept.push(message);
  }
  return new Set(kept.map(({ id }) => id));
}

/** False in a plain list, of which nothing is to be looked up. */
function isOfTree(message: BranchMessage): boolean {
  const { parent, leaf } = factsOf(message);
  return parent !== undefined || leaf !== undefined;
}

interface Node {
  readonly role: Message["role"];
  readonly parent: string | undefined;
  /** The source says where in the tree it stands. */
  readonly isPlaced: boolean;
  readonly isAside: boolean;
  readonly turn: string | undefined;
  /** Undefined: the node itself. */
  readonly leaf: string | null | undefined;
}

function nodesOf(messages: readonly BranchMessage[]): Map<string, Node> {
  const nodes = new Map<string, Node>();
  for (const message of messages) {
    const { parent, leaf, turn, aside, removed } = factsOf(message);
    // A mark that a record is gone leaves the record where it stood, off the way of those that came after.
    if (removed === true) continue;
    nodes.set(nodeKey(message), {
      role: message.role,
      parent: parent ?? undefined,
      isPlaced: parent !== undefined,
      isAside: aside === true,
      turn,
      leaf,
    });
  }
  return nodes;
}

/**
 * The leaf: undefined when nothing in the log is a node; null when the client went back to before the first one. Nodes
 * whose parent is not there are hung on the leaf that the log had before them.
 */
function joinUp(nodes: Map<string, Node>): string | null | undefined {
  let leaf: string | null | undefined;
  for (const [key, node] of nodes) {
    if (node.parent !== undefined && !nodes.has(node.parent) && !node.isAside)
      nodes.set(key, { ...node, parent: leaf ?? undefined });
    if (node.leaf === null || (node.leaf !== undefined && nodes.has(node.leaf))) leaf = node.leaf;
    else if (node.isPlaced && !node.isAside) leaf = key;
  }
  return leaf;
}

/** From the leaf to the root; a cycle ends it. */
function pathTo(leaf: string | null, nodes: ReadonlyMap<string, Node>): Set<string> {
  const path = new Set<string>();
  for (let at = leaf ?? undefined; at !== undefined && !path.has(at); at = nodes.get(at)?.parent)
    path.add(at);
  return path;
}

/**
 * Some clients split one response of the model over records, and what follows one of its calls may pass the others by, where
 * something else than a turn stands between them. What is on the way of one of them is of all.
 */
function addWholeResponses(path: Set<string>, nodes: ReadonlyMap<string, Node>): void {
  const responses = new Set<string>();
  for (const key of path) {
    const turn = responseOf(nodes.get(key));
    if (turn !== undefined) responses.add(turn);
  }
  if (responses.size === 0) return;
  for (const [key, node] of nodes) if (!node.isAside && responses.has(responseOf(node) ?? "")) path.add(key);
}

const responseOf = (node: Node | undefined): string | undefined =>
  node?.role === "assistant" ? node.turn : undefined;

/** The results that do not lie on the way to the root belong to it all the same, as their calls do. */
function belongsTo(path: ReadonlySet<string>, node: Node, nodes: ReadonlyMap<string, Node>): boolean {
  if (node.role !== "tool") return false;
  const call = turnAbove(node, nodes);
  return call !== undefined && path.has(call) && nodes.get(call)?.turn !== undefined;
}

/** The nearest node above that is a turn: clients note progress between a call and its result. A cycle ends it. */
function turnAbove({ parent }: Node, nodes: ReadonlyMap<string, Node>): string | undefined {
  const passed = new Set<string>();
  for (let at = parent; at !== undefined && !passed.has(at); at = nodes.get(at)?.parent) {
    if (nodes.get(at)?.role !== "system") return at;
    passed.add(at);
  }
  return undefined;
}

/** A revision stands where the record that it revises stood. */
function nodeKey(message: BranchMessage): string {
  return factsOf(message).revises ?? message.id;
}
