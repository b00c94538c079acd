/** Codex compresses old rollouts in place: for sync nothing is new then, and verify finds the source again. */
import { cpSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { ROOT, TempHome } from "./pond.ts";

const FIXTURE = join(ROOT, "test/fixtures/adapters/codex-cli/home");

test("a rollout that its client compressed is stored once and still verifies", async () => {
  using home = new TempHome();
  const folder = join(home.path, ".codex/sessions/2026/11/16");
  cpSync(join(FIXTURE, "sessions/2026/11/16"), folder, { recursive: true });
  const paths = readdirSync(folder).map((name) => join(folder, name));
  for (const path of paths) utimesSync(path, 1, 1);
  expect(await home.pond(["sync"])).toMatchObject({ code: 0 });
  for (const path of paths) {
    writeFileSync(`${path}.zst`, zstdCompressSync(readFileSync(path)));
    rmSync(path);
  }
  const again = JSON.parse((await home.pond(["sync", "--json"])).stdout);
  const none = { inserted: 0 };
  expect(again).toMatchObject({
    clients: [
      { seen: paths.length, read: paths.length, stored: { sessions: none, messages: none, parts: none } },
    ],
  });
  const verified = await home.pond(["verify"]);
  expect(verified).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/codex-cli\t7\t0\t7\t\d+\t\d+\t0/),
  });
});
