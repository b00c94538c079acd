/**
 * What repair makes of sources that are not where this machine's memory says (spec.md#keep-repair): it called rows lost whose
 * source is on this disk, recorded by another reader; and of logs that were moved it said to put them back, though a sync
 * from where they are now does.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sourceLines } from "../../src/cli/verbs/repair.ts";
import { listSessions, repair, sync } from "../../src/handlers/index.ts";
import { dataFiles, DemoHome, filesIn } from "../support/demo-home.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

/** A home with one log of Claude Code that is outside of its folder and was synced in two steps. */
async function syncedElsewhere() {
  const home = await DemoHome.unsynced();
  const [name = ""] = filesIn(join(home.path, ".claude")).filter((file) => file.endsWith(".jsonl"));
  const lines = readFileSync(join(home.path, ".claude", name), "utf8")
    .trimEnd()
    .split("\n");
  const folder = join(home.path, "elsewhere");
  const log = join(folder, dirname(name), basename(name));
  for (const client of [".claude", ".codex", ".pi"])
    rmSync(join(home.path, client), { recursive: true, force: true });
  mkdirSync(dirname(log), { recursive: true });
  const request = { adapters: ["claude-code"], paths: [folder], ...IMPORT };
  for (const count of [2, 4]) {
    writeFileSync(log, `${lines.slice(0, count).join("\n")}\n`);
    await home.run((context) => sync(context, request));
  }
  const messages = async (): Promise<number | undefined> =>
    (await home.run((context) => listSessions(context, {}))).sessions[0]?.messages.total;
  return { home, folder, log, messages };
}

const unequalIn = ({ stored }: Awaited<ReturnType<typeof repair>>): number =>
  stored.clients.reduce((sum, { unequal }) => sum + unequal, 0);

test("a source on this disk is read again, whoever recorded it", async () => {
  const { home, messages } = await syncedElsewhere();
  await using _ = home;
  const before = await messages();
  // Who read it, and where from: nobody remembers.
  rmSync(join(home.path, ".local/state"), { recursive: true });
  rmSync(dataFiles(home, "messages").at(-1) ?? "");
  const report = await home.run((context) => repair(context));
  expect(report.rows).toMatchObject({ taken_out: 2, lost: 0 });
  expect(report.rows.read_again).toBeGreaterThanOrEqual(2);
  expect(unequalIn(report)).toBe(0);
  expect(await messages()).toBe(before);
});

test("of a log that was moved repair names the sync that reads it where it is, and that stores what was lost", async () => {
  const { home, folder, messages } = await syncedElsewhere();
  await using _ = home;
  const before = await messages();
  const moved = join(home.path, "moved");
  renameSync(folder, moved);
  rmSync(dataFiles(home, "messages").at(-1) ?? "");
  const report = await home.run((context) => repair(context));
  expect(unequalIn(report)).toBe(1);
  expect(sourceLines(report.stored).at(-1)).toContain("pond sync --adapter <client> --path <folder>");
  const request = { adapters: ["claude-code"], paths: [moved], ...IMPORT };
  await home.run((context) => sync(context, request));
  expect(await messages()).toBe(before);
});
