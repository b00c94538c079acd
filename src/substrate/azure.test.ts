/** A store on Azure Blob (its emulator): four processes make it and insert the same keys at once. */
import { describe, expect, test } from "vitest";
import { azurite, isAzuriteInstalled } from "../../test/support/azurite.ts";
import { NOTES, storeChild } from "../../test/support/store-child.ts";
import { tempDir } from "../../test/support/temp-dir.ts";
import { eq } from "./engine/predicate.ts";
import { openStore } from "./index.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("an Azure container", () => {
  test(
    "keeps one copy of each row of four writers, and is maintained and searched",
    { timeout: 180_000 },
    async (context) => {
      if (!isAzuriteInstalled()) context.skip("azurite is not installed; run npm ci");
      await using dir = await tempDir();
      await using server = await azurite(dir.path);
      const { url, storageOptions } = server;
      const children = upTo(4).map((w) => {
        const batches = upTo(5).map((b) => [...upTo(10).map((i) => b * 10 + i), 1000 + w * 3 + b]);
        return { child: storeChild({ kind: "race", url, storageOptions, batches }), batches };
      });
      for (const { child } of children) await child.lines.next();
      for (const { child } of children) child.process.stdin.write("go\n");
      const results = await Promise.all(children.map(async ({ child }) => (await child.lines.next()).value));
      const expected = new Set(children.flatMap(({ batches }) => batches.flat()));
      await using store = await openStore(url, { storageOptions, freshnessMs: 0 });
      const notes = await store.table(NOTES);
      const rows = await notes.scan({ select: ["id"], where: eq("box", "shared") });
      const stored = upTo(rows.length).map((i) => Number(rows.string("id", i)));
      expect(stored.toSorted((a, b) => a - b)).toEqual([...expected].toSorted((a, b) => a - b));
      expect(new Set(results.map((result) => result?.["id"])).size).toBe(1);
      await notes.maintain({ force: true });
      const found = await notes.search({
        column: "body",
        query: { match: "number1003" },
        select: ["id"],
        limit: 3,
      });
      expect([found.length, found.string("id", 0)]).toEqual([1, "1003"]);
      expect(await notes.count()).toBe(expected.size);
    },
  );
});
