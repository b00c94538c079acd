/** What a program without types is told about the sessions that it makes, and where they go. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../test/support/temp-dir.ts";
import { createMessage, createSession, eventsOf, textPart, toolCall, toolResult } from "./model.ts";
import { openPond } from "./open.ts";

const at = "2026-01-02T03:04:05Z";
const given = { id: "s1", source_agent: "my-agent", project: "/shop", created_at: at } as const;
const session = createSession(given);

describe("createMessage", () => {
  const message = { id: "m", seq: 0, timestamp: at } as const;

  test("takes the session as createSession takes it, and gives the same", () => {
    const parts = [textPart("Why?")];
    expect(createMessage(given, { ...message, role: "user" }, parts)).toEqual(
      createMessage(session, { ...message, role: "user" }, parts),
    );
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      "another session",
      () => createMessage({ id: "s1" } as never, { ...message, role: "user" }),
      /^session s1: source_agent is required/,
    ],
    [
      "a field that is not one",
      () =>
        createMessage(session, { ...message, role: "tool" }, [
          toolResult({ result: "x", is_error: true } as never),
        ]),
      /is_error is no field of it; there are .*is_failure/,
    ],
    [
      "a slip in a name",
      () => createSession({ ...given, projekt: "/shop" } as never),
      /projekt is no field of it; did you mean project\?/,
    ],
    [
      "a text that is undefined",
      () => createMessage(session, { ...message, role: "user" }, [textPart(undefined as never)]),
      /text is undefined: give it a value, or leave the key out/,
    ],
    [
      "a part that is a text",
      () => createMessage(session, { ...message, role: "user" }, ["hello" as never]),
      /part 0 must be one of textPart\(text\), .* not "hello"/,
    ],
    [
      "a part in another role",
      () => createMessage(session, { ...message, role: "user" }, [toolCall({})]),
      /not allowed in a user message \(m\); its role may be assistant$/,
    ],
    [
      "a system message with its text in a part",
      () => createMessage(session, { ...message, role: "system" }, [textPart("Be brief")]),
      /content is required: the text of a system message is there/,
    ],
  ])("says what is wrong with %s", (_, make, message_) => {
    expect(make).toThrow(
      expect.objectContaining({ code: "validation_failed", message: expect.stringMatching(message_) }),
    );
  });
});

test("a session of a program is restored where it is told, and names no client of its own", async () => {
  await using home = await tempDir();
  const folders = { store: join(home.path, "store"), state: join(home.path, "state") };
  await using pond = await openPond({ ...folders, home: home.path, env: {} });
  const messages = [
    createMessage(session, { id: "m0", seq: 0, role: "user", timestamp: at }, [textPart("Why?")]),
    createMessage(session, { id: "m1", seq: 1, role: "assistant", timestamp: at }, [textPart("So.")]),
  ];
  await pond.ingest({ events: [...eventsOf({ session, messages })] });
  const out = join(home.path, "out");
  await expect(pond.restore({ session_id: "s1", out })).rejects.toMatchObject({
    code: "validation_failed",
    message: "session s1 is of my-agent, which is not a client that pond knows",
    hint: "say into which client it goes, with restore (session_id: s1, to: <client>): claude-code, codex-cli, opencode, pi",
    data: { field: "to" },
  });
  await expect(pond.restore({ session_id: "s1", to: "qwen-code", out })).rejects.toMatchObject({
    reason: "unsupported",
    hint: expect.stringContaining("sessions of any client go into claude-code, codex-cli, opencode, pi"),
  });
  const { tokens } = await pond.restore({ session_id: "s1", to: "pi", out });
  expect(tokens).not.toHaveProperty("origin");
});

test("the clients say which sessions they take", async () => {
  await using home = await tempDir();
  const folders = { store: join(home.path, "store"), state: join(home.path, "state") };
  await using pond = await openPond({ ...folders, home: home.path, env: {} });
  const restores = (await pond.adapters()).map(({ adapter, restore }) => [adapter, restore]);
  expect(Object.fromEntries(restores)).toMatchObject({ pi: "supported", "qwen-code": "own-sessions" });
});
