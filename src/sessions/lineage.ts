/**
 * A session with everything that descends from it, any relation, any depth (spec.md#adapter-lineage-complete-restore):
 * whole, or an error that names what is missing. Ancestors stay out.
 */
import { PondError } from "../base/errors.ts";
import type { Lineage, SessionId, TreeIssue } from "../model/index.ts";
import { describeKey, lineageOf, loadTree } from "../model/index.ts";
import type { SessionStore } from "./store.ts";

/** The whole of a lineage, payloads included. */
export async function readLineage(store: SessionStore, root: SessionId): Promise<Lineage> {
  const { value, issues } = await loadTree(store.tree(), root);
  const cycle = issues.find(({ kind }) => kind === "cycle");
  if (cycle !== undefined) throw circular(root, cycle);
  const [first] = issues;
  const lineage = lineageOf(value);
  if (first !== undefined || lineage === undefined) throw notWhole(root, first, issues.length);
  return lineage;
}

/** Nothing is damaged: the clients recorded parents that no tree has. */
function circular(root: SessionId, { message, kind }: TreeIssue): PondError {
  return new PondError("validation_failed", `${message}; such sessions cannot be restored as a tree`, {
    reason: "corrupt",
    hint: "their client recorded these parents; pond get reads each of them on its own",
    data: { session: root, kind },
  });
}

function notWhole(root: SessionId, first: TreeIssue | undefined, count: number): PondError {
  const where = first === undefined ? `session ${root}` : describeKey(first.key);
  const others = count > 1 ? `, and ${count - 1} more` : "";
  return new PondError("internal", `${where} cannot be read: ${first?.message ?? "it has no row"}${others}`, {
    reason: "corrupt",
    hint: "pond verify names everything that cannot be read",
    data: { session: root, issues: count, ...(first === undefined ? {} : { kind: first.kind }) },
  });
}
