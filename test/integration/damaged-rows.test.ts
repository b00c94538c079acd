/** A stored row that cannot be read: named by verify, refused by restore, in nobody else's way (spec.md#live-staged-tree). */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { get, restore, sync, verify } from "../../src/handlers/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { PARTS, SESSIONS } from "../../src/sessions/index.ts";
import { tempContext } from "../support/temp-context.ts";

const PLACE = join(
  import.meta.dirname,
  "../fixtures/adapters/claude-code/projects/-tmp-pond-fixture-demo-app",
);
const SOURCE = { adapters: ["claude-code"], paths: [PLACE] };
const SESSION = "42a619cc-bb76-46e4-81e9-08563bb4c708";
const CHILD = `${SESSION}/agent-afbdf13c1efd361ed`;

test("a part is a located difference of its session, and the others verify equal", async () => {
  await using at = await tempContext();
  await sync(at.context, SOURCE);
  const [before] = (await verify(at.context, SOURCE)).clients;
  expect(before).toMatchObject({ unequal: 0, differences: [] });
  const message = await addTornPart(at.context, CHILD);
  const [after] = (await verify(at.context, SOURCE)).clients;
  expect(after).toMatchObject({
    sessions: before?.sessions,
    unequal: 1,
    differences: [expect.stringContaining(`session ${CHILD}, message ${message}, part torn cannot be read`)],
  });
  expect(after?.equal).toBe(after?.records);
  expect(after?.records).toBeGreaterThan(0);
});

test("a part of a descendant refuses the whole restore, and no file is written", async () => {
  await using at = await tempContext();
  await sync(at.context, SOURCE);
  await addTornPart(at.context, CHILD);
  const out = join(at.home, "out");
  await expect(restore(at.context, { session_id: SESSION, out })).rejects.toMatchObject({
    reason: "corrupt",
    message: expect.stringContaining(`session ${CHILD}`),
  });
  await expect(readdir(out)).rejects.toThrow("ENOENT");
});

test("get shows everything else of the session, and names the part", async () => {
  await using at = await tempContext();
  await sync(at.context, SOURCE);
  const whole = await get(at.context, { session_id: CHILD, response_mode: "verbatim" });
  const message_id = await addTornPart(at.context, CHILD);
  const issues = [
    { session_id: CHILD, message_id, part_id: "torn", kind: "unreadable", message: expect.any(String) },
  ];
  const holed = await get(at.context, { session_id: CHILD, response_mode: "verbatim" });
  expect({ ...holed, messages: [] }).toEqual({ ...whole, messages: [], issues });
  expect(JSON.stringify(holed)).toContain(JSON.stringify(message_id));
  // Nobody asks for the body of a text part in a conversation.
  expect(await get(at.context, { session_id: CHILD })).not.toHaveProperty("issues");
  const one = await get(at.context, { session_id: CHILD, message_id });
  expect(one).toMatchObject({ scope: "message", target: { id: message_id }, issues });
});

test("a session row is named too, and does not stop the proof of the others", async () => {
  await using at = await tempContext();
  await sync(at.context, SOURCE);
  const { sessions } = (await at.context.store()).tables;
  const rows = await sessions.scan({ select: ["id", "project", "created_at"], limit: 1 });
  await sessions.insertRows([
    {
      ...Object.fromEntries(Object.keys(SESSIONS.columns).map((name) => [name, null])),
      id: "torn",
      source_agent: "claude-code",
      project: rows.string("project", 0),
      created_at: rows.timestamp("created_at", 0),
      ingested_at: rows.timestamp("created_at", 0),
      options: "{",
    },
  ]);
  const [proof] = (await verify(at.context, SOURCE)).clients;
  expect(proof).toMatchObject({
    unequal: 1,
    differences: [expect.stringContaining("session torn cannot be read")],
  });
  expect(proof?.equal).toBeGreaterThan(0);
});

/** A part whose row holds half a JSON text, behind the last one of a message; gives the message's id. */
async function addTornPart(context: Context, session: string): Promise<string> {
  const { parts } = (await context.store()).tables;
  const all = await parts.scan({ select: ["session_id", "message_id"] });
  const row = Array.from({ length: all.length }, (_, at) => at).find(
    (at) => all.string("session_id", at) === session,
  );
  const message_id = all.string("message_id", row!);
  await parts.insertRows([
    {
      ...Object.fromEntries(Object.keys(PARTS.columns).map((name) => [name, null])),
      session_id: session,
      message_id,
      id: "torn",
      ordinal: 99,
      type: "text",
      provenance: "conversational",
      variant_data: '{"text": "half of',
      options: "{}",
    },
  ]);
  return message_id;
}
