import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { advise } from "./advise.ts";

test.each([
  [undefined, /after 30 days/],
  ['{"cleanupPeriodDays": 7}', /after 7 days/],
  ["{broken", /after 30 days/],
  ['{"cleanupPeriodDays": 36500}', undefined],
])("settings %j", async (settings, message) => {
  await using home = await tempDir();
  await mkdir(join(home.path, ".claude/projects"), { recursive: true });
  if (settings !== undefined) await writeFile(join(home.path, ".claude/settings.json"), settings);
  const machine = { env: {}, home: home.path, platform: "linux" as const, scratch: home.path };
  const advice = await advise(machine);
  if (message === undefined) expect(advice).toEqual([]);
  else
    expect(advice).toEqual([
      { message: expect.stringMatching(message), fix: expect.stringContaining("cleanupPeriodDays") },
    ]);
});
