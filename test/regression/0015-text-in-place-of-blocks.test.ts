/**
 * A turn whose content is a plain text became an empty carrier: its role was lost, search did not find it, and no issue said so.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPond } from "../../src/index.ts";
import type { RecordShapes } from "../../src/library/adapters.ts";
import { programAdapter, writeRecord } from "../support/program-adapter.ts";
import { tempDir } from "../support/temp-dir.ts";

const turn: RecordShapes["turn"] = ({ type }) =>
  type === "user" ? { role: "user", blocks: "/message/content" } : undefined;

const optionsIn = (home: string) => ({
  store: join(home, "store"),
  state: join(home, "state"),
  home,
  env: {},
  adapters: [programAdapter("scribe", { turn })],
});

test("a text in the place of blocks, or among them, is a text of its turn, and restores as it was", async () => {
  await using home = await tempDir();
  const contents = ["why is the kettle cold", ["and the samovar", { text: "is broken" }], "", []];
  let log = "";
  for (const content of contents)
    log = writeRecord(home.path, "scribe", { session: "s-1", message: { content, cost: 1 } });
  await using pond = await openPond(optionsIn(home.path));
  expect((await pond.sync()).clients.map(({ issues }) => issues)).toEqual([{}]);
  for (const query of ["kettle", "samovar"]) {
    const { sessions } = await pond.search({ query });
    expect(sessions[0]?.matches).toMatchObject([{ role: "user" }]);
  }
  expect((await pond.verify({ adapters: ["scribe"] })).clients).toMatchObject([{ records: 4, equal: 4 }]);
  const out = join(home.path, "out");
  await pond.restore({ session_id: "s-1", out });
  expect(
    readFileSync(join(out, "s-1.jsonl"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  ).toEqual(
    readFileSync(log, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
});

test("a turn that has neither where the table says is kept, and is an issue that names the place", async () => {
  await using home = await tempDir();
  writeRecord(home.path, "scribe", { session: "s-1", message: { content: "found" } });
  writeRecord(home.path, "scribe", { session: "s-1", message: { content: 7 } });
  writeRecord(home.path, "scribe", { session: "s-1", body: "elsewhere" });
  await using pond = await openPond(optionsIn(home.path));
  const { clients } = await pond.sync();
  const message = expect.stringContaining("/message/content");
  expect(clients[0]?.examples).toMatchObject(
    [2, 3].map((line) => ({ kind: "unexpected_shape", line, message })),
  );
  expect((await pond.verify({ adapters: ["scribe"] })).clients).toMatchObject([{ records: 3, equal: 3 }]);
  const again = await pond.sync();
  expect(again.clients.flatMap(({ issues }) => Object.keys(issues))).toEqual([]);
});
