/**
 * An end that is asked for is restored with the subagents that stood beside it, not with those of another end
 * (spec.md#sources-order).
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { restore, sync } from "../../src/handlers/index.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "11111111-1111-4111-8111-111111111111";
const PROJECTS = [".claude/projects", ".config/claude/projects"];

const LOG = `-srv-app/${ID}.jsonl`;
const CHILD = `-srv-app/${ID}/subagents/agent-abc.jsonl`;

function log(words: readonly string[], more: object = {}): string {
  const records = words.map((word, at) => ({
    type: "user",
    uuid: `u-${word}`,
    parentUuid: at === 0 ? null : `u-${words[at - 1]}`,
    sessionId: ID,
    cwd: "/srv/app",
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(),
    message: { role: "user", content: word },
    ...more,
  }));
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

test("each end comes with its own subagents", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  for (const [at, projects] of PROJECTS.entries()) {
    const files = {
      [LOG]: log(["start", `end${at}`]),
      [CHILD]: log(["task", `answer${at}`], { isSidechain: true, agentId: "abc" }),
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(home, projects, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
  await sync(context, IMPORT);
  for (const [at, projects] of PROJECTS.entries()) {
    const out = join(home, `out-${at}`);
    await restore(context, { session_id: ID, out, source: join(home, projects, LOG) });
    for (const name of [LOG, CHILD]) {
      const records = (path: string): unknown[] =>
        readFileSync(path, "utf8")
          .trimEnd()
          .split("\n")
          .map((line): unknown => JSON.parse(line));
      expect(records(join(out, name))).toEqual(records(join(home, projects, name)));
    }
  }
});
