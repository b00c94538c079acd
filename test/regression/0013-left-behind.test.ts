/**
 * Killed work leaves nothing behind (spec.md#storage-no-garbage): not beside the tables, and not in the folder for temporary
 * files. POND_TEST_KILLS says how many kills.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ownedName } from "../../src/base/owned-name.ts";
import { openStore } from "../../src/substrate/index.ts";
import { tempDir } from "../support/temp-dir.ts";

const KILLS = Number(process.env["POND_TEST_KILLS"] ?? 3);
const SUBSTRATE = fileURLToPath(new URL("../../src/substrate/index.ts", import.meta.url));

/** A process that opens a store and is killed once it has: its temporary folder stays. */
async function openAndKill(store: string, temporary: string): Promise<void> {
  const code = `const { openStore } = await import(${JSON.stringify(SUBSTRATE)});
    await openStore(${JSON.stringify(store)});
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: "ignore",
  });
  await new Promise((done) => child.once("close", done));
}

const engineFolders = (temporary: string): string[] =>
  readdirSync(temporary).filter((name) => name.startsWith("pond-engine-"));

test("the engine's temporary folders of killed processes are removed by the next one, those of living ones are not", async () => {
  await using dir = await tempDir();
  const [store, temporary] = [join(dir.path, "store"), join(dir.path, "tmp")];
  mkdirSync(temporary);
  // Of this process, which lives, and of a machine that cannot be asked.
  const living = `${ownedName("pond-engine-")}abc123`;
  for (const name of [living, "pond-engine-00000000-1-1-abc123", "pond-engine-older"])
    mkdirSync(join(temporary, name));
  for (let kill = 0; kill < KILLS; kill++) await openAndKill(store, temporary);
  const left = engineFolders(temporary).filter((name) => !/older|00000000|abc123$/.test(name));
  expect(left).toHaveLength(1);
  expect(engineFolders(temporary)).toEqual(expect.arrayContaining([living, "pond-engine-older"]));
});

test("tables that a killed process was making are removed a day later, not sooner", async () => {
  await using dir = await tempDir();
  (await openStore(dir.path)).close();
  const folder = join(dir.path, "default");
  const [old, young] = [join(folder, "pond_new_old.lance"), join(folder, "pond_new_young.lance")];
  for (const draft of [old, young]) mkdirSync(join(draft, "data"), { recursive: true });
  utimesSync(old, 1, 1);
  await using _ = await openStore(dir.path);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});
