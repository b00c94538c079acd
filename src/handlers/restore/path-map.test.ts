/** Recorded folders rewritten for another machine. */
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { pathMap } from "./path-map.ts";

const mapped = (rule: string, path: string): string => pathMap([rule], "/home/me").map(path);

describe("--map-path", () => {
  test("takes the longest prefix that ends at a separator, and tells what nothing needed", () => {
    const { map, unused } = pathMap(["/a=/x", "/a/b/=/y/", "/c=/z"], "/home/me");
    expect(["/a", "/a/b", "/a/b/c", "/ab", "/q"].map(map)).toEqual(["/x", "/y", "/y/c", "/ab", "/q"]);
    expect(unused()).toEqual(["/c=/z"]);
  });

  test("the root of a disk is a folder like any other", () => {
    expect(["/", "/a/b"].map((path) => mapped("/=/mnt/old", path))).toEqual(["/mnt/old", "/mnt/old/a/b"]);
    expect(["/mnt/old", "/mnt/old/a"].map((path) => mapped("/mnt/old//=/", path))).toEqual(["/", "/a"]);
    expect(mapped("C:\\=/mnt/c", "C:\\a")).toBe("/mnt/c/a");
  });

  test("the new folder may be below the home or the working folder", () => {
    expect(mapped("/a=~/app", "/a/b")).toBe("/home/me/app/b");
    expect(mapped("/a=~", "/a/b")).toBe("/home/me/b");
    expect(mapped("/a=app", "/a/b")).toBe(resolve("app/b"));
  });

  test("between systems the rest of the path changes its separators", () => {
    expect(mapped("D:\\app=/srv/app", "D:\\app\\web\\ui")).toBe("/srv/app/web/ui");
    expect(mapped("/srv/app=D:\\app", "/srv/app/web/ui")).toBe("D:\\app\\web\\ui");
    expect(mapped("D:\\app=E:\\app", "D:\\app\\a/b")).toBe("E:\\app\\a/b");
    expect(mapped("/srv=/home", "/srv/a\\b")).toBe("/home/a\\b");
  });

  test.each(["nonsense", "=/x", "/x=", ""])("%j is refused", (rule) => {
    expect(() => pathMap([rule], "/home/me")).toThrow("is not old=new");
  });
});
