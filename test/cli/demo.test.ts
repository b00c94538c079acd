import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

test("demo tours made-up sessions of three clients and leaves nothing behind", async () => {
  using home = new TempHome();
  using elsewhere = new TempHome();
  const { code, stdout, stderr } = await home.pond(["demo"], { env: { TMPDIR: elsewhere.path } });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/claude-code: 2 sessions, \d+ messages/);
  expect(stdout).toMatch(/codex-cli: 1 session, \d+ messages/);
  expect(stdout).toMatch(/pi: 1 session, \d+ messages/);
  for (const [, equal, records] of stdout.matchAll(/: (\d+) of (\d+) records equal/g))
    expect(equal).toBe(records);
  expect(stdout).toMatch(/resume with: cd \S+ && codex resume /);
  expect(readdirSync(home.path)).toEqual([]);
  expect(readdirSync(elsewhere.path).filter((name) => name.startsWith("pond-"))).toEqual([]);
});
