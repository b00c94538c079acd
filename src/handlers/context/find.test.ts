/** What the beginning of an id names, of copies that pond restored and nobody carried on. */
import { expect, test } from "vitest";
import { story } from "../../../test/support/story.ts";
import type { TempContext } from "../../../test/support/temp-context.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import { sessionId } from "../../model/index.ts";
import { resolveRestorable, resolveTarget } from "../index.ts";

/** Two sessions, one with a subagent, and the ids of the copies that were restored of them. */
async function restoredAs(copies: Readonly<Record<string, string>>): Promise<TempContext> {
  const temp = await tempContext();
  for (const session of [
    story("root").user("hello"),
    story("root-agent", { parent: "root", relation: "spawn" }).user("look"),
    story("other").user("good day"),
  ])
    await temp.ingest(session.events());
  const store = await temp.context.store();
  await store.recordRestores(
    Object.entries(copies).map(([copy, from], at) => ({
      from: sessionId(from),
      session: sessionId(copy),
      adapter: "claude-code",
      reader: "me",
      path: `/copies/${at}.jsonl`,
      restored_at: at,
      messages: new Map(),
    })),
  );
  return temp;
}

test("a copy with subagents is named by the beginning of its id, which theirs begin with", async () => {
  await using temp = await restoredAs({
    "522149fd-0001": "root",
    "522149fd-0001/agent-x": "root-agent",
    "61a0-lost": "other",
  });
  for (const id of ["522149fd", "522149fd-0001"])
    expect(await resolveRestorable(temp.context, id)).toBe("522149fd-0001");
  const agent = "522149fd-0001/agent-x";
  for (const id of [agent, "522149fd-0001/"]) expect(await resolveRestorable(temp.context, id)).toBe(agent);
  await expect(resolveTarget(temp.context, "522149fd")).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("522149fd-0001 is session root, which pond restored"),
  });
});

test("also where their ids only begin the same", async () => {
  await using temp = await restoredAs({ ses_1a: "root", ses_1b: "root-agent" });
  expect(await resolveRestorable(temp.context, "ses_1")).toBe("ses_1a");
});

test("a beginning that two copies have names none of them, and that is said", async () => {
  await using temp = await restoredAs({ ses_1a: "root", ses_1b: "other" });
  for (const resolve of [resolveRestorable, resolveTarget])
    await expect(resolve(temp.context, "ses_1")).rejects.toMatchObject({
      code: "validation_failed",
      message: "2 sessions begin with ses_1",
      hint: "type more of it: ses_1a, ses_1b",
    });
  expect(await resolveRestorable(temp.context, "ses_1b")).toBe("ses_1b");
});

test("one that was restored twice is one", async () => {
  await using temp = await restoredAs({ ses_1a: "root" });
  const store = await temp.context.store();
  const [before] = await store.restoreRecords([sessionId("ses_1a")]);
  if (before === undefined) throw new Error("nothing is recorded");
  await store.recordRestores([{ ...before, restored_at: 9 }]);
  expect(await resolveRestorable(temp.context, "ses_")).toBe("ses_1a");
});
