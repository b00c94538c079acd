/** The vectors that come with pond, as somebody has them who set nothing: made by sync, used by search. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const DEFAULT = { env: { POND_EMBEDDINGS_PROVIDER: "" } };
const TEXTS = [
  "the meeting was moved to Friday",
  "our pictures come out upside down",
  "bake the bread for an hour",
];

function homeWithTexts(): TempHome {
  const lines = TEXTS.map((text, at) => ({
    type: "user",
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    sessionId: "s",
    cwd: "/srv/app",
    timestamp: `2026-01-02T03:04:0${at}.000Z`,
    message: { role: "user", content: text },
  }));
  const log = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const home = new TempHome();
  const folder = join(home.path, ".claude/projects/-srv-app");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "s.jsonl"), log);
  return home;
}

test("a first sync embeds, and search finds what no word of the query is in", async () => {
  using home = homeWithTexts();
  const synced = await home.pond(["sync"], DEFAULT);
  expect(synced).toMatchObject({ code: 0, stdout: expect.stringContaining("embed: 3 messages") });
  const found = await home.pond(["search", "--json", "photos", "are", "rotated"], DEFAULT);
  expect(JSON.parse(found.stdout)).toMatchObject({
    sessions: [{ matches: [{ message_id: "u1" }] }],
    vectors: { state: "used", missing: 0, alone: 1 },
  });
  const again = await home.pond(["sync", "--json"], DEFAULT);
  expect(JSON.parse(again.stdout).embed).toEqual({ outcome: "nothing to do" });
});

test("with provider none there are words alone, and what was embedded stays", async () => {
  using home = homeWithTexts();
  await home.pond(["sync"], DEFAULT);
  const found = await home.pond(["search", "--json", "photos", "are", "rotated"]);
  expect(JSON.parse(found.stdout)).toMatchObject({ sessions: [], vectors: { state: "off" } });
  const status = await home.pond(["status", "--json"], DEFAULT);
  expect(JSON.parse(status.stdout).embeddings).toMatchObject({ models: [{ messages: 3 }] });
});

test("a search has words or a message that others are to be like", async () => {
  using home = homeWithTexts();
  await home.pond(["sync"], DEFAULT);
  expect(await home.pond(["search"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("needs <query>"),
  });
  const alike = await home.pond(["search", "--json", "--similar-to", "u1"]);
  const { mode, sessions } = JSON.parse(alike.stdout) as {
    mode: string;
    sessions: { matches: { message_id: string }[] }[];
  };
  expect([
    mode,
    sessions.flatMap(({ matches }) => matches).some(({ message_id }) => message_id === "u1"),
  ]).toEqual(["similar", false]);
});
