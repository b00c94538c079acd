/** Reading again what was ever read on this machine, also by a program with an adapter of its own. */
import { expect, test } from "vitest";
import { programAdapter, writeTurn } from "../../../test/support/program-adapter.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import { sync } from "../sync/sync.ts";
import { readAgain } from "./read-again.ts";

test("what only the adapter of another program can read is left out, and stays stored", async () => {
  await using temp = await tempContext();
  const { context, home } = temp;
  writeTurn(home, "tinker", { session: "t-1", text: "the kettle is cold" });
  const { clients } = await sync({ ...context, adapters: [programAdapter("tinker")] }, {});
  expect(clients).toMatchObject([{ adapter: "tinker", stored: { messages: { inserted: 1 } } }]);
  const store = await context.store();
  expect(await readAgain(context, store, { sources: "named", isUnmarked: true })).toMatchObject({
    clients: [],
    left_out: 0,
  });
  expect((await store.summaries()).get("t-1")).toBeDefined();
});
