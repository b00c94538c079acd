import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { foreignSession } from "../../../../test/clients/foreign-session.ts";
import { readFolder } from "../../../../test/support/adapter-run.ts";
import { tempDir } from "../../../../test/support/temp-dir.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { stringifyJson } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { messageId, sessionId } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import type { Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { extractFromPath } from "../../kit/extract/index.ts";
import { pi } from "../index.ts";
import { serialize } from "./restore.ts";

const OPTIONS: SerializeOptions = {
  fidelity: "foreign",
  layout: "client",
  mapPath: (path) => path,
  now: Date.UTC(2026, 5, 1),
};
const state = foreignSession("/srv/demo.app");

function recordsOf({ files }: Restored, index = 0): JsonObject[] {
  const file = files[index];
  return file?.kind === "jsonl" ? (file.records as JsonObject[]) : [];
}

/** The session with more messages at its end. */
function withMore(messages: readonly MessageWithParts[]): SessionState {
  return { ...state, messages: [...state.messages, ...messages] };
}

function said(id: string, text: string, injected?: string): MessageWithParts {
  const { message } = state.messages[1]!;
  const key = messageId(id);
  const provenance = injected === undefined ? ("conversational" as const) : ("injected" as const);
  const part = { session_id: message.session_id, message_id: key, ordinal: 0, type: "text" as const };
  return {
    message: { ...message, id: key, seq: 100 + id.length },
    parts: [
      {
        ...part,
        id: state.messages[1]!.parts[0]!.id,
        provenance,
        text: extractFromPath(text),
        options: injected === undefined ? {} : { pond: { injected } },
      },
    ],
  };
}

describe("foreign restore", () => {
  const restored = serialize({ state, children: [] }, OPTIONS);
  const [header, ...entries] = recordsOf(restored);

  test("names the session as the client does, in the folder of its directory", () => {
    const { id } = restored.resume;
    expect(restored.files.map(({ path }) => path)).toEqual([
      `--srv-demo.app--/2026-05-01T10-00-00-000Z_${id}.jsonl`,
    ]);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(header).toEqual({
      type: "session",
      version: 3,
      id,
      timestamp: "2026-05-01T10:09:00.001Z",
      cwd: "/srv/demo.app",
      metadata: { pond: { session_id: "thread/1", source_agent: "elsewhere" } },
    });
    // The client looks no further to tell whether a file is a session.
    expect(stringifyJson(header!).length).toBeLessThan(512);
  });

  test("is the same however often it is made", () => {
    expect(serialize({ state, children: [] }, OPTIONS)).toEqual(restored);
  });

  test("is one chain of entries with distinct ids of eight hex digits", () => {
    const ids = entries.map(({ id }) => id);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
    expect(new Set(ids).size).toBe(entries.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  test("keeps the title, and puts each result right behind the response that called", () => {
    const lines = entries.map(({ type, name, message }) => {
      const { role, content, toolCallId, stopReason } = (message ?? {}) as JsonObject;
      return [
        type,
        name ?? role,
        stopReason ?? toolCallId,
        Array.isArray(content) ? content.length : undefined,
      ];
    });
    expect(lines).toEqual([
      ["session_info", "A foreign title", undefined, undefined],
      ["message", "user", undefined, 2],
      ["message", "assistant", "toolUse", 3],
      ["message", "toolResult", "call_1", 1],
      ["message", "toolResult", "fc:2", 1],
      ["message", "assistant", "stop", 1],
      ["message", "user", undefined, 1],
      ["message", "assistant", "toolUse", 1],
    ]);
  });

  test("says what it could not keep", () => {
    expect(restored.losses.map(({ what, count }) => [what, count])).toEqual([
      ["note from its client", 1],
      ["reasoning", 1],
      ["bookkeeping record", 1],
    ]);
  });

  test("keeps a summary as a compaction after which the history begins", () => {
    const more = [said("s", "all of it, in short", "compaction-summary"), said("next", "and then")];
    const records = recordsOf(serialize({ state: withMore(more), children: [] }, OPTIONS));
    const at = records.findIndex(({ type }) => type === "compaction");
    expect(records[at]).toMatchObject({ summary: "all of it, in short", tokensBefore: 0 });
    expect(records[at]?.["firstKeptEntryId"]).toBe(records[at + 1]?.["id"]);
    expect(records.at(-1)).toMatchObject({ message: { content: [{ text: "and then" }] } });
  });

  test("keeps what the conversation leans on as a message of an extension, other clients' notes not", () => {
    const more = [said("sh", "$ ls\na b", "shell"), said("r", "be careful", "system-reminder")];
    const made = serialize({ state: withMore(more), children: [] }, OPTIONS);
    expect(recordsOf(made).at(-1)).toMatchObject({
      type: "custom_message",
      customType: "pond.shell",
      content: [{ type: "text", text: "$ ls\na b" }],
      display: true,
    });
    expect(made.losses).toContainEqual(
      expect.objectContaining({
        what: "note from its client",
        why: "system-reminder, meant for that client only",
      }),
    );
  });

  test("restores children as sessions of their own", () => {
    const child: SessionState = {
      ...state,
      session: {
        ...state.session,
        id: sessionId("thread/2"),
        parent_session_id: state.session.id,
        relation: "spawn",
      },
    };
    const whole = serialize({ state, children: [{ state: child, children: [] }] }, OPTIONS);
    expect(new Set(whole.files.map(({ path }) => path)).size).toBe(2);
    expect(whole.losses).toContainEqual(expect.objectContaining({ what: "link to a parent session" }));
  });

  test("refuses a session that nobody answered", () => {
    const silent: SessionState = { ...state, messages: state.messages.slice(0, 2) };
    expect(() => serialize({ state: silent, children: [] }, OPTIONS)).toThrow(/no answer/);
  });

  test("reads back as turns that are known to be copies, and as nobody's child", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, restored.files[0]!.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      recordsOf(restored)
        .map((record) => `${stringifyJson(record)}\n`)
        .join(""),
    );
    const [back] = replay((await readFolder(pi, folder.path)).flatMap(({ events }) => events));
    expect(back?.session.id).toBe(restored.resume.id);
    expect(back?.session).not.toHaveProperty("parent_session_id");
    for (const { message } of back!.messages.slice(1))
      expect(message.options["pond"]).toMatchObject({ replays: true });
  });
});
