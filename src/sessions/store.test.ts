/** What holds of the store as a whole. */
import { expect, test, vi } from "vitest";
import { tempStore } from "../../test/support/temp-store.ts";
import { PondError } from "../base/errors.ts";

test("maintenance that fails is told when all of it has ended, with what failed first", async () => {
  await using store = await tempStore();
  const { sessions, messages, parts } = store.sessions.tables;
  const fault = new PondError("storage_unavailable", "the disk is gone");
  const going = Promise.withResolvers<void>();
  const over: string[] = [];
  vi.spyOn(messages, "maintain").mockRejectedValue(fault);
  vi.spyOn(sessions, "maintain").mockImplementation(async () => {
    await going.promise;
    over.push("sessions");
    throw new PondError("internal", "second");
  });
  vi.spyOn(parts, "maintain").mockImplementation(async () => {
    await going.promise;
    over.push("parts");
    return { table: "parts", done: [], left: [], bytesRemoved: 0 };
  });
  let overWhenTold: readonly string[] | undefined;
  const told = store.sessions.updateIndexes().catch((error: unknown) => {
    overWhenTold = [...over];
    return error;
  });
  await store.sessions.refreshSummaries();
  going.resolve();
  expect(await told).toBe(fault);
  expect(overWhenTold).toEqual(["sessions", "parts"]);
});
