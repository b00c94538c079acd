/**
 * A process of its own for tests of the substrate: takes one job as JSON in its first argument and reports
 * by lines of JSON on stdout. Run by `storeChild`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { BatchBuilder } from "../../src/substrate/arrow/batch.ts";
import { loadLance, nativeMerge } from "../../src/substrate/engine/lance.ts";
import { withRetry } from "../../src/substrate/engine/retry.ts";
import { defineTable, openStore, type RowOf, type Table } from "../../src/substrate/index.ts";

export const NOTES = defineTable({
  name: "notes",
  version: 1,
  primaryKey: ["box", "id"],
  columns: {
    box: { type: "utf8" },
    id: { type: "utf8" },
    body: { type: "utf8", packed: "together" },
    data: { type: "blob" },
  },
  indexes: [{ column: "body", kind: "fts" }],
});

export const noteOf = (box: string, n: number, bytes = 200): RowOf<typeof NOTES> => ({
  box,
  id: String(n),
  body: `${box} number${n} ${"x".repeat(n % 50)}`,
  data: n % 5 === 0 ? new Uint8Array(bytes).fill(n) : null,
});

export type Job =
  /**
   * Inserts batches of `size` from `from` on for ever, and maintains now and then. Says {acked: n} after
   * each.
   */
  | {
      readonly kind: "write";
      readonly url: string;
      readonly box: string;
      readonly from: number;
      readonly size: number;
    }
  /** Waits for a line on stdin, then inserts each batch of keys of one box. Says {inserted}. */
  | {
      readonly kind: "race";
      readonly url: string;
      readonly storageOptions?: Record<string, string>;
      readonly batches: readonly (readonly number[])[];
    }
  /**
   * Inserts batches of keys of one box, one after the other, and says {inserted} after each. `pauseAt`: says {at} at this
   * point of every append, and waits for a line on stdin. `older`: as a pond that knows no lock, by a merge.
   */
  | {
      readonly kind: "offer";
      readonly url: string;
      readonly batches: readonly (readonly number[])[];
      readonly pauseAt?: "looked_up" | "appended";
      readonly older?: boolean;
    }
  /** Fills the disk until it is refused, frees space, goes on. Says what it saw. */
  | { readonly kind: "fill"; readonly url: string };

async function run(job: Job): Promise<void> {
  if (job.kind === "race") return race(job);
  if (job.kind === "offer") return offer(job);
  const store = await openStore(job.url);
  const notes = await store.table(NOTES);
  if (job.kind === "write") return write(notes, job);
  return fill(notes, job.url);
}

async function write(notes: Table<typeof NOTES>, job: Extract<Job, { kind: "write" }>): Promise<void> {
  for (let n = job.from, round = 1; ; n += job.size, round++) {
    await notes.insertRows(Array.from({ length: job.size }, (_, i) => noteOf(job.box, n + i, 300_000)));
    say({ acked: n + job.size });
    if (round % 4 === 0) await notes.maintain({ force: true, retentionMs: 0 });
  }
}

async function race(job: Extract<Job, { kind: "race" }>): Promise<void> {
  say({ ready: true });
  await new Promise((go) => process.stdin.once("data", go));
  const store = await openStore(job.url, { freshnessMs: 0, storageOptions: job.storageOptions ?? {} });
  const notes = await store.table(NOTES);
  let inserted = 0;
  for (const numbers of job.batches) {
    const batch = notes.batch();
    for (const n of numbers) batch.add(noteOf("shared", n));
    inserted += (await notes.insert(batch.finish())).inserted;
  }
  say({ inserted, id: await store.id() });
  process.exit(0);
}

async function offer(job: Extract<Job, { kind: "offer" }>): Promise<void> {
  if (job.older === true) return offerAsOlder(job);
  if (job.pauseAt !== undefined) {
    const { pauseAt } = job;
    const pause = async (at: string): Promise<void> => {
      if (at !== pauseAt) return;
      say({ at });
      await new Promise((go) => process.stdin.once("data", go));
    };
    onAppend(async (append) => {
      await pause("looked_up");
      const result = await append();
      await pause("appended");
      return result;
    });
  }
  const store = await openStore(job.url);
  const notes = await store.table(NOTES);
  for (const numbers of job.batches) {
    const batch = notes.batch();
    for (const n of numbers) batch.add(noteOf("shared", n));
    say({ inserted: (await notes.insert(batch.finish())).inserted });
  }
  process.exit(0);
}

async function offerAsOlder(job: Extract<Job, { kind: "offer" }>): Promise<void> {
  const lance = loadLance();
  const connection = await lance.lancedb.connect(join(job.url, "default"), { readConsistencyInterval: 0 });
  const table = await connection.openTable("notes");
  for (const numbers of job.batches) {
    const builder = new BatchBuilder(lance, NOTES);
    for (const n of numbers) builder.add(noteOf("shared", n));
    const { ipc } = builder.finish();
    const { value } = await withRetry(
      { clock: systemClock, random: Math.random, attempts: 30, baseMs: 5, capMs: 100 },
      {
        what: "merge",
        where: job.url,
        run: () => nativeMerge(table, NOTES.primaryKey).execute(ipc),
        beforeRetry: async () => table.checkoutLatest(),
      },
    );
    say({ inserted: value.numInsertedRows });
  }
  process.exit(0);
}

interface NativeClass {
  readonly Table: { readonly prototype: { add(ipc: Buffer, mode: string): Promise<unknown> } };
}

/** Stands between pond and the engine's append, for the tables of this process. Gives the engine's own back. */
export function onAppend(between: (append: () => Promise<unknown>) => Promise<unknown>): () => void {
  const require = createRequire(import.meta.url);
  // Past the package's door, which does not show the class.
  const native = join(dirname(require.resolve("@lancedb/lancedb")), "native.js");
  const { prototype } = (require(native) as NativeClass).Table;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own this
  const engines = prototype.add;
  prototype.add = function (ipc: Buffer, mode: string): Promise<unknown> {
    return between(() => engines.call(this, ipc, mode));
  };
  return () => {
    prototype.add = engines;
  };
}

async function fill(notes: Table<typeof NOTES>, path: string): Promise<void> {
  const ballast = join(path, "ballast");
  writeFileSync(ballast, Buffer.alloc(2_000_000));
  let stored = 0;
  for (;;) {
    try {
      await notes.insertRows([
        { box: "a", id: String(stored), body: "b", data: crypto.getRandomValues(new Uint8Array(60_000)) },
      ]);
      stored++;
    } catch (error) {
      const { code, reason, message, hint } = error as {
        code?: string;
        reason?: string;
        message: string;
        hint?: string;
      };
      say({ refused: { code, reason, message, hint }, stored });
      break;
    }
  }
  say({ readable: await notes.count() });
  rmSync(ballast);
  await notes.insertRows([{ box: "a", id: "after", body: "b" }]);
  say({ after: await notes.count(), keys: (await notes.knownKeys(["a"])).size });
  process.exit(0);
}

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

export interface StoreChild extends Disposable {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly lines: AsyncIterableIterator<Record<string, never>>;
  readonly exited: Promise<number | null>;
}

/** Starts a job. `within` is a command that runs the rest of its arguments, such as unshare. */
export function storeChild(job: Job, within: readonly string[] = []): StoreChild {
  const argv = [...within, process.execPath, fileURLToPath(import.meta.url), JSON.stringify(job)];
  const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const lines = (async function* () {
    for await (const line of createInterface({ input: child.stdout }))
      yield JSON.parse(line) as Record<string, never>;
  })();
  // A test that fails half way must not leave one that waits for ever.
  return { process: child, lines, exited, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? "{}") as Job);
