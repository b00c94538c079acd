/** How large a session is for the model that it is handed to (spec.md#adapter-restore-tokens). */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const ID = "11111111-1111-4111-8111-111111111111";

async function homeWithPrompt(text: string): Promise<TempHome> {
  const home = new TempHome();
  mkdirSync(join(home.path, ".claude/projects/-srv-app"), { recursive: true });
  const head = { sessionId: ID, cwd: "/srv/app", timestamp: "2026-01-01T00:00:00Z" };
  const usage = { input_tokens: 3, cache_read_input_tokens: 41_000, output_tokens: 9 };
  const records = [
    { ...head, type: "user", uuid: "a", parentUuid: null, message: { role: "user", content: text } },
    {
      ...head,
      type: "assistant",
      uuid: "b",
      parentUuid: "a",
      message: { role: "assistant", model: "m", content: [{ type: "text", text: "ok" }], usage },
    },
  ];
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(join(home.path, `.claude/projects/-srv-app/${ID}.jsonl`), lines);
  await home.pond(["sync", "--quiet"]);
  return home;
}

test("a session that fits is reported with its size, as estimated and as recorded", async () => {
  using home = await homeWithPrompt("x".repeat(3599));
  const { stdout } = await home.pond(["restore", ID, "--to", "codex-cli"]);
  expect(stdout).toContain(
    "\nthe model in codex-cli is sent about 1,000 tokens of this session (estimated; the model in Claude Code was sent 41,012)\n",
  );
  const json = await home.pond(["restore", ID, "--to", "pi", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    tokens: {
      estimated: 1000,
      recorded: 41_012,
      windows: [
        { tokens: 200_000, is_exceeded: false },
        { tokens: 1_000_000, is_exceeded: false },
      ],
    },
  });
});

test("one that is too large for a usual window says so, with what to do", async () => {
  using home = await homeWithPrompt("x".repeat(720_000));
  const { code, stdout } = await home.pond(["restore", ID, "--to", "codex-cli"]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    "too large for a context window of 200,000 in codex-cli; compact it in Claude Code (/compact), run pond sync and restore it again",
  );
  // Its own client recorded what it sends.
  const native = await home.pond(["restore", ID, "--out", "x"]);
  expect(native.stdout).toContain(
    "\nthe model in claude-code is sent about 41,012 tokens (as Claude Code recorded)\n",
  );
});
