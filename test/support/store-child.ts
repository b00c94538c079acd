/**
 * A process of its own for tests of the substrate: takes one job as JSON in its first argument and reports
 * by lines of JSON on stdout. Run by `storeChild`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
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
  /** Fills the disk until it is refused, frees space, goes on. Says what it saw. */
  | { readonly kind: "fill"; readonly url: string };

async function run(job: Job): Promise<void> {
  if (job.kind === "race") return race(job);
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

export interface StoreChild {
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
  return { process: child, lines, exited };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? "{}") as Job);
