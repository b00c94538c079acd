/**
 * A file beside a log that was only renamed kept size, time and inode, and sync took its session for unchanged; a file in
 * the place of opencode's folder of diffs ended verify.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sync, verify } from "../../src/handlers/index.ts";
import { copyFixture } from "../support/aged-files.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

test("a folder beside a log that was renamed is stored by its new name", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const place = join(home, ".claude/projects");
  copyFixture("claude-code/projects", place);
  await sync(context, IMPORT);
  const folder = join(place, "C--dev-demo-v2/11111111-1111-4111-8111-111111111111/tool-results");
  renameSync(folder, `${folder}.old`);
  const { clients } = await sync(context, IMPORT);
  expect(clients[0]).toMatchObject({ stale: 1, stored: { messages: { inserted: 1 } } });
  expect((await verify(context, {})).clients).toMatchObject([{ proven: true, recorded: expect.any(Number) }]);
});

test("a file where opencode's folder of diffs would be is no reason to stop", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  const place = join(home, ".local/share/opencode");
  copyFixture("opencode/data", place);
  await sync(context, IMPORT);
  const storage = join(place, "storage");
  renameSync(storage, join(home, "away"));
  writeFileSync(storage, "x");
  await sync(context, IMPORT);
  expect((await verify(context, {})).clients).toMatchObject([
    { adapter: "opencode", unequal: 0, unstored: 0 },
  ]);
});
