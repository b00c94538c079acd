/**
 * A blob column is a struct; it and its first child have the same null bitmap. The Arrow IPC writer joins neighbouring
 * chunks that view the same bytes, so a shared bitmap was written once and every buffer behind it moved. It showed
 * only when the bitmap needed no padding: a multiple of 64 rows.
 */
import { expect, test } from "vitest";
import { defineTable, openStore } from "../../src/substrate/index.ts";
import { tempDir } from "../support/temp-dir.ts";

const FILES = defineTable({
  name: "files",
  version: 1,
  primaryKey: ["id"],
  columns: { id: { type: "utf8" }, data: { type: "blob" } },
});

test.each([63, 64, 65, 640])("%d rows without a payload, then some with one", async (count) => {
  await using folder = await tempDir();
  await using store = await openStore(folder.path);
  const files = await store.table(FILES);
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `f${index}`,
    data: index % 7 === 3 ? new Uint8Array([index & 255]) : null,
  }));
  expect(await files.insertRows(rows.map(({ id }) => ({ id: `empty-${id}` })))).toMatchObject({
    inserted: count,
  });
  expect(await files.insertRows(rows)).toMatchObject({ inserted: count });
  const stored = await files.scan({ select: ["id"], withRowId: true });
  const blobs = await files.fetchBlobs("data", stored.rowIds());
  const byId = new Map(
    blobs.map((blob, row) => [stored.string("id", row), blob === null ? null : [...blob]]),
  );
  for (const { id, data } of rows) expect([id, byId.get(id)]).toEqual([id, data === null ? null : [...data]]);
});
