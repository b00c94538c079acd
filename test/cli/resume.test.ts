/** `pond resume` as people run it: restore if needed, then the client in the recorded directory, with its exit code. */
import { spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { BIN, cleanEnv, TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";

/** A home with a session of Claude Code that worked in a folder of it, and clients that say how they were started. */
class ResumeHome extends TempHome {
  readonly project = join(this.path, "my app");
  readonly log = join(
    this.path,
    ".claude/projects",
    this.project.replaceAll(/[^A-Za-z0-9]/g, "-"),
    `${ID}.jsonl`,
  );
  readonly env = { PATH: [join(this.path, "bin"), "/usr/bin", "/bin"].join(delimiter) };

  static async make(): Promise<ResumeHome> {
    const home = new ResumeHome();
    mkdirSync(home.project);
    mkdirSync(join(home.path, "bin"));
    mkdirSync(join(home.log, ".."), { recursive: true });
    const record = (uuid: string, parentUuid: string | null, type: string, content: unknown) =>
      `${JSON.stringify({ type, uuid, parentUuid, sessionId: ID, cwd: home.project, timestamp: "2026-11-01T00:00:00Z", message: { role: type, content } })}\n`;
    writeFileSync(
      home.log,
      record("a", null, "user", "hello") + record("b", "a", "assistant", [{ type: "text", text: "hi" }]),
    );
    await home.pond(["sync", "--quiet"]);
    return home;
  }

  /** Prints where it runs and with what, reads a line, and ends with 7. */
  addClient(name: string, script = 'echo "$(pwd)|$(umask)|$*"; read line; echo "read $line"; exit 7'): void {
    writeFileSync(join(this.path, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.path, "bin", name), 0o755);
  }

  /** With a line to read, as a terminal would give. */
  async resume(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [BIN, "resume", ...args], {
      cwd: this.path,
      env: cleanEnv(this.path, this.env),
    });
    const texts = { stdout: "", stderr: "" };
    child.stdout.on("data", (data: Buffer) => (texts.stdout += data.toString()));
    child.stderr.on("data", (data: Buffer) => (texts.stderr += data.toString()));
    child.stdin.end("typed\n");
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...texts })));
  }

  files(): readonly string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => `${path} ${statSync(path).mtimeMs}`)
      .toSorted();
  }
}

test("a lost session is restored, and its client has the terminal, the directory and the last word", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude");
  rmSync(join(home.path, ".claude"), { recursive: true });
  const { code, stdout, stderr } = await home.resume([ID.slice(0, 8)]);
  const mask = process.umask().toString(8).padStart(4, "0");
  expect(stdout).toBe(`${home.project}|${mask}|--resume ${ID}\nread typed\n`);
  expect(code).toBe(7);
  expect(existsSync(home.log)).toBe(true);
  expect(stderr).toContain("restored 1 session into claude-code (native): 1 file");
  expect(stderr).toContain(`starting: cd '${home.project}' && claude --resume ${ID}\n`);
});

test("a session that its client has is used as it is, also where it was continued since", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude");
  const before = readFileSync(home.log, "utf8");
  expect(await home.resume([ID])).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/^claude-code has the session already$/m) as string,
  });
  appendFileSync(home.log, `${JSON.stringify({ type: "summary", summary: "more", leafUuid: "b" })}\n`);
  expect(await home.resume([ID])).toMatchObject({ code: 7 });
  expect(readFileSync(home.log, "utf8").startsWith(before)).toBe(true);
  // What is there under its name and is another session is not.
  writeFileSync(home.log, before.replace("hello", "other"));
  const refused = await home.resume([ID]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/already exists with other content.*\n.*run pond sync/);
});

test("into another client, again and again", async () => {
  using home = await ResumeHome.make();
  home.addClient("codex");
  const first = await home.resume([ID, "--in", "codex-cli"]);
  expect(first.stdout).toMatch(/\|resume [0-9a-f-]{36}\nread typed\n$/);
  expect(first.stderr).toContain("restored 1 session into codex-cli (foreign)");
  const second = await home.resume([ID, "--in", "codex-cli"]);
  expect(second).toMatchObject({ code: 7, stdout: first.stdout });
  expect(second.stderr).toContain("codex-cli has the session already");
});

test("a rollout that Codex has compressed since is the session, too", async () => {
  using home = await ResumeHome.make();
  home.addClient("codex");
  await home.resume([ID, "--in", "codex-cli"]);
  const folder = join(home.path, ".codex/sessions/2026/11/01");
  const path = join(folder, readdirSync(folder)[0]!);
  writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
  rmSync(path);
  const { code, stderr } = await home.resume([ID, "--in", "codex-cli"]);
  expect([code, readdirSync(folder)]).toEqual([7, [`${basename(path)}.zst`]]);
  expect(stderr).toContain("codex-cli has the session already");
  expect(await home.pond(["restore", ID, "--to", "codex-cli"])).toMatchObject({ code: 2 });
});

test("what asks pond to end asks the client, and Ctrl-C is the client's alone", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done");
  const child = spawn(process.execPath, [BIN, "resume", ID], {
    cwd: home.path,
    env: cleanEnv(home.path, home.env),
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  // As a second and third Ctrl-C, which would end pond by itself.
  for (let times = 0; times < 3; times += 1) {
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(child.exitCode).toBe(null);
  child.kill("SIGTERM");
  expect(await ended).toBe(9);
});

test("opencode is given the session first; where that fails it is not started", async () => {
  using home = await ResumeHome.make();
  home.addClient(
    "opencode",
    '[ "$1" = import ] && { test -f "$2" && echo "imported $2"; exit $?; }; echo "$*"',
  );
  const { code, stdout, stderr } = await home.resume([ID, "--in", "opencode"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^--session ses_\w+\n$/)]);
  expect(stderr).toMatch(/^imported .*\.local\/share\/pond\/restores\/opencode\/.*\.json$/m);
  home.addClient("opencode", 'echo "no such table" >&2; exit 3');
  const failed = await home.resume([ID, "--in", "opencode"]);
  expect(failed).toMatchObject({ code: 2, stdout: "" });
  expect(failed.stderr).toMatch(/no such table\n.*opencode import .* ended with exit code 3/s);
});

test("a directory that is not here is named, and the client is started nowhere else", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude");
  home.addClient("pi");
  rmSync(home.project, { recursive: true });
  const before = home.files();
  const { code, stdout, stderr } = await home.resume([ID, "--in", "pi"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`${home.project}, where the session worked, is not on this machine`);
  expect(stderr).toContain(`pond resume ${ID} --in pi --map-path '${home.project}'=<the folder here>`);
  expect(home.files()).toEqual(before);
  mkdirSync(join(home.path, "here"));
  const mapped = await home.resume([ID, "--in", "pi", "--map-path", `${home.project}=here`]);
  expect(mapped.stdout).toContain(`${home.path}/here|`);
});

test("a project that was moved is named, and with its new folder its session is opened there and not copied", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude");
  const moved = join(home.path, "moved app");
  renameSync(home.project, moved);
  const refused = await home.resume([ID]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain(`pond resume ${ID} --map-path '${home.project}'=<the folder here>`);
  const logs = (): readonly string[] => home.files().filter((line) => line.includes(".jsonl "));
  const before = logs();
  const { code, stdout, stderr } = await home.resume([ID, "--map-path", `${home.project}=${moved}`]);
  expect([code, stdout]).toEqual([7, expect.stringContaining(`${moved}|`)]);
  expect(stdout).toContain(`|--resume ${home.log}\n`);
  expect(stderr).toContain("claude-code has the session already");
  expect(logs()).toEqual(before);
});

test("an earlier state is not mistaken for the one that is there", async () => {
  using home = await ResumeHome.make();
  home.addClient("claude");
  appendFileSync(home.log, `${JSON.stringify({ type: "summary", summary: "more", leafUuid: "b" })}\n`);
  await home.pond(["sync", "--quiet"]);
  const newest = readFileSync(home.log, "utf8");
  const refused = await home.resume([ID, "--state", "1"]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain(
    `Claude Code has session ${ID} in another state than the one that is asked for: ${home.log}`,
  );
  expect(refused.stderr).toContain(`open what is there with pond resume ${ID} --in claude-code`);
  const planned = await home.resume([ID, "--state", "1", "--dry-run", "--json"]);
  expect(planned.code).toBe(1);
  expect(JSON.parse(planned.stdout)).toMatchObject({
    refused: { reason: "exists", path: home.log },
    state: { state: 1 },
  });
  rmSync(home.log);
  expect(await home.resume([ID, "--state", "1"])).toMatchObject({ code: 7 });
  const lines = (text: string): number => text.trimEnd().split("\n").length;
  expect([lines(newest), lines(readFileSync(home.log, "utf8"))]).toEqual([3, 2]);
});

test("a command that is not on PATH is named, with what would be run, and nothing is written", async () => {
  using home = await ResumeHome.make();
  const before = home.files();
  const { code, stdout, stderr } = await home.resume([ID, "--in", "pi"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/the command pi is not on PATH.*\n.*cd '.*my app' && pi --session [0-9a-f-]{36}/);
  expect(home.files()).toEqual(before);
});

test("a dry run prints the command, or the whole report as JSON, and writes nothing at all", async () => {
  using home = await ResumeHome.make();
  const before = home.files();
  const { code, stdout, stderr } = await home.resume([ID, "--in", "pi", "--dry-run"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^cd '.*my app' && pi --session [0-9a-f-]{36}\n$/);
  expect(stderr).toMatch(
    /^a resume would be refused: the command pi is not on PATH.*\nfix: install it, or add /,
  );
  expect(stderr).toContain("would restore 1 session into pi (foreign): 1 file");
  const json = await home.resume([ID, "--in", "opencode", "--dry-run", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    dry_run: true,
    to: "opencode",
    resume: {
      steps: [
        ["opencode", "import", expect.any(String)],
        ["opencode", "--session", expect.any(String)],
      ],
    },
  });
  expect(home.files()).toEqual(before);
  expect(await home.resume([ID, "--json"])).toMatchObject({ code: 2, stdout: "" });
});

test("pond restore --dry-run shows files with sizes, losses, tokens and the command, and writes nothing at all", async () => {
  using home = await ResumeHome.make();
  const before = home.files();
  const { code, stdout } = await home.pond(["restore", ID, "--to", "codex-cli", "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^would restore 1 session into codex-cli \(foreign\): 1 file, .* nothing was written$/m,
  );
  expect(stdout).toMatch(/^ {2}.*\.codex\/sessions\/2026\/11\/01\/rollout-.*\.jsonl \(.* B\)$/m);
  expect(stdout).toMatch(/^the model in codex-cli is sent about \d+ tokens of this session/m);
  expect(stdout).toMatch(/^resume with: cd '.*' && codex resume/m);
  const there = await home.pond(["restore", ID, "--dry-run", "--json"]);
  expect(JSON.parse(there.stdout)).toMatchObject({
    dry_run: true,
    files: [{ kept: true }],
    refused: {
      reason: "exists",
      path: home.log,
      hint: expect.stringContaining("pond resume opens it") as string,
    },
  });
  expect(home.files()).toEqual(before);
  appendFileSync(home.log, "{}\n");
  const refused = await home.pond(["restore", ID, "--dry-run"]);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("in the way: it exists with other content");
});
