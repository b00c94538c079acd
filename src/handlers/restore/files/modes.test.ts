import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import { modesFor } from "./modes.ts";

const PRIVATE = { file: 0o600, folder: 0o700 };
const READABLE = { file: 0o644, folder: 0o755 };

function put(path: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  chmodSync(path, mode);
}

describe.skipIf(process.platform === "win32")("what a restore makes", () => {
  test("is private where nothing is there, and in a folder that is not the client's", async () => {
    await using dir = await tempDir();
    const out = join(dir.path, "out");
    expect(modesFor(join(out, "p/a.jsonl"), { out, isClients: true })).toEqual(PRIVATE);
    mkdirSync(out);
    chmodSync(out, 0o755);
    expect(modesFor(join(out, "p/a.jsonl"), { out, isClients: false })).toEqual(PRIVATE);
    put(join(out, "notes.txt"), 0o644);
    expect(modesFor(join(out, "a.jsonl"), { out, isClients: false })).toEqual(PRIVATE);
  });

  test("is in folders as the nearest one of the client, private itself, and never writable by everybody", async () => {
    await using dir = await tempDir();
    const out = dir.path;
    chmodSync(out, 0o755);
    const target = join(out, "p/q/a.jsonl");
    expect(modesFor(target, { out, isClients: true })).toEqual({ file: 0o600, folder: 0o755 });
    mkdirSync(join(out, "p"));
    chmodSync(join(out, "p"), 0o700);
    expect(modesFor(target, { out, isClients: true })).toEqual(PRIVATE);
    chmodSync(join(out, "p"), 0o777);
    expect(modesFor(target, { out, isClients: true })).toEqual({ file: 0o600, folder: 0o775 });
  });

  test("is as the strictest file of its kind beside it", async () => {
    await using dir = await tempDir();
    const out = dir.path;
    const target = join(out, "p/a.jsonl");
    put(join(out, "p/b.jsonl"), 0o644);
    put(join(out, "p/c.txt"), 0o600);
    chmodSync(join(out, "p"), 0o755);
    expect(modesFor(target, { out, isClients: false })).toEqual(READABLE);
    put(join(out, "p/d.jsonl"), 0o600);
    expect(modesFor(target, { out, isClients: false })).toEqual({ file: 0o600, folder: 0o755 });
  });
});
