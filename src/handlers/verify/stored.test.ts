/** `verify --stored` over sessions that a program stored: no source proves them, but they have to be whole. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { conversation } from "../../../test/support/ingested.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { ingest, verifyStored } from "../index.ts";

test("a message that has lost its parts is a fault, also of a program that is no client", async () => {
  await using home = await tempDir();
  {
    await using temp = await tempContext({ home: home.path });
    await ingest(temp.context, { events: conversation("s", 1) });
    const { clients } = await verifyStored(temp.context, {});
    expect(clients).toMatchObject([{ adapter: "test", sessions: 1, unrecorded: 1, unequal: 0 }]);
    expect((await verifyStored(temp.context, { adapters: ["claude-code"] })).clients).toEqual([]);
  }
  rmSync(join(home.path, "store/default/parts.lance"), { recursive: true });
  await using temp = await tempContext({ home: home.path });
  await temp.context.store({ remakesLost: true });
  const { clients } = await verifyStored(temp.context, {});
  expect(clients).toMatchObject([
    { adapter: "test", unequal: 1, differences: [expect.stringContaining("it has 0 of its 1 parts")] },
  ]);
});
