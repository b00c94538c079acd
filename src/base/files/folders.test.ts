/** Folders are made with those above them, or refused at once. */
import { spawnSync } from "node:child_process";
import { existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { makeFolders } from "./folders.ts";

test("a folder is made with those above it, and what was made is told, outermost first", async () => {
  await using folder = await tempDir();
  const [a, b] = [join(folder.path, "a"), join(folder.path, "a/b")];
  expect(makeFolders(b)).toEqual([a, b]);
  expect(statSync(b).isDirectory()).toBe(true);
  expect([makeFolders(b), makeFolders(`${b}/`), makeFolders("/")]).toEqual([[], [], []]);
  symlinkSync(a, join(folder.path, "link"));
  expect(makeFolders(join(folder.path, "link/c"))).toEqual([join(folder.path, "link/c")]);
  expect(existsSync(join(a, "c"))).toBe(true);
});

test("a file in the way, or a link to nothing, is named", async () => {
  await using folder = await tempDir();
  const at = (name: string): string => join(folder.path, name);
  writeFileSync(at("file"), "");
  symlinkSync(at("file"), at("link"));
  symlinkSync(at("nothing"), at("lost"));
  for (const name of ["file", "link"])
    for (const path of [at(name), at(`${name}/below`), at(`${name}/far/below`)])
      expect(() => makeFolders(path)).toThrow(`${at(name)} is not a folder`);
  for (const path of [at("lost"), at("lost/below")])
    expect(() => makeFolders(path)).toThrow(
      `${at("lost")} is a link to ${at("nothing")}, which is not there`,
    );
});

test.skipIf(!existsSync("/proc/self"))("where no folder can be made this is said, not tried for ever", () => {
  const url = new URL("folders.ts", import.meta.url).href;
  const script = `import { makeFolders } from ${JSON.stringify(url)}; makeFolders(process.argv[1])`;
  for (const path of ["/proc/self/pond", "/proc/pond"]) {
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, path], {
      encoding: "utf8",
      timeout: 120_000,
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`no folder can be created in ${dirname(path)}`),
    ]);
  }
});
