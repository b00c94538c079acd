/**
 * A session with everything that descends from it, any relation, any depth (spec.md#adapter-lineage-complete-restore).
 * Ancestors stay out; a cycle, which no client writes, is an error instead of a loop.
 */
import { PondError } from "../base/errors.ts";
import type { Session, SessionId, SessionState } from "../model/index.ts";
import type { SessionStore } from "./store.ts";

export interface SessionTree {
  readonly session: Session;
  readonly children: readonly SessionTree[];
}

export interface StoredLineage {
  readonly state: SessionState;
  readonly children: readonly StoredLineage[];
}

/** The tree of session rows below one session; no message is read. */
export async function readTree(store: SessionStore, root: Session): Promise<SessionTree> {
  return grow(store, root, new Set());
}

/** The whole of a lineage, payloads included. */
export async function readLineage(store: SessionStore, tree: SessionTree): Promise<StoredLineage> {
  const state = await store.state(tree.session.id);
  if (state === undefined) throw new PondError("not_found", `session ${tree.session.id} is gone`);
  const children: StoredLineage[] = [];
  for (const child of tree.children) children.push(await readLineage(store, child));
  return { state, children };
}

/** Every session of a tree, the root first. */
export function* sessionsOf(tree: SessionTree): Generator<Session> {
  yield tree.session;
  for (const child of tree.children) yield* sessionsOf(child);
}

async function grow(
  store: SessionStore,
  session: Session,
  path: ReadonlySet<SessionId>,
): Promise<SessionTree> {
  if (path.has(session.id))
    throw new PondError("internal", `session ${session.id} descends from itself`, {
      reason: "corrupt",
      data: { cycle: [...path, session.id] },
    });
  const below = new Set([...path, session.id]);
  const children: SessionTree[] = [];
  for (const child of await store.children(session.id)) children.push(await grow(store, child, below));
  return { session, children };
}
