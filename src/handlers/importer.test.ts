/** What an import leaves behind when it fails. */
import { expect, test } from "vitest";
import { tempStore } from "../../test/support/temp-store.ts";
import type { Adapter, AdapterYield } from "../adapters/index.ts";
import { systemClock } from "../base/clock.ts";
import { PondError } from "../base/errors.ts";
import type { ImportSettings, ImportTask } from "./importer.ts";
import { runImporter } from "./importer.ts";

test("a failure is told when nothing is under way any more, and what is durable by then is reached", async () => {
  await using store = await tempStore();
  const fault = new PondError("storage_unavailable", "the disk is gone");
  const adapter = {
    name: "test",
    // oxlint-disable-next-line typescript/require-await -- a source that never waits
    async *read({ key }: { readonly key: string }) {
      if (key === "second") throw fault;
      const session = { id: key, source_agent: "test", created_at: 0, project: "/project", options: {} };
      yield [
        { kind: "session", session },
        { kind: "checkpoint", cursor: { files: {} } },
        { kind: "session", session: { ...session, id: "other" } },
      ] as unknown as AdapterYield[];
    },
  } as unknown as Adapter;
  const tasks = ["first", "second"].map(
    (key, order) =>
      ({ order, unit: { key, files: [] }, place: { root: "/srv/logs" }, bytes: 0 }) as unknown as ImportTask,
  );
  const lots = [tasks];
  const reached: string[] = [];
  const settings = {
    adapter,
    limits: { rows: 2, bytes: 1e6 },
    clock: systemClock,
    signal: AbortSignal.any([]),
  };
  const run = runImporter(settings as unknown as ImportSettings, {
    tables: store.sessions.tables,
    stored: store.sessions.revisions.bind(store.sessions),
    prefix: () => undefined,
    next: () => lots.pop() ?? [],
    reached: (sources) => reached.push(...sources.map(({ source }) => source.key)),
    done: () => undefined,
  });
  await expect(run).rejects.toBe(fault);
  expect(reached).toEqual(["first"]);
});
