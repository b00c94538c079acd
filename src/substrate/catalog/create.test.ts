/** Two processes that make the same table at once must not lose what one of them has stored already. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { s3Stub } from "../../../test/support/s3-stub.ts";
import { defineTable, openStore } from "../index.ts";
import { loadLance } from "../engine/lance.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["id"],
  columns: {
    id: { type: "utf8" },
    text: { type: "utf8", nullable: true, packed: "together" },
    n: { type: "int64", nullable: true },
    at: { type: "timestamp_us", nullable: true },
    ok: { type: "bool", nullable: true },
    vector: { type: "float16_vector", dim: 2, nullable: true },
    data: { type: "blob" },
  },
  indexes: [{ column: "text", kind: "fts" }],
});

/** A proxy that holds back the nth request about a table until released. */
async function gate(endpoint: string, table: string, nth: number) {
  let seen = 0;
  let release = (): void => undefined;
  let reached = (): void => undefined;
  const released = new Promise<void>((done) => (release = done));
  const held = new Promise<void>((done) => (reached = done));
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await Array.fromAsync(request as AsyncIterable<Buffer>);
    if (decodeURIComponent(request.url ?? "").includes(`${table}.lance`) && ++seen === nth) {
      reached();
      await released;
    }
    const { method, url, headers } = request;
    const onward = forward(endpoint, { method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.end(Buffer.concat(body));
  };
  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    release,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => (server.close(() => closed()), server.closeAllConnections())),
  };
}

describe("a race of creators on an object store", () => {
  test("the engine alone wipes rows that were stored meanwhile", async () => {
    await using s3 = await s3Stub();
    await using proxy = await gate(s3.endpoint, "raw", 2);
    const { lancedb, arrow } = loadLance();
    const schema = new arrow.Schema([new arrow.Field("id", new arrow.Utf8(), false)]);
    const first = await lancedb.connect(`${s3.url}/default`, {
      storageOptions: { ...s3.storageOptions },
      readConsistencyInterval: 0,
    });
    const slow = await lancedb.connect(`${s3.url}/default`, {
      storageOptions: { ...s3.storageOptions, aws_endpoint: proxy.endpoint },
    });
    const creating = slow.createEmptyTable("raw", schema);
    await proxy.held;
    const table = await first.createEmptyTable("raw", schema);
    await table.add([{ id: "stored" }]);
    expect(await table.countRows()).toBe(1);
    proxy.release();
    await creating;
    expect(await table.countRows()).toBe(0);
  });

  test.each([1, 2, 3, 4])("loses nothing when a creator stalls at its request %i", async (nth) => {
    await using s3 = await s3Stub();
    // Both begin in a store that exists, so that only the table is raced for.
    await using first = await openStore(s3.url, { storageOptions: s3.storageOptions, freshnessMs: 0 });
    // The first request is the look whether it exists.
    await using proxy = await gate(s3.endpoint, "notes", 1 + nth);
    await using slow = await openStore(s3.url, {
      storageOptions: { ...s3.storageOptions, aws_endpoint: proxy.endpoint },
      freshnessMs: 0,
    });
    const opening = slow.table(NOTES);
    await proxy.held;
    const notes = await first.table(NOTES);
    const row = {
      id: "1",
      text: "hello",
      n: 5n,
      at: 7,
      ok: true,
      vector: [1, 2],
      data: new Uint8Array([1, 2, 3]),
    };
    await notes.insertRows([row, { id: "2" }]);
    proxy.release();
    const late = await opening;
    await late.insertRows([{ id: "3" }]);
    for (const table of [notes, late]) expect(await table.count()).toBe(3);
    const rows = await late.scan({
      select: ["id", "text", "n", "at", "ok", "vector"],
      orderBy: [{ column: "id" }],
      withRowId: true,
    });
    expect([
      rows.string("text", 0),
      rows.bigint("n", 0),
      rows.timestamp("at", 0),
      rows.bool("ok", 0),
      [...(rows.vector("vector", 0) ?? [])],
    ]).toEqual(["hello", 5n, 7, true, [1, 2]]);
    expect([...((await late.fetchBlobs("data", rows.rowIds()))[0] ?? [])]).toEqual([1, 2, 3]);
    const found = await late.search({ column: "text", query: { match: "hello" }, select: ["id"], limit: 5 });
    expect(found.length).toBe(1);
  });
});
