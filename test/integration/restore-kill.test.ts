/** What a restore that dies at any instant leaves behind, and that the next one completes it (spec.md#adapter-restore). */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../support/child.ts";
import { foreignTargets, restoreInto, smallLineage } from "../support/restore-lineage.ts";
import { tempDir } from "../support/temp-dir.ts";

const lineage = smallLineage();

test.each(foreignTargets())(
  "a restore into $name that is killed before any step is completed by the next one",
  { timeout: 180_000 },
  async (adapter) => {
    await using whole = await tempDir();
    const [root] = await restoreInto(adapter, lineage, { out: whole.path });
    const rootLog = relative(whole.path, root!.path);
    const expected = treeOf(whole.path);
    const names = Object.keys(expected);
    expect(names.length).toBeGreaterThan(2);

    await using counted = await tempDir();
    const counting = startChild("restore-child.ts", { to: adapter.name, out: counted.path });
    expect(await counting.ended).toEqual({ code: 0, stderr: "" });
    // Each file is made and given its place, and the staging folder is removed.
    const steps = Number(counting.lines[0]);
    expect(steps).toBe(2 * names.length + 1);
    expect(treeOf(counted.path)).toEqual(expected);

    for (let dieAt = 0; dieAt < steps; dieAt += 1) {
      await using out = await tempDir();
      const child = startChild("restore-child.ts", { to: adapter.name, out: out.path, dieAt });
      expect((await child.ended).code).toBeNull();
      const left = placed(treeOf(out.path));
      expect(Object.keys(left)).toHaveLength(Math.max(0, Math.min(dieAt - names.length, names.length)));
      expect(left).toEqual(Object.fromEntries(names.filter((n) => n in left).map((n) => [n, expected[n]])));
      // The client sees the session with everything that belongs to it, or not at all.
      if (rootLog in left) expect(left).toEqual(expected);
      const next = restoreInto(adapter, lineage, { out: out.path });
      if (rootLog in left) await expect(next).rejects.toMatchObject({ reason: "exists" });
      else expect((await next).filter(({ kept }) => kept)).toHaveLength(Object.keys(left).length);
      expect(treeOf(out.path)).toEqual(expected);
    }
  },
);

/** Every file below a folder, with its text. */
function treeOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(files.map((path) => [relative(root, path), readFileSync(path, "utf8")]));
}

function placed(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !name.startsWith(".pond-restore-")));
}
