/**
 * A restore into Claude Code wrote a failed result for a call that was never answered, and a prompt where a session begins with
 * an answer, and its report said nothing of either: the model took both for what had happened.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPond } from "../../src/index.ts";
import { createMessage, createSession, eventsOf, textPart, toolCall } from "../../src/library/model.ts";
import { tempDir } from "../support/temp-dir.ts";

const at = "2026-01-02T03:04:05Z";

/** What each client is given that was not in the session. Codex and pi answer an open call themselves, when they send it. */
const ADDED = [
  { to: "claude-code", call: "No result was recorded.", prompt: "(restored session)" },
  { to: "opencode", call: "[Tool execution was interrupted]", prompt: "(restored session)" },
  { to: "pi", prompt: "(restored session)" },
  { to: "codex-cli" },
];

test("what a restore adds for the model is in its report, and nothing else is", async () => {
  await using home = await tempDir();
  await using pond = await openPond({
    store: join(home.path, "store"),
    state: join(home.path, "state"),
    home: home.path,
    env: {},
  });
  const session = createSession({ id: "s", source_agent: "my-agent", project: "/shop", created_at: at });
  const answered = createSession({ ...session, id: "t" });
  const [asked] = [textPart("Why?")];
  const messages = [
    createMessage(session, { id: "a", seq: 0, role: "assistant", timestamp: at }, [
      textPart("I look."),
      toolCall({ call_id: "open", name: "bash", params: {} }),
    ]),
    createMessage(session, { id: "b", seq: 1, role: "user", timestamp: at }, [textPart("And?")]),
  ];
  const whole = [
    createMessage(answered, { id: "a", seq: 0, role: "user", timestamp: at }, [asked]),
    createMessage(answered, { id: "b", seq: 1, role: "assistant", timestamp: at }, [textPart("So.")]),
  ];
  const events = [...eventsOf({ session, messages }), ...eventsOf({ session: answered, messages: whole })];
  expect((await pond.ingest({ events })).errors).toBe(0);
  for (const { to, call, prompt } of ADDED) {
    const { files, losses } = await pond.restore({ session_id: "s", to, out: join(home.path, to) });
    const texts = files.map(({ path }) => readFileSync(path, "utf8")).join("\n");
    for (const [what, added] of [
      ["unanswered tool call", call],
      ["session without a prompt", prompt],
    ]) {
      const lost = losses.filter((loss) => loss.what === what);
      expect([to, what, lost.map(({ count, affects }) => [count, affects])]).toEqual([
        to,
        what,
        added === undefined ? [] : [[1, "record"]],
      ]);
      if (added !== undefined) expect(texts).toContain(added);
    }
    expect((await pond.restore({ session_id: "t", to, out: join(home.path, to) })).losses).toEqual([]);
  }
});
