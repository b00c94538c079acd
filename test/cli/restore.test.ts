/** `pond restore` as people run it: back into the client, into another one, never over a file, and how to go on. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { readFolder } from "../support/adapter-run.ts";
import { tempContext } from "../support/temp-context.ts";
import { BIN, ROOT, TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";
const LOG = `.claude/projects/-srv-app/${ID}.jsonl`;

async function homeWithSession(): Promise<TempHome> {
  const home = new TempHome();
  mkdirSync(join(home.path, ".claude/projects/-srv-app"), { recursive: true });
  const line = (n: number) =>
    JSON.stringify({
      type: "user",
      uuid: `u${n}`,
      parentUuid: n === 0 ? null : `u${n - 1}`,
      sessionId: ID,
      cwd: "/srv/app",
      timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
      message: { role: "user", content: `message ${n}` },
    });
  writeFileSync(join(home.path, LOG), `${line(0)}\n${line(1)}\n`);
  expect(await home.pond(["sync", "--quiet"])).toMatchObject({ code: 0 });
  return home;
}

function valuesOf(home: TempHome): readonly unknown[] {
  const lines = readFileSync(join(home.path, LOG), "utf8").trimEnd().split("\n");
  return lines.map((line): unknown => JSON.parse(line));
}

test("a lost log comes back value for value where the client looks for it, and is never written over", async () => {
  using home = await homeWithSession();
  const before = valuesOf(home);
  const refused = await home.pond(["restore", ID]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/already exists.*\n.*--out/s);
  rmSync(join(home.path, LOG));
  // A link that leads nowhere is as much in the way.
  symlinkSync(join(home.path, "nowhere"), join(home.path, LOG));
  const linked = await home.pond(["restore", ID]);
  expect(linked).toMatchObject({ code: 2, stdout: "" });
  expect(linked.stderr).toMatch(/already exists with other content.*\n.*nothing was written/s);
  rmSync(join(home.path, LOG));
  const { code, stdout } = await home.pond(["restore", ID.slice(0, 8)]);
  expect([code, valuesOf(home)]).toEqual([0, before]);
  expect(stdout).toContain("1 file, ");
  expect(stdout).toMatch(new RegExp(`^resume with: cd /srv/app && claude --resume ${ID}$`, "m"));
  expect(stdout).not.toContain("copy what is in");
});

test("elsewhere: the files have to be copied first, unless the client imports them by a command", async () => {
  using home = await homeWithSession();
  mkdirSync(join(home.path, ".codex"));
  const codex = await home.pond(["restore", ID, "--to", "codex-cli", "--out", "it's here"]);
  expect(codex.stdout).toContain(`copy what is in ${home.path}/it's here into ${home.path}/.codex`);
  const flags = ["--to", "opencode", "--out", "it's here", "--map-path", "/srv=/my home"];
  const opencode = await home.pond(["restore", ID, ...flags]);
  const [file] = readdirSync(join(home.path, "it's here/pond"));
  const quoted = `'${home.path}/it'\\''s here/pond/${file}'`;
  const id = file!.replace(".json", "");
  expect(opencode.stdout).toContain(
    `resume with: cd '/my home/app' && opencode import ${quoted} && opencode --session ${id}`,
  );
  expect(opencode.stdout).not.toContain("copy what is in");
});

test("paths mean the home and the working folder as they do to a shell, and a rule that fits nothing is told", async () => {
  using home = await homeWithSession();
  const flags = ["--out=~/back", "--map-path", "/srv/app=here", "--map-path", "/sv/app=/x"];
  const { code, stdout, stderr } = await home.pond(["restore", ID, ...flags]);
  expect([code, stderr]).toEqual([
    0,
    "note: --map-path /sv/app=/x matches no folder that the session recorded; it worked in /srv/app\n",
  ]);
  expect(stdout).toContain(`\n  ${home.path}/back/`);
  expect(stdout).toContain(`resume with: cd ${home.path}/here && claude`);
  expect(await home.pond(["config", "path", "--config=~/x.toml"])).toMatchObject({
    stdout: `${home.path}/x.toml\n`,
  });
});

test("a session that recorded no folder is resumed from anywhere", async () => {
  using home = new TempHome();
  mkdirSync(join(home.path, ".claude/projects/-srv-app"), { recursive: true });
  const record = { type: "user", uuid: "u", sessionId: ID, timestamp: "2026-01-01T00:00:00Z" };
  const text = JSON.stringify({ ...record, message: { role: "user", content: "hello" } });
  writeFileSync(join(home.path, LOG), `${text}\n`);
  // Younger ones wait for a folder.
  utimesSync(join(home.path, LOG), 1_767_225_600, 1_767_225_600);
  await home.pond(["sync", "--quiet"]);
  const { stdout } = await home.pond(["restore", ID, "--out", "x"]);
  expect(stdout).toMatch(new RegExp(`^resume with: claude --resume ${ID}$`, "m"));
});

test.each([
  [["restore", "nobody"], /no session nobody is stored\n.*pond sessions/],
  [["restore", ID, "--to", "claude"], /no client named claude\n.*claude-code, codex-cli/],
  [["restore", ID, "--out", ""], /--out needs a value/],
  [["restore", ID, "--out", LOG], /--out .* is a file\n.*name a folder/],
  [["restore", ID, "--out", `${LOG}/x`], /11111111\.jsonl is not a folder\n.*with --out/],
  [["restore", ID, "--map-path", "nonsense", "--out", "x"], /--map-path nonsense is not old=new/],
  [["restore", ID, "--map-path", "/srv/app=", "--out", "x"], /--map-path \/srv\/app= is not old=new/],
])("%j is refused with a fix and writes nothing", async (args, message) => {
  using home = await homeWithSession();
  const { code, stdout, stderr } = await home.pond(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
  expect(readdirSync(home.path).toSorted()).toEqual([".claude", ".local"]);
});

test("what a program stored without a digest is restored, and told as not proven", async () => {
  await using at = await tempContext();
  const place = join(ROOT, "test/fixtures/adapters/claude-code/projects/-tmp-pond-fixture-demo-app");
  const runs = await readFolder(adapterNamed("claude-code")!, place);
  await at.ingest(runs.flatMap(({ events }) => events));
  using home = new TempHome();
  const id = "42a619cc-bb76-46e4-81e9-08563bb4c708";
  const options = { env: { POND_STORE: join(at.home, "store") } };
  const { code, stdout } = await home.pond(["restore", id, "--out", "out"], options);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(`^not proven: no digest was recorded \\(session ${id} and \\d+ more\\)$`, "m"),
  );
});

/** A disk of memory inside the target needs a namespace of its own. */
const canMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;
if (!canMount)
  console.warn("skipped: nothing can be mounted here, so no folder of a target is on another disk");

test.skipIf(!canMount)("a folder inside the target may be a mount of another disk", async () => {
  using home = await homeWithSession();
  const folder = join(home.path, "out/-srv-app");
  mkdirSync(folder, { recursive: true });
  const script = 'mount -t tmpfs none "$1" && "$2" "$3" restore "$4" --out out >&2 && cat "$1/$4.jsonl"';
  const ended = await home.exec("unshare", [
    "-rm",
    "sh",
    "-c",
    script,
    "sh",
    folder,
    process.execPath,
    BIN,
    ID,
  ]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("message 1") });
  // It was on the other disk, which is gone.
  expect(readdirSync(folder)).toEqual([]);
});

test("a linked folder inside the target is not followed, and the link is named with the fix", async () => {
  using home = await homeWithSession();
  mkdirSync(join(home.path, "out"));
  mkdirSync(join(home.path, "elsewhere"));
  symlinkSync(join(home.path, "elsewhere"), join(home.path, "out/-srv-app"));
  const { code, stderr } = await home.pond(["restore", ID, "--out", "out"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/out\/-srv-app is a link to .*elsewhere.*\n.*nothing was written.*--out/s);
  expect(readdirSync(join(home.path, "elsewhere"))).toEqual([]);
  expect(readdirSync(join(home.path, "out"))).toEqual(["-srv-app"]);
});

test("on an empty machine the client's folder is made where it belongs, and a missing directory is told", async () => {
  using home = await homeWithSession();
  rmSync(join(home.path, ".claude"), { recursive: true });
  const back = await home.pond(["restore", ID]);
  expect(back.code).toBe(0);
  expect(existsSync(join(home.path, LOG))).toBe(true);
  expect(back.stdout).toContain(
    `/srv/app is not on this machine: create it, or run pond resume ${ID} --map-path /srv/app=<the folder here>`,
  );
  expect(back.stdout).not.toContain("copy what is in");
  const codex = await home.pond(["restore", ID, "--to", "codex-cli"]);
  expect([codex.code, existsSync(join(home.path, ".codex/sessions"))]).toEqual([0, true]);
  const opencode = await home.pond(["restore", ID, "--to", "opencode", "--json"]);
  const { out } = JSON.parse(opencode.stdout) as { out: string };
  expect(out).toBe(join(home.path, ".local/share/pond/restores/opencode"));
});
