import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { advise } from "./advise.ts";

test.each([
  [undefined, /after 30 days, its default: there is no \S*settings\.json$/, false],
  ["{}", /after 30 days, its default: \S*settings\.json sets no cleanupPeriodDays$/, false],
  ['{"cleanupPeriodDays": 7}', /after 7 days \(cleanupPeriodDays in \S*settings\.json\)$/, false],
  ['{"cleanupPeriodDays": 1}', /after 1 day /, true],
  ["{broken", /after 30 days, its default: \S*settings\.json is not a JSON object$/, false],
  ['{"cleanupPeriodDays": 36500}', undefined, false],
] as const)("settings %j", async (settings, message, isUrgent) => {
  await using home = await tempDir();
  await mkdir(join(home.path, ".claude/projects"), { recursive: true });
  if (settings !== undefined) await writeFile(join(home.path, ".claude/settings.json"), settings);
  const machine = { env: {}, home: home.path, platform: "linux" as const, scratch: home.path };
  const advice = await advise(machine);
  if (message === undefined) expect(advice).toEqual([]);
  else
    expect(advice).toEqual([
      {
        message: expect.stringMatching(message),
        fix: expect.stringContaining("cleanupPeriodDays"),
        isUrgent,
      },
    ]);
});
