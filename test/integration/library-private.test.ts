/**
 * Who uses pond as a library has an umask of his own: what pond makes itself is private all the same, and the engine's files
 * are in folders that nobody else can enter (spec.md#keep-private).
 */
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { restore, sync } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";

const PLACE = join(
  import.meta.dirname,
  "../fixtures/adapters/claude-code/projects/-tmp-pond-fixture-demo-app",
);
const SESSION = "42a619cc-bb76-46e4-81e9-08563bb4c708";

/** What others may read, write or enter at or below a folder, and can come to. */
function openTo(folder: string): readonly string[] {
  if ((lstatSync(folder).mode & 0o077) !== 0) return [folder];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0);
}

async function isOpenByDefault(): Promise<boolean> {
  await using dir = await tempDir();
  mkdirSync(join(dir.path, "made"));
  return (lstatSync(join(dir.path, "made")).mode & 0o077) !== 0;
}

const isTelling = process.platform !== "win32" && (await isOpenByDefault());
if (!isTelling) console.warn("skipped: whatever is made here is private, so nothing is told by it");

test.skipIf(!isTelling)("what a library makes is private without an umask", async () => {
  await using at = await tempContext();
  await sync(at.context, { adapters: ["claude-code"], paths: [PLACE] });
  const out = join(at.home, "out");
  const report = await restore(at.context, { session_id: SESSION, out });
  const { state } = at.context.config.paths;
  for (const folder of [state, out]) expect(openTo(folder)).toEqual([]);
  expect(readdirSync(state).length).toBeGreaterThan(2);
  expect(report.files.length).toBeGreaterThan(1);
  // The engine makes its own as the process does, behind a door that is closed.
  for (const folder of ["store", "store/default"])
    expect(lstatSync(join(at.home, folder)).mode & 0o777).toBe(0o700);
});
