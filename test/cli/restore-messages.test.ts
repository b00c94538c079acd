/** What `pond restore` and `pond resume` say when they refuse: what, where, and the command that mends it. */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const CLAUDE = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";
const PROJECT = "/home/demo/projects/checkout";

async function demoHome(): Promise<TempHome> {
  const home = new TempHome();
  home.addDemoSessions();
  await home.pond(["sync", "--quiet"]);
  return home;
}

describe("what cannot be answered", () => {
  let home: TempHome;
  beforeAll(async () => {
    home = await demoHome();
    return () => home[Symbol.dispose]();
  });

  test.each<readonly [string, readonly string[], string, string]>([
    ["no id", ["restore", ""], "an empty id names no session", "pond sessions lists"],
    [
      "a slip in the client",
      ["restore", CLAUDE, "--to", "codx"],
      "no client named codx",
      "did you mean codex-cli?",
    ],
    [
      "no such client",
      ["resume", CLAUDE, "--in", "emacs"],
      "no client named emacs",
      "fix: the clients are claude-code, codex-cli, opencode, pi",
    ],
    ["the flag of resume", ["restore", CLAUDE, "--in", "pi"], "unknown flag --in", "did you mean --to?"],
    ["the flag of restore", ["resume", CLAUDE, "--to", "pi"], "unknown flag --to", "did you mean --in?"],
    [
      "two ways to name a state",
      ["restore", CLAUDE, "--end", "1", "--state", "1"],
      "--end and --state each name a state",
      "fix: give only one of them",
    ],
    [
      "no such state",
      ["resume", CLAUDE, "--state", "9"],
      `there is no state 9 of session ${CLAUDE} as it was read from `,
      "leave --state out; its only state is 1",
    ],
    [
      "the session is there",
      ["restore", CLAUDE],
      "already exists, and pond never overwrites a file",
      "the session is there, and pond resume opens it; to get one more copy, restore into another folder with --out",
    ],
    [
      "its client is not installed",
      ["resume", CLAUDE, "--map-path", `${PROJECT}=/`],
      "the command claude is not on PATH",
      "install it, or add its folder to PATH; what would be run: cd / && claude --resume /",
    ],
  ])("%s", async (_, args, message, fix) => {
    const { code, stdout, stderr } = await home.pond(args, { env: { PATH: "/usr/bin:/bin" } });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(fix);
  });
});

test("of more sessions than are named it is told how many there are", async () => {
  using home = new TempHome();
  const folder = join(home.path, ".claude/projects/-srv-app");
  mkdirSync(folder, { recursive: true });
  for (const n of [1, 2, 3, 4, 5]) {
    const sessionId = `aaaaaaaa-000${n}-4111-8111-111111111111`;
    const record = { type: "user", uuid: "u", sessionId, cwd: "/srv/app", timestamp: "2026-05-01T10:00:00Z" };
    const message = { role: "user", content: "hello" };
    writeFileSync(join(folder, `${sessionId}.jsonl`), `${JSON.stringify({ ...record, message })}\n`);
  }
  await home.pond(["sync", "--quiet"]);
  const { stderr } = await home.pond(["restore", "aaaaaaaa"]);
  expect(stderr).toMatch(
    /5 sessions begin with aaaaaaaa\n.*fix: type more of it: \S+, \S+, \S+ and 2 more\n/,
  );
});

test("a dry run begins with why a restore would be refused, and ends with 1", async () => {
  using home = await demoHome();
  const native = await home.pond(["restore", CLAUDE, "--dry-run"]);
  expect(native.code).toBe(1);
  expect(native.stdout).toMatch(
    new RegExp(
      `^a restore would be refused: /.*${CLAUDE}.jsonl already exists, .*\nfix: the session is there, and pond resume opens it; `,
    ),
  );
  // Nothing would be written, so that nothing would be listed anew.
  expect(native.stdout).not.toContain("dated today");
  await home.pond(["restore", CLAUDE, "--to", "pi"]);
  const foreign = await home.pond(["restore", CLAUDE, "--to", "pi", "--dry-run"]);
  expect(foreign.code).toBe(1);
  expect(foreign.stdout).toMatch(
    new RegExp(
      `^a restore would be refused: session ${CLAUDE} was restored into pi before, as .*\\nfix: open it with pond resume ${CLAUDE} --in pi; `,
    ),
  );
  const again = await home.pond(["restore", CLAUDE, "--to", "pi"]);
  expect(again.stderr).toContain(`open it with pond resume ${CLAUDE} --in pi; `);
  expect(again.stderr).toContain("for one more copy, restore into another folder with --out");
});

test("a directory that is not here comes with the whole command, of the state that was asked for, too", async () => {
  using home = await demoHome();
  const { stdout } = await home.pond(["restore", CLAUDE, "--to", "pi", "--dry-run"]);
  expect(stdout).toContain(
    `create it, or run pond restore ${CLAUDE} --to pi --map-path ${PROJECT}=<the folder here>\n`,
  );
  const unused = await home.pond(["restore", CLAUDE, "--to", "pi", "--dry-run", "--map-path", "/hom/demo=/"]);
  expect(unused.stderr).toContain(`matches no folder that the session recorded; it worked in ${PROJECT}\n`);
});

test.skipIf(process.getuid?.() === 0)("a folder that cannot be made is told by what it is for", async () => {
  using home = await demoHome();
  const folder = join(home.path, "closed");
  mkdirSync(folder);
  chmodSync(folder, 0o500);
  const { code, stderr } = await home.pond(["restore", CLAUDE, "--out", join(folder, "new")]);
  expect(code).toBe(2);
  expect(stderr).toContain(`the folder to restore into, ${join(folder, "new")}, cannot be written to`);
  expect(stderr).toContain("with --out");
});

test("a folder that cannot be made because a file is in its way is told by what it is for", async () => {
  using home = await demoHome();
  writeFileSync(join(home.path, "file"), "");
  const { code, stderr } = await home.pond(["restore", CLAUDE, "--out", "file/new"]);
  expect(code).toBe(2);
  expect(stderr).toContain("the folder to restore into cannot be used");
  expect(stderr).toContain("with --out");
});

test("a session that was restored and not carried on is found by its id in whichever verb", async () => {
  using home = await demoHome();
  rmSync(join(home.path, ".pi"), { recursive: true });
  await home.pond(["restore", CLAUDE, "--to", "pi"]);
  const [name = ""] = readdirSync(join(home.path, ".pi"), { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".jsonl"),
  );
  const id = name.slice(-42, -6);
  const get = await home.pond(["get", id.slice(0, 8)]);
  expect(get.stderr).toContain(`pond resume ${CLAUDE} --in pi opens it there`);
  const restore = await home.pond(["restore", id.slice(0, 8)]);
  expect(restore.stderr).toContain(`open it with pond resume ${CLAUDE} --in pi; `);
  const resume = await home.pond(["resume", id.slice(0, 8)], { env: { PATH: "/usr/bin:/bin" } });
  expect(resume.stderr).toContain(`${PROJECT}, where the session worked, is not on this machine`);
  expect([get.code, restore.code, resume.code]).toEqual([2, 2, 2]);
});
