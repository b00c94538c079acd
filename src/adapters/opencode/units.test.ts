import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import type { AdapterEnv, Place, Unit } from "../kit/sources/index.ts";
import { placesThatExist } from "../kit/sources/index.ts";
import { opencode } from "./index.ts";
import { stampOfMany } from "../kit/folder/stamp.ts";
import { isMisplaced, placeInTree } from "./layout.ts";
import { defaultPlaces } from "./places.ts";

const places = (on: AdapterEnv) => placesThatExist(defaultPlaces(on));

function put(root: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "{}");
  }
}

const machine = (home: string, env: AdapterEnv["env"] = {}): AdapterEnv => ({
  env,
  home,
  platform: "linux",
  scratch: join(home, "scratch"),
});

async function unitsOf(root: string, file?: string): Promise<readonly Unit[]> {
  const found: Unit[] = [];
  const place: Place = {
    path: root,
    origin: "request",
    ...(file === undefined ? {} : { files: [join(root, file)] }),
  };
  await using opened = await opencode.open(place, machine(root));
  for await (const batch of opened.units()) for (const item of batch) if ("key" in item) found.push(item);
  return found;
}

describe("places", () => {
  test("the data folder, where XDG_DATA_HOME says, and the database that OPENCODE_DB names", async () => {
    await using box = await tempDir();
    expect(await places(machine(box.path))).toEqual([]);
    put(box.path, ".local/share/opencode/opencode.db", "xdg/opencode/opencode.db", "else/where.sqlite");
    const data = join(box.path, ".local/share/opencode");
    expect(await places(machine(box.path))).toEqual([{ path: data, origin: "default" }]);
    const xdg = { XDG_DATA_HOME: join(box.path, "xdg") };
    expect(await places(machine(box.path, xdg))).toEqual([
      { path: join(box.path, "xdg/opencode"), origin: "environment", variable: "XDG_DATA_HOME" },
    ]);
    const named = (OPENCODE_DB: string) => places(machine(box.path, { OPENCODE_DB }));
    const elsewhere = join(box.path, "else/where.sqlite");
    expect(await named(elsewhere)).toEqual([
      { path: data, origin: "default" },
      { path: join(box.path, "else"), files: [elsewhere], origin: "environment", variable: "OPENCODE_DB" },
    ]);
    expect(defaultPlaces(machine(box.path, { OPENCODE_DB: "none.sqlite" }))).toHaveLength(2);
    expect(await named("none.sqlite")).toEqual([{ path: data, origin: "default" }]);
    put(data, "odd.sqlite");
    expect(await named("odd.sqlite")).toMatchObject([
      { path: data },
      { path: data, files: [join(data, "odd.sqlite")] },
    ]);
    // Found by its folder already, or not there, or no file at all.
    for (const path of ["opencode.db", "opencode-dev.db", ":memory:", ""])
      expect(await named(path)).toEqual([{ path: data, origin: "default" }]);
  });
});

describe("units", () => {
  test("databases with their logs, sessions of trees, exports; no secrets, no caches", async () => {
    await using box = await tempDir();
    put(
      box.path,
      "opencode.db",
      "opencode.db-wal",
      "opencode.db-shm",
      "opencode-dev.db",
      "other.db",
      "auth.json",
      "mcp-auth.json",
      "snapshot/opencode.db",
      "node_modules/x/session.json",
      "storage/session/p/ses_1.json",
      "storage/message/ses_1/msg_1.json",
      "storage/part/msg_1/prt_1.json",
      "storage/message/ses_2/msg_2.json",
      "storage/project/p.json",
      "storage/session_diff/ses_1.json",
      "storage/session_diff/ses_9.json",
      "storage/share/ses_1.json",
      "project/n/storage/session/info/ses_0.json",
      "ses_export.json",
      "tsconfig.json",
    );
    const found = await unitsOf(box.path);
    expect(found.map(({ key }) => key)).toEqual([
      "opencode-dev.db",
      "opencode.db",
      "project/n/storage/session/info/ses_0.json",
      "storage/session/p/ses_1.json",
      "storage/message/ses_2",
      "ses_export.json",
    ]);
    const files = (key: string) =>
      found.find((unit) => unit.key === key)?.files.map(({ path }) => path.slice(box.path.length + 1));
    expect(files("opencode.db")).toEqual(["opencode.db", "opencode.db-wal", "storage/session_diff"]);
    expect(files("storage/session/p/ses_1.json")).toEqual([
      "storage/session/p/ses_1.json",
      "storage/message/ses_1",
      "storage/part",
      "storage/project/p.json",
      "storage/session_diff/ses_1.json",
    ]);
    const named = found.flatMap((unit) => unit.files.map(({ path }) => path));
    expect(named.filter((path) => /auth|share\/|snapshot|-shm/.test(path))).toEqual([]);
  });

  test("a file that is pointed at is read whatever its name, and a storage folder as the tree it is", async () => {
    await using box = await tempDir();
    put(box.path, "my.sqlite", "my.sqlite-wal", "mine.json", "storage/session/p/ses_1.json");
    const named = async (file: string) =>
      (await unitsOf(box.path, file)).map(({ key, files }) => [key, files.length]);
    expect(await named("my.sqlite")).toEqual([["my.sqlite", 2]]);
    expect(await named("mine.json")).toEqual([["mine.json", 1]]);
    expect(await named("nothing.db")).toEqual([]);
    expect((await unitsOf(join(box.path, "storage"))).map(({ key }) => key)).toEqual([
      "session/p/ses_1.json",
    ]);
    expect(await unitsOf(join(box.path, "nothing"))).toEqual([]);
  });

  test("any change of any file of a session changes its stamps", () => {
    const stamp = { path: "/a", size: 1, mtime: 2, inode: 3, device: 4 };
    const other = { ...stamp, path: "/b" };
    const both = stampOfMany("/", [stamp, other]);
    expect(stampOfMany("/", [other, stamp])).toEqual(both);
    for (const changed of [{ size: 9 }, { mtime: 9 }, { inode: 9 }, { path: "/c" }])
      expect(stampOfMany("/", [{ ...stamp, ...changed }, other]).inode).not.toBe(both.inode);
    expect(Number.isSafeInteger(both.inode)).toBe(true);
  });
});

test.each([
  ["storage/session/p/s.json", "info"],
  ["a/storage_v2/message/s/m.json", "message"],
  ["storage/part/m/p.json", "part"],
  ["storage/session_diff/s.json", "side"],
  ["project/n/storage/session/part/s/m/p.json", "part"],
  ["elsewhere/session/p/s.json", undefined],
])("%s is told by its path", (key, kind) => {
  expect(placeInTree(key)?.file.kind).toBe(kind);
  expect(isMisplaced(key)).toBe(false);
});
