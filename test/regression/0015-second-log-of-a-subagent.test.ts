/**
 * A resume of a session in pi wrote the log of its subagent a second time where pi had that one in another folder
 * (spec.md#adapter-restore-once).
 */
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { restore, sync } from "../../src/handlers/index.ts";
import { carryOn, ORIGIN, writeOrigin } from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

test("a resumed session gets no second log of a subagent that its client has in another folder", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeOrigin(home);
  await sync(context, IMPORT);
  const { files, resume } = await restore(context, { session_id: ORIGIN, to: "pi" });
  const [log = "", agent = ""] = files.map(({ path }) => path);
  carryOn("pi", log, "And the platypus?");
  await sync(context, IMPORT);
  const moved = join(home, ".pi/agent/sessions/--srv-elsewhere--", basename(agent));
  mkdirSync(dirname(moved));
  renameSync(agent, moved);
  const opened = await restore(context, { session_id: resume.id, reuse: true });
  expect(opened).toMatchObject({ fidelity: "native", files: [{ path: log, kept: true }] });
  const names = readdirSync(join(home, ".pi/agent/sessions"), { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.endsWith(".jsonl")).map((name) => basename(name))).toHaveLength(2);
  // Where pi has it nowhere, it is written.
  renameSync(moved, join(home, "away.jsonl"));
  const completed = await restore(context, { session_id: resume.id, reuse: true });
  expect(completed.files.map(({ path, kept }) => [path, kept])).toEqual([
    [log, true],
    [agent, false],
  ]);
});
