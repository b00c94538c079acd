/**
 * A store on S3, over loopback: everything works as on a disk, and a server that would lose rows is
 * refused.
 */
import { describe, expect, test } from "vitest";
import { type S3Stub, s3Stub } from "../../test/support/s3-stub.ts";
import { and, eq } from "./engine/predicate.ts";
import { defineTable, openStore, type RowOf } from "./index.ts";
import type { StoreOptions } from "./store.ts";

const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: {
    box: { type: "utf8" },
    id: { type: "utf8" },
    body: { type: "utf8", packed: "together", nullable: true },
    data: { type: "blob" },
  },
  indexes: [{ column: "body", kind: "fts" }],
});

const quick: StoreOptions = { freshnessMs: 0, retry: { attempts: 3, baseMs: 1, capMs: 2 } };
const rows = (from: number, count: number): RowOf<typeof NOTES>[] =>
  Array.from({ length: count }, (_, i) => ({
    box: `box ${(from + i) % 7}`,
    id: String(from + i),
    body: `word${from + i} common`,
  }));

const patient: StoreOptions = { freshnessMs: 0, retry: { attempts: 12, baseMs: 1, capMs: 2 } };
/** Without the engine's own patience, which would hide what ours does and takes seconds. */
const resetting = (s3: S3Stub): Readonly<Record<string, string>> => ({
  ...s3.storageOptions,
  client_max_retries: "0",
});

/** Uniform in [0, 1), the same for a seed each time. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("an object store", () => {
  test("takes creation, merges, searches and maintenance", async () => {
    await using s3 = await s3Stub();
    await using store = await openStore(s3.url, { ...quick, storageOptions: s3.storageOptions });
    const notes = await store.table(NOTES);
    for (let i = 0; i < 5; i++)
      expect(await notes.insertRows(rows(i * 50, 100))).toEqual({
        inserted: i === 0 ? 100 : 50,
        matched: i === 0 ? 0 : 50,
        duplicates: 0,
      });
    await notes.insertRows([{ box: "blobs", id: "1", data: new Uint8Array(7_000_000).fill(9) }]);
    const report = await notes.maintain({ force: true });
    expect(report.done.map(({ kind }) => kind)).toContain("compact");
    await notes.insertRows(rows(300, 10));
    expect(await notes.count()).toBe(311);
    const found = await notes.search({
      column: "body",
      query: { match: "word305 word7" },
      select: ["id", "body"],
      limit: 5,
    });
    expect(new Set([found.string("id", 0), found.string("id", 1)])).toEqual(new Set(["305", "7"]));
    const blob = await notes.scan({ select: ["id", "data"], where: eq("box", "blobs"), withRowId: true });
    expect((await notes.fetchBlobs("data", blob.rowIds()))[0]?.length).toBe(7_000_000);
    await using again = await openStore(s3.url, {
      ...quick,
      storageOptions: s3.storageOptions,
      create: false,
    });
    expect(await again.id()).toBe(await store.id());
    expect(await again.tables()).toEqual(["notes"]);
    expect(
      s3.requests.filter((line) => line.includes("pond_probe_") && line.startsWith("PUT")).length,
    ).toBeGreaterThan(0);
  });

  test("is probed once, not at every opening", async () => {
    await using s3 = await s3Stub();
    for (let i = 0; i < 3; i++)
      (await openStore(s3.url, { ...quick, storageOptions: s3.storageOptions })).close();
    const probes = new Set(s3.requests.flatMap((line) => /pond_probe_[0-9a-f-]+/.exec(line) ?? []));
    expect(probes.size).toBe(2);
    expect([...s3.objects.keys()].filter((key) => key.includes("pond_probe_"))).toEqual([]);
  });

  test.each([0, 5, 30])(
    "that ignores conditional writes is refused, at a latency of %i ms",
    async (latencyMs) => {
      await using s3 = await s3Stub({ ignoreConditions: true, latencyMs });
      for (let i = 0; i < 3; i++)
        await expect(
          openStore(s3.url, { ...quick, storageOptions: s3.storageOptions }),
        ).rejects.toMatchObject({
          code: "storage_unavailable",
          reason: "unsupported",
          message: expect.stringContaining("ignores conditional writes"),
        });
    },
  );

  test.each([0, 5, 30])(
    "that honours conditional writes is accepted, at a latency of %i ms",
    async (latencyMs) => {
      for (let i = 0; i < 2; i++) {
        await using s3 = await s3Stub({ latencyMs });
        await using store = await openStore(s3.url, { ...quick, storageOptions: s3.storageOptions });
        expect(await store.id()).toMatch(/^[0-9a-f-]{36}$/);
      }
    },
  );

  const isProbe = (method: string, key: string): boolean => method === "PUT" && key.includes("pond_probe_");

  test.each(["before", "after"] as const)(
    "whose connections are reset %s the first writes is asked again, and nothing of the probe stays",
    async (when) => {
      let resets = 0;
      await using s3 = await s3Stub({
        reset: (method, key) => (isProbe(method, key) && resets++ < 9 ? when : undefined),
      });
      await using store = await openStore(s3.url, { ...patient, storageOptions: resetting(s3) });
      expect(resets).toBeGreaterThan(9);
      expect(await store.id()).toMatch(/^[0-9a-f-]{36}$/);
      expect([...s3.objects.keys()].filter((key) => key.includes("pond_probe_"))).toEqual([]);
    },
  );

  test.each([1, 2, 3, 4, 5, 6])(
    "whose every fourth answer is lost can be used at once (seed %i)",
    async (seed) => {
      const random = randomOf(seed);
      await using s3 = await s3Stub({
        reset: (method) =>
          method === "PUT" && random() < 0.25 ? (random() < 0.5 ? "before" : "after") : undefined,
      });
      await using store = await openStore(s3.url, { ...patient, storageOptions: resetting(s3) });
      const notes = await store.table(NOTES);
      expect(await notes.insertRows(rows(0, 20))).toMatchObject({ inserted: expect.any(Number) });
      expect(await notes.count()).toBe(20);
    },
  );

  test.each([1, 2, 3, 4, 5, 6])(
    "that ignores conditional writes is refused whatever of them is lost (seed %i)",
    async (seed) => {
      const random = randomOf(seed);
      await using s3 = await s3Stub({
        ignoreConditions: true,
        reset: (method, key) =>
          isProbe(method, key) && random() < 0.3 ? (random() < 0.5 ? "before" : "after") : undefined,
      });
      const opening = openStore(s3.url, { ...patient, storageOptions: resetting(s3) });
      await expect(opening).rejects.toMatchObject({
        code: "storage_unavailable",
        reason: "unsupported",
        message: expect.stringContaining("ignores conditional writes"),
      });
    },
  );

  test("that resets every write is given up on, with how often it was asked", async () => {
    await using s3 = await s3Stub({ reset: (method) => (method === "PUT" ? "before" : undefined) });
    const opening = openStore(s3.url, { ...quick, storageOptions: resetting(s3) });
    await expect(opening).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("cannot reach"),
      data: { attempts: quick.retry?.attempts },
    });
    const probes = new Set(s3.requests.flatMap((line) => /pond_probe_[0-9a-f-]+/.exec(line) ?? []));
    expect(probes.size).toBe(quick.retry?.attempts);
  });

  test("that is empty is not made by a reader", async () => {
    await using s3 = await s3Stub();
    await expect(
      openStore(s3.url, { ...quick, storageOptions: s3.storageOptions, create: false }),
    ).rejects.toMatchObject({ code: "not_found" });
    expect(s3.objects.size).toBe(0);
  });

  test.concurrent.each([
    ["a plain http endpoint", { allow_http: "false" }, "pond", 'allow_http = "true"', undefined],
    ["a missing bucket", {}, "absent", "create it first", undefined],
    ["nobody listening", { aws_endpoint: "http://127.0.0.1:9" }, "pond", "check the endpoint", undefined],
  ])("%s is said in one line", async (_, storageOptions, bucket, hint, reason) => {
    await using s3 = await s3Stub();
    const opening = openStore(`s3://${bucket}/store`, {
      ...quick,
      storageOptions: { ...s3.storageOptions, ...storageOptions },
      retry: { attempts: 1 },
    });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "storage_unavailable", reason, hint: expect.stringContaining(hint) });
    expect((error as Error).message.length).toBeLessThan(160);
    expect((error as Error).message).not.toContain("secret");
  });

  test.concurrent.each([
    [403, "permission", /refuses the credentials/],
    [404, undefined, /is not an object store, or not the right one \(status: 404\)/],
    [503, undefined, /cannot reach/],
  ])("status %i is said in one line", async (status, reason, message) => {
    await using s3 = await s3Stub({ fail: () => status });
    await expect(
      openStore(s3.url, { ...quick, storageOptions: s3.storageOptions, retry: { attempts: 1 } }),
    ).rejects.toMatchObject({ code: "storage_unavailable", reason, message: expect.stringMatching(message) });
  });

  test("an outage in the middle of a write is retried, and stores each row once", async () => {
    let failing = 0;
    await using s3 = await s3Stub({
      fail: (method, key) =>
        method === "PUT" && key.includes("notes.lance") && failing-- > 0 ? 503 : undefined,
    });
    await using store = await openStore(s3.url, {
      ...quick,
      storageOptions: { ...s3.storageOptions, client_max_retries: "0" },
      retry: { attempts: 8, baseMs: 1, capMs: 2 },
    });
    const notes = await store.table(NOTES);
    failing = 5;
    expect(await notes.insertRows(rows(0, 20))).toMatchObject({ inserted: 20 });
    expect(failing).toBeLessThanOrEqual(0);
    expect(await notes.count()).toBe(20);
  });

  test("a reader sees other writers within its freshness window", async () => {
    await using s3 = await s3Stub();
    await using writer = await openStore(s3.url, { ...quick, storageOptions: s3.storageOptions });
    await using reader = await openStore(s3.url, {
      ...quick,
      storageOptions: s3.storageOptions,
      freshnessMs: 100,
    });
    const [a, b] = [await writer.table(NOTES), await reader.table(NOTES)];
    expect(await b.count()).toBe(0);
    await a.insertRows(rows(0, 3));
    await expect.poll(() => b.count(and(eq("box", "box 0"))), { interval: 20, timeout: 60_000 }).toBe(1);
  });
});
