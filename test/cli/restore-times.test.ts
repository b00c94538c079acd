/** When a client lists a restored session (spec.md#adapter-restore-times): by the time of its file. */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const FOLDER = ".claude/projects/-srv-app";
const LAST = "2026-01-01T00:00:01.500Z";

/** A session of Claude Code of the first of January, and after how many days its client deletes files. */
async function homeWithSession(cleanupPeriodDays: number): Promise<TempHome> {
  const home = new TempHome();
  mkdirSync(join(home.path, FOLDER), { recursive: true });
  writeFileSync(join(home.path, ".claude/settings.json"), JSON.stringify({ cleanupPeriodDays }));
  const record = (uuid: string, parentUuid: string | null, timestamp: string, more: object) =>
    `${JSON.stringify({ uuid, parentUuid, sessionId: ID, cwd: "/srv/app", timestamp, ...more })}\n`;
  const answer = [{ type: "text", text: "hi" }];
  writeFileSync(
    join(home.path, FOLDER, `${ID}.jsonl`),
    record("a", null, "2026-01-01T00:00:00Z", { type: "user", message: { role: "user", content: "hello" } }) +
      record("b", "a", LAST, { type: "assistant", message: { role: "assistant", content: answer } }),
  );
  await home.pond(["sync", "--quiet"]);
  return home;
}

const timeOf = (path: string): string => statSync(path).mtime.toISOString();

test("a restored log has the time of its last record, natively and in another client", async () => {
  using home = await homeWithSession(36500);
  const log = join(home.path, FOLDER, `${ID}.jsonl`);
  rmSync(log);
  expect(await home.pond(["restore", ID])).toMatchObject({ code: 0, stderr: "" });
  expect(timeOf(log)).toBe(LAST);
  for (const client of ["codex-cli", "pi"]) {
    expect(await home.pond(["restore", ID, "--to", client, "--out", client])).toMatchObject({ code: 0 });
    const [file] = readdirSync(join(home.path, client), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    );
    expect(timeOf(join(file!.parentPath, file!.name))).toBe(LAST);
  }
});

test("what its client would delete for its age has the time of the restore, and that is reported", async () => {
  using home = await homeWithSession(30);
  const log = join(home.path, FOLDER, `${ID}.jsonl`);
  rmSync(log);
  const started = Date.now() - 1000;
  const { stdout } = await home.pond(["restore", ID]);
  expect(stdout).toContain("dated today: claude-code deletes sessions that are older than 30 days");
  expect(statSync(log).mtimeMs).toBeGreaterThan(started);
  const json = await home.pond(["restore", ID, "--out", "x", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ deleted_after_days: 30 });
});
