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
  const [first] = issues;
  const lineage = lineageOf(value);
  if (first !== undefined || lineage === undefined) throw notWhole(root, first, issues.length);
  return lineage;
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
