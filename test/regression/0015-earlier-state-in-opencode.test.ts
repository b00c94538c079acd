/**
 * Following pond's own advice for opencode (take the session out of the client, restore an earlier state of it, sync) hid its
 * newest turns, as if somebody had removed them (spec.md#sources-restored-again).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { listSessions, restore, search, sync } from "../../src/handlers/index.ts";
import { carryOnOpencode, importIntoOpencode, startOpencodeDatabase } from "../support/restored-story.ts";
import { tempContext } from "../support/temp-context.ts";

/** Not the indexes: what is found is the same without them. */
const IMPORT = { stages: ["import"] } as const;

const SESSION = "ses_4f0000000ffeOwnOwnOwnOwnOw";
const MESSAGE = "msg_b00000000001OwnOwnOwnOwnOw";
const TIME = Date.UTC(2026, 4, 1, 10);

const OWN = {
  info: {
    id: SESSION,
    directory: "/srv/app",
    title: "fish",
    version: "1.2.0",
    metadata: {},
    time: { created: TIME, updated: TIME },
  },
  messages: [
    {
      info: { id: MESSAGE, sessionID: SESSION, role: "user", agent: "build", time: { created: TIME } },
      parts: [
        {
          id: "prt_b00000000001OwnOwnOwnOwnOw",
          sessionID: SESSION,
          messageID: MESSAGE,
          type: "text",
          text: "How does the zebrafish retry?",
        },
      ],
    },
  ],
};

async function shown(context: Context, query: string): Promise<readonly string[]> {
  const { sessions } = await search(context, { query });
  return sessions.flatMap(({ matches }) => matches.map(({ state }) => state ?? "shown"));
}

test("an earlier state that is imported into opencode again hides no later turn, also when it is carried on", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  startOpencodeDatabase(home);
  writeFileSync(join(home, "own.json"), JSON.stringify(OWN));
  importIntoOpencode(home, join(home, "own.json"));
  await sync(context, IMPORT);
  carryOnOpencode(home, SESSION, "And the platypus?");
  await sync(context, IMPORT);
  deleteSession(home);
  const { files, fidelity } = await restore(context, { session_id: SESSION, state: 1 });
  expect({ fidelity, files: files.length }).toEqual({ fidelity: "native", files: 1 });
  importIntoOpencode(home, files[0]?.path ?? "");
  await sync(context, IMPORT);
  const endsOf = async () => (await listSessions(context, {})).sessions.map(({ id, ends }) => [id, ends]);
  expect(await shown(context, "platypus")).toEqual(["shown"]);
  expect(await endsOf()).toEqual([[SESSION, undefined]]);
  carryOnOpencode(home, SESSION, "And what of the wombat then?");
  await sync(context, IMPORT);
  expect(await endsOf()).toEqual([[SESSION, 2]]);
  const states = [...(await shown(context, "platypus")), ...(await shown(context, "wombat"))];
  expect(states.toSorted()).toEqual(["other_end", "shown"]);
});

/** `opencode session delete`. */
function deleteSession(home: string): void {
  const database = new DatabaseSync(join(home, ".local/share/opencode/opencode.db"));
  database.exec(`PRAGMA foreign_keys = ON; DELETE FROM session WHERE id = '${SESSION}'`);
  database.close();
}
