/**
 * A tool's arguments nested 10,000 levels were stored, and then every answer that printed them overflowed the stack. All
 * that pond does with a value stands that depth: sync, get, restore into every client, verify.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TempHome } from "../cli/pond.ts";

const LEVELS = 10_000;
const DEEP = `${'{"a":['.repeat(LEVELS / 2)}"the bottom"${"]}".repeat(LEVELS / 2)}`;
const ID = "11111111-1111-4111-8111-111111111111";
const AT = "2026-01-02T03:04:05.000Z";

/** A JSON text with a value that is not parsed for it. */
const spliced = (value: unknown): string => JSON.stringify(value).replace('"DEEP"', () => DEEP);

interface Source {
  readonly client: string;
  readonly id: string;
  readonly files: Readonly<Record<string, readonly unknown[]>>;
}

const CLAUDE_CODE: Source = {
  client: "claude-code",
  id: ID,
  files: {
    [`.claude/projects/-srv-app/${ID}.jsonl`]: [
      record("u0", null, { type: "user", message: { role: "user", content: "go" } }),
      record("u1", "u0", {
        type: "assistant",
        message: {
          id: "m1",
          role: "assistant",
          content: [{ type: "tool_use", id: "t1", name: "Deep", input: "DEEP" }],
        },
      }),
    ],
  },
};

function record(uuid: string, parentUuid: string | null, rest: object): object {
  return { uuid, parentUuid, sessionId: ID, cwd: "/srv/app", timestamp: AT, ...rest };
}

const CODEX: Source = {
  client: "codex-cli",
  id: ID,
  files: {
    [`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${ID}.jsonl`]: [
      { timestamp: AT, type: "session_meta", payload: { id: ID, timestamp: AT, cwd: "/srv/app" } },
      item({ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }),
      item({ type: "function_call", name: "deep", arguments: DEEP, call_id: "c1" }),
      item({ type: "tool_search_call", call_id: "c2", arguments: "DEEP" }),
    ],
  },
};

function item(payload: object): object {
  return { timestamp: AT, type: "response_item", payload };
}

const PI: Source = {
  client: "pi",
  id: ID,
  files: {
    [`.pi/agent/sessions/--srv-app--/2026-01-02T03-04-05-000Z_${ID}.jsonl`]: [
      { type: "session", version: 3, id: ID, timestamp: AT, cwd: "/srv/app" },
      entry("a1", null, { role: "user", content: "go" }),
      entry("a2", "a1", {
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "deep", arguments: "DEEP" }],
      }),
    ],
  },
};

function entry(id: string, parentId: string | null, message: object): object {
  return { type: "message", id, parentId, timestamp: AT, message };
}

const OPENCODE: Source = {
  client: "opencode",
  id: "ses_1",
  files: {
    ".local/share/opencode/storage/session/p/ses_1.json": [
      {
        id: "ses_1",
        projectID: "p",
        directory: "/srv/app",
        title: "deep",
        time: { created: 1_700_000_000_000, updated: 1_700_000_000_000 },
      },
    ],
    ".local/share/opencode/storage/message/ses_1/msg_1.json": [
      {
        id: "msg_1",
        sessionID: "ses_1",
        role: "assistant",
        time: { created: 1_700_000_000_000, completed: 1_700_000_000_001 },
      },
    ],
    ".local/share/opencode/storage/part/msg_1/prt_1.json": [
      {
        id: "prt_1",
        sessionID: "ses_1",
        messageID: "msg_1",
        type: "tool",
        tool: "deep",
        callID: "c1",
        state: {
          status: "completed",
          input: "DEEP",
          output: "done",
          time: { start: 1_700_000_000_000, end: 1_700_000_000_000 },
        },
      },
    ],
  },
};

const SOURCES = [CLAUDE_CODE, CODEX, PI, OPENCODE];

describe.each(SOURCES)("10,000 levels in a session of $client", ({ client, id, files }) => {
  test("are stored, printed, restored and proven", { timeout: 300_000 }, async () => {
    using home = new TempHome();
    for (const [path, records] of Object.entries(files)) {
      mkdirSync(dirname(join(home.path, path)), { recursive: true });
      writeFileSync(join(home.path, path), records.map((each) => `${spliced(each)}\n`).join(""));
    }
    const done = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr, stdout } = await home.pond(args);
      expect([args, code, stderr]).toEqual([args, 0, expect.not.stringMatching(/error|stack/)]);
      return stdout;
    };
    await done("sync");
    expect(await done("get", id, "--mode", "verbatim", "--json")).toContain(DEEP);
    expect(await done("get", id, "--mode", "verbatim")).toContain(DEEP);
    for (const target of SOURCES.map((source) => source.client)) {
      const out = join(home.path, `out-${target}`);
      await done("restore", id, "--to", target, "--out", out);
      if (target === client) expect(contents(out)).toContain(DEEP);
    }
    await done("verify");
  });
});

function contents(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"))
    .join("\n");
}
