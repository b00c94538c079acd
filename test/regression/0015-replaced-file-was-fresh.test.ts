/**
 * A file that was replaced by another one of the same size and time is another file (spec.md#sync-change-detection): no test
 * failed when the inode was no part of a stamp any more.
 */
import { mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sync } from "../../src/handlers/index.ts";
import { hitsOf } from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const ID = "11111111-1111-4111-8111-111111111111";
const TIME = Date.UTC(2026, 0, 1) / 1000;
const TREE = ".local/share/opencode/storage";

const CLAUDE = {
  [`.claude/projects/-srv-app/${ID}.jsonl`]: `${JSON.stringify({
    type: "user",
    uuid: "u1",
    parentUuid: null,
    sessionId: ID,
    cwd: "/srv/app",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: "What of the zebrafish?" },
  })}\n`,
};

const OPENCODE = {
  [`${TREE}/session/p/ses_1.json`]: JSON.stringify({
    id: "ses_1",
    projectID: "p",
    directory: "/srv/app",
    title: "fish",
    time: { created: 1, updated: 1 },
  }),
  [`${TREE}/message/ses_1/msg_1.json`]: JSON.stringify({
    id: "msg_1",
    sessionID: "ses_1",
    role: "user",
    time: { created: 1 },
  }),
  [`${TREE}/part/msg_1/prt_1.json`]: JSON.stringify({
    id: "prt_1",
    sessionID: "ses_1",
    messageID: "msg_1",
    type: "text",
    text: "What of the zebrafish?",
  }),
};

test.each([
  ["a log", CLAUDE, ID],
  ["a file of a tree", OPENCODE, "ses_1"],
])(
  "%s that another one of its size and time replaced is read",
  async (_, files: Record<string, string>, id) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    for (const [name, text] of Object.entries(files)) write(join(home, name), text);
    await sync(context, IMPORT);
    expect(await hitsOf(context, "zebrafish")).toEqual([id]);
    const changed = join(home, Object.keys(files).at(-1) ?? "");
    const before = statSync(changed);
    write(`${home}/new`, readFileSync(changed, "utf8").replace("zebrafish", "crocodile"));
    renameSync(`${home}/new`, changed);
    const { size, mtimeMs, ino } = statSync(changed);
    expect({ size, mtimeMs, isSame: ino === before.ino }).toEqual({
      size: before.size,
      mtimeMs: before.mtimeMs,
      isSame: false,
    });
    await sync(context, IMPORT);
    expect(await hitsOf(context, "crocodile")).toEqual([id]);
  },
);

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, TIME, TIME);
}
