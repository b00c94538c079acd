/** What pond makes is for its user alone, and a store of before is made so. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";

function homeWithSession(): TempHome {
  const home = new TempHome();
  const path = join(home.path, `.claude/projects/-srv-app/${ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const record = {
    type: "user",
    uuid: "u1",
    sessionId: ID,
    cwd: "/srv/app",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: "one" },
  };
  writeFileSync(path, `${JSON.stringify(record)}\n`);
  utimesSync(path, 1, 1);
  return home;
}

/** Everything in a home that others may read, write or enter. */
function openTo(home: TempHome, names: (path: string) => boolean): readonly string[] {
  return readdirSync(home.path, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => names(path) && (lstatSync(path).mode & 0o077) !== 0);
}

const isNotTheClients = (path: string): boolean => !/\/\.claude(?:\/|$)/.test(path);

test.skipIf(process.platform === "win32")("what sync and restore make is private", async () => {
  using home = homeWithSession();
  expect(await home.pond(["sync"])).toMatchObject({ code: 0 });
  expect(await home.pond(["restore", ID, "--out", join(home.path, "out")])).toMatchObject({ code: 0 });
  const made = readdirSync(home.path).filter((name) => name !== ".claude");
  expect(made.length).toBeGreaterThan(1);
  expect(openTo(home, isNotTheClients)).toEqual([]);
});

test.skipIf(process.platform === "win32")("so is the folder of compiled code", async () => {
  using home = homeWithSession();
  await home.pond(["--version"], { env: { NODE_COMPILE_CACHE: "" } });
  expect(lstatSync(join(home.path, ".cache/pond")).mode & 0o777).toBe(0o700);
});

test.skipIf(process.platform === "win32")(
  "a store that others could read is taken from them, and told",
  async () => {
    using home = homeWithSession();
    await home.pond(["sync"]);
    const [table] = readdirSync(home.path, { recursive: true, withFileTypes: true }).filter(
      ({ name }) => name === "sessions.lance",
    );
    const folder = table!.parentPath;
    chmodSync(folder, 0o755);
    const first = await home.pond(["sessions"]);
    expect(first.stderr).toContain("it is private now");
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect((await home.pond(["sessions"])).stderr).not.toContain("private");
  },
);

test.skipIf(process.platform === "win32")(
  "so is the store's own folder, unless there is more in it than the store",
  async () => {
    using home = homeWithSession();
    const store = join(home.path, "store");
    mkdirSync(store);
    await home.pond(["sync", "--store", store]);
    chmodSync(store, 0o755);
    writeFileSync(join(store, "notes.txt"), "");
    expect((await home.pond(["sessions", "--store", store])).stderr).not.toContain("private");
    expect(lstatSync(store).mode & 0o777).toBe(0o755);
    rmSync(join(store, "notes.txt"));
    const told = await home.pond(["sessions", "--store", store]);
    expect(told.stderr).toContain(`${store} was readable by other users of this machine; it is private now`);
    expect(lstatSync(store).mode & 0o777).toBe(0o700);
  },
);

test.skipIf(process.platform === "win32")(
  "so is what pond keeps beside it, whatever the modes of what is in it",
  async () => {
    using home = homeWithSession();
    await home.pond(["sync"]);
    const folder = join(home.path, ".local/state/pond");
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "reader"), 0o644);
    const first = await home.pond(["sync"]);
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        `${folder} was readable by other users of this machine; it is private now`,
      ),
    });
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect((await home.pond(["sync"])).stderr).not.toContain("private");
  },
);

test.skipIf(process.platform === "win32").each([
  ["private", 0o700, 0o600],
  ["private in folders for everybody, as Claude Code makes it", 0o755, 0o600],
  ["for everybody to read", 0o755, 0o644],
])("a restore into the client's own place makes what is %s there the same way", async (_, folders, files) => {
  using home = homeWithSession();
  await home.pond(["sync"]);
  const place = join(home.path, ".claude/projects");
  const [log, other] = [`-srv-app/${ID}.jsonl`, "-srv-app/other.jsonl"].map((name) => join(place, name));
  rmSync(join(place, "-srv-app"), { recursive: true });
  mkdirSync(dirname(other!));
  writeFileSync(other!, "");
  chmodSync(other!, files);
  for (const folder of [place, dirname(other!)]) chmodSync(folder, folders);
  expect(await home.pond(["restore", ID])).toMatchObject({ code: 0 });
  expect(lstatSync(log!).mode & 0o777).toBe(files);
  rmSync(join(place, "-srv-app"), { recursive: true });
  expect(await home.pond(["restore", ID])).toMatchObject({ code: 0 });
  expect(lstatSync(dirname(log!)).mode & 0o777).toBe(folders);
  // With nothing beside it: private.
  expect(lstatSync(log!).mode & 0o777).toBe(0o600);
});
