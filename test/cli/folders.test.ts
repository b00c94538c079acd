/**
 * Folders that cannot be used are told with what they are for, where, why and the fix. By a file in the place of a folder and
 * by disks of their own: modes refuse nothing to root.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Ended } from "./pond.ts";
import { BIN, TempHome } from "./pond.ts";

const isNamespace = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;
if (!isNamespace) console.warn("skipped: nothing can be mounted here, so no disk is read-only or full");

const ID = "7b0c5a52";

async function syncedHome(): Promise<TempHome> {
  const home = new TempHome();
  home.addDemoSessions();
  expect(await home.pond(["sync", "--quiet"])).toMatchObject({ code: 0 });
  return home;
}

/** Runs pond with a folder mounted: read-only as it is, or as a disk of so many bytes. */
function pondOn(home: TempHome, mount: string, args: readonly string[]): Promise<Ended> {
  const script = `${mount} && shift && exec "$@"`;
  return home.exec("unshare", ["-rm", "sh", "-c", script, "sh", home.path, process.execPath, BIN, ...args]);
}

const readOnly = (folder: string): string =>
  `mount --bind "$1/${folder}" "$1/${folder}" && mount -o remount,ro,bind "$1/${folder}"`;

test.each([
  ["is not there", (home: TempHome) => join(home.path, "nowhere")],
  ["is not a folder", (home: TempHome) => join(home.path, "file")],
])("a folder for temporary files that %s", async (why, folderOf) => {
  using home = await syncedHome();
  writeFileSync(join(home.path, "file"), "");
  const env = { TMPDIR: folderOf(home) };
  for (const args of [["sessions"], ["demo"]]) {
    const { code, stderr } = await home.pond(args, { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`the folder for temporary files, ${env.TMPDIR}, ${why}\\n.*TMPDIR`));
  }
  const { stdout } = await home.pond(["doctor"], { env });
  expect(stdout).toMatch(new RegExp(`warn +folders +the folder for temporary files.*${why}\\n.*TMPDIR`));
});

test("a file where the state should be: sync says so, reading goes on, doctor warns", async () => {
  using home = await syncedHome();
  mkdirSync(join(home.path, "other"));
  writeFileSync(join(home.path, "other/pond"), "", { mode: 0o644 });
  const env = { XDG_STATE_HOME: join(home.path, "other") };
  const told =
    /the folder for what pond keeps beside the store.*other\/pond.*is not a folder\n.*XDG_STATE_HOME/;
  const sync = await home.pond(["sync"], { env });
  expect(sync).toMatchObject({ code: 2, stderr: expect.stringMatching(told) });
  expect(sync.stderr).not.toContain("private");
  expect(await home.pond(["sessions"], { env })).toMatchObject({ code: 0, stderr: "" });
  expect((await home.pond(["doctor"], { env })).stdout).toMatch(told);
  const restored = await home.pond(["restore", ID, "--out", "out"], { env });
  expect([restored.code, restored.stderr]).toEqual([0, ""]);
});

test.skipIf(!isNamespace)("a store on a read-only disk is read, and doctor warns with the fix", async () => {
  using home = await syncedHome();
  const mount = readOnly(".local/share");
  const sessions = await pondOn(home, mount, ["sessions"]);
  expect(sessions).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await pondOn(home, mount, ["doctor"]);
  expect(stdout).toMatch(/warn +folders +the store, .*mounted read-only\n.*storage\.url/);
  expect((await home.pond(["doctor"])).stdout).not.toContain("folders");
});

/** Modes refuse nothing to root: then pond runs as nobody. */
const NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
const isRoot = process.getuid?.() === 0;
const isUser = !isRoot || spawnSync("setpriv", [...NOBODY, process.execPath, BIN, "--version"]).status === 0;
if (!isUser) console.warn("skipped: root cannot run pond as somebody else here, so modes refuse nothing");

function pondAsUser(home: TempHome, args: readonly string[]): Promise<Ended> {
  if (!isRoot) return home.pond(args);
  spawnSync("chown", ["-R", "65534:65534", home.path]);
  return home.exec("setpriv", [...NOBODY, process.execPath, BIN, ...args]);
}

test.skipIf(!isUser)("a store that may not be read fails, and says so once", async () => {
  using home = await syncedHome();
  const folder = join(home.path, ".local/share/pond/store/default");
  chmodSync(folder, 0);
  const { code, stdout, stderr } = await pondAsUser(home, ["doctor"]);
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(
    /\nFAIL +store +the store, .*default, cannot be read\n +fix: give yourself the right/,
  );
  expect(stdout.match(/^(?:warn|FAIL)/gm)).toHaveLength(1);
  chmodSync(folder, 0o700);
});

test.skipIf(!isUser)("a source that may not be read is no work for a sync", async () => {
  using home = await syncedHome();
  const log = join(home.path, ".claude/projects/-srv-app/closed.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, "{}\n", { mode: 0 });
  const { stdout } = await pondAsUser(home, ["doctor"]);
  expect(stdout).toMatch(/^ok +clients +Claude Code: .*, 0 of them to read$/m);
  expect(stdout).toMatch(
    /^warn +clients +Claude Code: .*closed\.jsonl: you have no permission.*\n +fix: make it readable/m,
  );
  expect(stdout).not.toContain("fix: pond sync");
});

test.skipIf(!isNamespace)("a state on a read-only disk", async () => {
  using home = await syncedHome();
  const mount = readOnly(".local/state");
  rmSync(join(home.path, ".local/state/pond/stores.jsonl"));
  const sync = await pondOn(home, mount, ["sync"]);
  expect(sync.code).toBe(2);
  expect(sync.stderr).toMatch(/beside the store, .*mounted read-only\n.*XDG_STATE_HOME/);
  const restored = await pondOn(home, mount, ["restore", ID, "--out", "out"]);
  expect([restored.code, restored.stderr]).toEqual([0, ""]);
});

test.skipIf(!isNamespace)("a full disk is named, whatever it is for", async () => {
  using home = await syncedHome();
  const full = (folder: string): string =>
    `mount -t tmpfs -o size=8k none "$1/${folder}" && head -c 8000 /dev/zero > "$1/${folder}/filler"`;
  mkdirSync(join(home.path, "out"));
  const restored = await pondOn(home, full("out"), ["restore", ID, "--out", "out"]);
  expect(restored.code).toBe(2);
  expect(restored.stderr).toMatch(/the folder to restore into, .*out, is on a disk that is full\n.*--out/);
  const state = ".local/state/pond";
  rmSync(join(home.path, state), { recursive: true });
  mkdirSync(join(home.path, state));
  const synced = await pondOn(home, full(state), ["sync"]);
  expect(synced.code).not.toBe(0);
  expect(synced.stderr).toMatch(/beside the store, .*is on a disk that is full\n.*XDG_STATE_HOME/);
  expect(readdirSync(join(home.path, "out"))).toEqual([]);
});
