/** The batches that an import of a client's sources writes, as files that a benchmark appends without making them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { adapterNamed } from "../src/adapters/index.ts";
import { systemClock } from "../src/base/clock.ts";
import { remoteTables, Ingest } from "../src/sessions/ingest/index.ts";
import { listUnits, readUnit } from "../test/support/adapter-run.ts";

/** One file a batch, named by its place in the order and its table. */
export async function writeBatches(name: string, root: string, folder: string): Promise<void> {
  const adapter = adapterNamed(name);
  if (adapter === undefined) throw new Error(`no adapter ${name}`);
  let written = 0;
  const tables = remoteTables({
    labels: (said) => Promise.resolve({ stored: new Map(), agreed: said }),
    keys: () => Promise.resolve(new Set()),
    versions: () => Promise.resolve([]),
    states: () => Promise.resolve([]),
    hashes: (versions) => Promise.resolve(versions.map(() => undefined)),
    insert: ({ table, batch }) => {
      const file = join(folder, `${String(written++).padStart(4, "0")}-${table}`);
      writeFileSync(file, new Uint8Array(batch.ipc));
      return Promise.resolve({ inserted: batch.rows });
    },
  });
  const ingest = new Ingest(tables, { clock: systemClock });
  const { units } = await listUnits(adapter, root);
  for (const unit of units) await ingest.add((await readUnit(adapter, unit, { root })).events);
  await ingest.flush();
}
