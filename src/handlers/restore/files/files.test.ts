import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { RestoredFile } from "../../../adapters/restore.ts";
import { startOf } from "../../../base/files/process-life.ts";
import type { WrittenFile } from "../../../wire/restore.ts";
import { writeFiles } from "./files.ts";
import { makeStaging } from "./staging.ts";

const ROOT: RestoredFile = { kind: "jsonl", path: "p/main.jsonl", records: [{ a: 1, b: 2 }] };
const CHILD: RestoredFile = { kind: "jsonl", path: "p/main/child.jsonl", records: [{ c: 3 }] };
const SIDE: RestoredFile = { kind: "bytes", path: "p/main/side.txt", data: Buffer.from("side") };
const FILES = [ROOT, CHILD, SIDE];

async function write(
  out: string,
  check: (staged: string) => void = () => undefined,
  files = FILES,
): Promise<readonly WrittenFile[]> {
  const written = await writeFiles({
    out,
    files,
    last: ROOT.path,
    check: (staged) => Promise.resolve(check(staged)),
    signal: new AbortController().signal,
  });
  return written.files;
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .toSorted();
}

const ALL = FILES.map(({ path }) => path).toSorted();

function put(out: string, path: string, text: string): void {
  mkdirSync(join(out, path, ".."), { recursive: true });
  writeFileSync(join(out, path), text);
}

/** Everything below a folder, folders included. */
const entriesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted();

/** What happens right before a file gets its place. */
function beforeLink(
  happens: (target: string) => void = () => undefined,
): Disposable & { readonly targets: readonly string[] } {
  const { link } = fsPromises;
  const targets: string[] = [];
  const spy = vi.spyOn(fsPromises, "link").mockImplementation(async (staged, path) => {
    const target = String(path);
    targets.push(target);
    happens(target);
    await link(staged, path);
  });
  syncBuiltinESMExports();
  return {
    targets,
    [Symbol.dispose]: () => {
      spy.mockRestore();
      syncBuiltinESMExports();
    },
  };
}

describe("files of a restore", () => {
  test("have the times that they are given, and the time of the restore without one", async () => {
    await using dir = await tempDir();
    const started = Date.now() - 1000;
    await writeFiles({
      out: dir.path,
      files: FILES,
      times: new Map([[ROOT.path, Date.UTC(2026, 0, 2, 3, 4, 5, 678)]]),
      last: ROOT.path,
      check: () => Promise.resolve(),
      signal: new AbortController().signal,
    });
    expect(statSync(join(dir.path, ROOT.path)).mtime.toISOString()).toBe("2026-01-02T03:04:05.678Z");
    expect(statSync(join(dir.path, CHILD.path)).mtimeMs).toBeGreaterThan(started);
  });

  test("are staged in a private folder inside the target, whole, and nothing of it stays", async () => {
    await using dir = await tempDir();
    const out = join(dir.path, "new", "place");
    const written = await write(out, (staged) => {
      expect(staged.startsWith(join(out, ".pond-restore-"))).toBe(true);
      expect(statSync(staged).mode & 0o777).toBe(0o700);
      expect(filesIn(staged)).toEqual(ALL);
      expect(filesIn(out).filter((path) => !path.startsWith(".pond-restore-"))).toEqual([]);
    });
    expect(written.map(({ kept }) => kept)).toEqual([false, false, false]);
    expect(filesIn(out)).toEqual(ALL);
    expect(readFileSync(join(out, ROOT.path), "utf8")).toBe('{"a":1,"b":2}\n');
  });

  test("that are there and equal, by bytes or by value, are kept; only all of them are refused", async () => {
    await using dir = await tempDir();
    put(dir.path, ROOT.path, '{ "b": 2.0, "a": 1 }\n');
    put(dir.path, SIDE.path, "side");
    expect((await write(dir.path)).map(({ kept }) => kept)).toEqual([true, false, true]);
    expect(readFileSync(join(dir.path, ROOT.path), "utf8")).toBe('{ "b": 2.0, "a": 1 }\n');
    await expect(write(dir.path)).rejects.toMatchObject({ reason: "exists" });
    expect(filesIn(dir.path)).toEqual(ALL);
  });

  test.each([
    ["another value", '{"a":1,"b":3}\n'],
    ["one record more", '{"a":1,"b":2}\n{}\n'],
    ["a line that is being written", '{"a":1,"b":2}\n{"c'],
    ["nothing", ""],
  ])("with %s in the way are refused before anything is moved", async (_, text) => {
    await using dir = await tempDir();
    put(dir.path, ROOT.path, text);
    await expect(write(dir.path)).rejects.toMatchObject({ code: "validation_failed", reason: "exists" });
    expect(filesIn(dir.path)).toEqual([ROOT.path]);
    expect(readFileSync(join(dir.path, ROOT.path), "utf8")).toBe(text);
  });

  test("with a folder or a link that leads nowhere in the way are refused", async () => {
    await using dir = await tempDir();
    mkdirSync(join(dir.path, ROOT.path), { recursive: true });
    await expect(write(dir.path)).rejects.toMatchObject({ reason: "exists" });
    rmSync(join(dir.path, ROOT.path), { recursive: true });
    symlinkSync(join(dir.path, "nowhere"), join(dir.path, ROOT.path));
    await expect(write(dir.path)).rejects.toMatchObject({ reason: "exists" });
    expect(filesIn(dir.path)).toEqual([ROOT.path]);
  });

  test("that do not pass the check are not moved", async () => {
    await using dir = await tempDir();
    const failing = write(join(dir.path, "out"), () => {
      throw new Error("not equal");
    });
    await expect(failing).rejects.toThrow("not equal");
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("undo what they moved, and nothing else, when somebody's file comes between", async () => {
    await using dir = await tempDir();
    const racing = write(dir.path, () => put(dir.path, ROOT.path, "of somebody else\n"));
    await expect(racing).rejects.toMatchObject({ reason: "exists" });
    expect(filesIn(dir.path)).toEqual([ROOT.path]);
    expect(readFileSync(join(dir.path, ROOT.path), "utf8")).toBe("of somebody else\n");
  });

  test("are read back before they are called written: a disk that changed a byte is noticed", async () => {
    await using dir = await tempDir();
    const changed: string[] = [];
    const handle = await fsPromises.open(dir.path);
    const spy = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, "writeFile");
    await handle.close();
    onTestFinished(() => {
      spy.mockRestore();
    });
    spy.mockImplementation(async function (this: typeof handle, content) {
      const text = Buffer.from(content as Buffer).toString();
      if (text.includes('"c":3')) changed.push(text);
      await this.write(text.replace('"c":3', '"c":4'));
    });
    await expect(write(join(dir.path, "out"))).rejects.toMatchObject({ code: "internal", reason: "corrupt" });
    expect(changed).toHaveLength(1);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("undo the folders that they made with the files, but nothing that somebody else put or wrote there", async () => {
    await using dir = await tempDir();
    const inTheWay = (): void => put(dir.path, ROOT.path, "of somebody else\n");
    await expect(write(dir.path, inTheWay)).rejects.toMatchObject({ reason: "exists" });
    expect(entriesIn(dir.path)).toEqual(["p", ROOT.path]);
    rmSync(join(dir.path, ROOT.path));
    using _ = beforeLink((target) => {
      if (!target.endsWith(ROOT.path)) return;
      put(dir.path, "p/main/theirs.txt", "theirs");
      appendFileSync(join(dir.path, CHILD.path), '{"d":4}\n');
    });
    await expect(write(dir.path, inTheWay)).rejects.toMatchObject({ reason: "exists" });
    expect(filesIn(dir.path)).toEqual([ROOT.path, CHILD.path, "p/main/theirs.txt"].toSorted());
    expect(readFileSync(join(dir.path, CHILD.path), "utf8")).toBe('{"c":3}\n{"d":4}\n');
  });

  test("accept an equal file that another restore put there meanwhile", async () => {
    await using dir = await tempDir();
    await write(dir.path, () => put(dir.path, CHILD.path, '{"c":3}\n'));
    expect(filesIn(dir.path)).toEqual(ALL);
  });

  test("two of one name, or outside of the folder, are refused", async () => {
    await using dir = await tempDir();
    await expect(write(dir.path, undefined, [ROOT, ROOT])).rejects.toMatchObject({ reason: "corrupt" });
    const out = join(dir.path, "out");
    for (const path of ["../x", "p/../../x", "../out-beside/x", "..", ".", "", "p/.."])
      await expect(write(out, undefined, [{ ...ROOT, path }])).rejects.toMatchObject({ reason: "corrupt" });
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("with an absolute name are written below the folder", async () => {
    await using dir = await tempDir();
    await write(dir.path, undefined, [{ ...ROOT, path: "/etc/main.jsonl" }]);
    expect(filesIn(dir.path)).toEqual(["etc/main.jsonl"]);
  });

  test.skipIf(process.getuid?.() === 0)("leave nothing where a folder cannot be written to", async () => {
    await using dir = await tempDir();
    mkdirSync(join(dir.path, "p"));
    chmodSync(join(dir.path, "p"), 0o555);
    await expect(write(dir.path)).rejects.toMatchObject({ code: "EACCES" });
    expect(filesIn(dir.path)).toEqual([]);
    chmodSync(join(dir.path, "p"), 0o755);
  });

  test("leave nothing where a file stands for a folder", async () => {
    await using dir = await tempDir();
    put(dir.path, "p", "a file");
    await expect(write(dir.path)).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(filesIn(dir.path)).toEqual(["p"]);
  });

  test("leave nothing where no folder can be made", async () => {
    await expect(write("/proc/pond")).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  test.each([
    ["a folder of its own", "folder"],
    ["nothing", "nowhere"],
  ])("do not go through a linked folder inside the target, to %s", async (_, leadsTo) => {
    await using dir = await tempDir();
    const out = join(dir.path, "out");
    mkdirSync(join(out, "p"), { recursive: true });
    mkdirSync(join(dir.path, "folder"));
    const link = join(out, "p/main");
    symlinkSync(join(dir.path, leadsTo), link);
    await expect(write(out)).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining(link),
      hint: expect.stringContaining("nothing was written"),
      data: { link },
    });
    expect(filesIn(dir.path)).toEqual(["out/p/main"]);
  });

  test("do not touch what is behind such a link: neither leftovers nor files that are equal", async () => {
    await using dir = await tempDir();
    const [out, behind] = [join(dir.path, "out"), join(dir.path, "behind")];
    mkdirSync(out);
    const { path } = makeStaging(dir.path);
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const leftover = join(behind, path.slice(dir.path.length + 1).replace(`-${process.pid}-`, `-${dead}-`));
    put(leftover, "half", "{");
    put(behind, "main.jsonl", '{"a":1,"b":2}\n');
    symlinkSync(behind, join(out, "p"));
    await expect(write(out)).rejects.toMatchObject({ data: { link: join(out, "p") } });
    expect(filesIn(behind)).toHaveLength(2);
  });

  test("take back what they moved where somebody puts a link there meanwhile", async () => {
    await using dir = await tempDir();
    const [out, behind] = [join(dir.path, "out"), join(dir.path, "behind")];
    mkdirSync(behind);
    mkdirSync(out);
    using links = beforeLink();
    const racing = write(out, () => symlinkSync(behind, join(out, "p")));
    await expect(racing).rejects.toMatchObject({ data: { link: join(out, "p") } });
    expect(readdirSync(behind)).toEqual([]);
    expect(readdirSync(out)).toEqual(["p"]);
    expect(links.targets).toEqual([]);
  });

  test("take back what they moved where a folder becomes a link at the very moment", async () => {
    await using dir = await tempDir();
    const [out, behind] = [join(dir.path, "out"), join(dir.path, "behind")];
    mkdirSync(behind);
    using _ = beforeLink((target) => {
      if (!target.endsWith(CHILD.path)) return;
      renameSync(join(out, "p/main"), join(dir.path, "moved"));
      symlinkSync(behind, join(out, "p/main"));
    });
    await expect(write(out)).rejects.toMatchObject({ data: { link: join(out, "p/main") } });
    expect(readdirSync(behind)).toEqual([]);
    expect(filesIn(out)).toEqual(["p/main"]);
  });

  test("go where the target leads that the person named, a link or below one", async () => {
    await using dir = await tempDir();
    mkdirSync(join(dir.path, "place"));
    symlinkSync(join(dir.path, "place"), join(dir.path, "link"));
    await write(join(dir.path, "link"));
    expect(filesIn(join(dir.path, "place"))).toEqual(ALL);
    await write(join(dir.path, "link", "deeper"));
    expect(filesIn(join(dir.path, "place/deeper"))).toEqual(ALL);
  });
});

describe("the staging folder", () => {
  test("of a dead process is removed by the next restore, one of a living process stays", async () => {
    await using dir = await tempDir();
    const own = makeStaging(dir.path);
    const { pid, ppid } = process;
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const named = (owner: number, started: string): string =>
      own.path.replace(`-${pid}-${startOf(pid) ?? ""}-`, `-${owner}-${started}-`);
    const alive = named(ppid, startOf(ppid) ?? "");
    // The pid of the third went to another process.
    for (const path of [named(dead, "1"), alive, named(ppid, "1")]) {
      mkdirSync(path);
      writeFileSync(join(path, "half"), "{");
    }
    await write(dir.path);
    const left = readdirSync(dir.path).filter((name) => name.startsWith("."));
    expect(left.map((name) => join(dir.path, name)).toSorted()).toEqual([own.path, alive].toSorted());
    await own[Symbol.asyncDispose]();
  });
});
