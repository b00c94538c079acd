/**
 * A session with everything that descends from it, any relation, any depth (spec.md#adapter-lineage-complete-restore):
 * whole, or an error that names what is missing. Ancestors stay out, and so do sessions of another client that resume one
 * that was restored there (spec.md#sources-restored).
 */
import { PondError } from "../base/errors.ts";
import { sentence } from "../base/sentence.ts";
import type { Lineage } from "../model/events/index.ts";
import type { SessionId } from "../model/index.ts";
import type { TreeIssue } from "../model/tree/index.ts";
import { brandOf } from "../model/derived/index.ts";
import { describeKey } from "../model/index.ts";
import { lineageOf, loadTree, sessionsIn } from "../model/tree/index.ts";
import type { StateChoice } from "./states/history.ts";
import { asReadFrom } from "./tables/states.ts";
import type { SessionStore } from "./store.ts";
import type { Shown } from "./read/view.ts";

/** A lineage, and which recorded states it is of. */
export interface ReadLineage {
  readonly lineage: Lineage;
  /** By session; those without a recorded state are all that is stored of them. */
  readonly shown: ReadonlyMap<SessionId, Shown>;
}

/** The whole of a lineage, payloads included: the newest end of each session, or the state that was chosen. */
export async function readLineage(
  store: SessionStore,
  root: SessionId,
  view: ReadonlyMap<string, StateChoice> = new Map(),
): Promise<ReadLineage> {
  const session = await store.session(root);
  const client = session === undefined ? {} : { client: brandOf(session.source_agent) };
  const tree = store.tree({ payloads: true, view, ...client });
  const { value, issues } = await loadTree(tree, root);
  const cycle = issues.find(({ kind }) => kind === "cycle");
  if (cycle !== undefined) throw circular(root, cycle);
  const [first] = issues;
  const lineage = lineageOf(value);
  if (first !== undefined || lineage === undefined) throw notWhole(root, first, issues.length);
  const shown = new Map<SessionId, Shown>();
  for (const { state } of sessionsIn(lineage)) {
    const own = tree.shown(state.session.id);
    if (own !== undefined) shown.set(state.session.id, own);
  }
  return { lineage: withSources(lineage, shown), shown };
}

/** Each session says where its state was read from, as restoring it goes by that. */
function withSources({ state, children }: Lineage, shown: ReadonlyMap<SessionId, Shown>): Lineage {
  const head = shown.get(state.session.id)?.end.state;
  return {
    state: head === undefined ? state : asReadFrom(head, state),
    children: children.map((child) => withSources(child, shown)),
  };
}

/** Nothing is damaged: the clients recorded parents that no tree has. */
function circular(root: SessionId, { message, kind }: TreeIssue): PondError {
  return new PondError("validation_failed", `${message}; such sessions cannot be restored as a tree`, {
    reason: "corrupt",
    hint: sentence`their client recorded these parents; ${{ do: "get" }} reads each of them on its own`,
    data: { session: root, kind },
  });
}

function notWhole(root: SessionId, first: TreeIssue | undefined, count: number): PondError {
  const where = first === undefined ? `session ${root}` : describeKey(first.key);
  const others = count > 1 ? `, and ${count - 1} more` : "";
  const what = first?.message ?? "it has no row";
  return new PondError("storage_unavailable", `${where} cannot be read: ${what}${others}`, {
    reason: "corrupt",
    hint: sentence`run ${{ do: "repair" }}, which reads it again from its source where that is still there; ${{ do: "verify", stored: true }} names everything that cannot be read`,
    data: { session: root, issues: count, ...(first === undefined ? {} : { kind: first.kind }) },
  });
}
