/**
 * What it costs to add rows to a table that holds many: each measurement in a process of its own, on a copy of the same
 * table, so that peak memory is its own. Flat means that the last line is like the first.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTable, openStore, type Table } from "../src/substrate/index.ts";
import { LAUNCHER_ENV, LAUNCHER_FLAGS } from "./launcher.ts";

const SIZES = [0, 250_000, 1_000_000];
const BATCH = 20_000;
/** Rows of one session; the first one holds a quarter of all. */
const SESSION_ROWS = 500;

const ROWS = defineTable({
  name: "rows",
  version: 1,
  primaryKey: ["session_id", "id"],
  columns: {
    session_id: { type: "utf8" },
    id: { type: "utf8" },
    content: { type: "utf8", nullable: true, packed: "together" },
  },
});

/** What is added: new sessions, a few rows more of the largest one, and again what was added last. */
const CASES = [
  { name: "10k of new sessions", rows: 10_000, session: (row: number) => `new ${Math.floor(row / 100)}` },
  { name: "50 of the largest", rows: 50, session: () => "session 0" },
  { name: "10k of the largest", rows: 10_000, session: () => "session 0" },
];

export async function run(): Promise<void> {
  const [mode, folder, which] = process.argv.slice(3);
  if (mode === "add" && folder !== undefined) return measure(folder, CASES[Number(which)]!);
  console.log("added                 to rows   CPU ms   wall ms   peak MB   read MB");
  for (const size of SIZES) {
    const made = mkdtempSync(join(tmpdir(), "pond-bench-"));
    try {
      await fill(made, size);
      for (const index of CASES.keys()) report(made, size, index);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  }
}

async function fill(folder: string, size: number): Promise<void> {
  await using store = await openStore(folder);
  const table = await store.table(ROWS);
  for (let start = 0; start < size; start += BATCH)
    await add(table, Math.min(BATCH, size - start), (row) => {
      const at = start + row;
      return at % 4 === 0 ? "session 0" : `session ${Math.floor(at / SESSION_ROWS) + 1}`;
    });
  await table.maintain({ force: true, retentionMs: 0 });
}

async function add(
  table: Table<typeof ROWS>,
  rows: number,
  session: (row: number) => string,
): Promise<number> {
  const batch = table.batch();
  for (let row = 0; row < rows; row++)
    batch.add({ session_id: session(row), id: crypto.randomUUID(), content: `${row} ${"word ".repeat(40)}` });
  return (await table.insert(batch.finish())).inserted;
}

/** The least of three, each on a copy. */
function report(made: string, size: number, index: number): void {
  const results = Array.from({ length: 3 }, () => {
    const copy = mkdtempSync(join(tmpdir(), "pond-bench-"));
    try {
      cpSync(made, copy, { recursive: true });
      const args = [...LAUNCHER_FLAGS, process.argv[1] ?? "", "inserts", "add", copy, String(index)];
      const env = { ...process.env, ...LAUNCHER_ENV };
      return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env })) as Measured;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
  const least = (of: keyof Measured): number => Math.min(...results.map((result) => result[of]));
  const cells = [
    CASES[index]!.name.padEnd(20),
    String(size).padStart(8),
    least("cpu").toFixed(0).padStart(8),
    least("wall").toFixed(0).padStart(9),
    least("peak").toFixed(0).padStart(9),
    least("read").toFixed(1).padStart(9),
  ];
  console.log(cells.join(" "));
}

interface Measured {
  readonly cpu: number;
  readonly wall: number;
  /** Growth of resident memory. */
  readonly peak: number;
  readonly read: number;
}

async function measure(folder: string, { rows, session }: (typeof CASES)[number]): Promise<void> {
  await using store = await openStore(folder);
  const table = await store.table(ROWS);
  const batch = table.batch();
  for (let row = 0; row < rows; row++)
    batch.add({ session_id: session(row), id: crypto.randomUUID(), content: `${row} ${"word ".repeat(40)}` });
  const finished = batch.finish();
  const rss = process.memoryUsage().rss;
  const read = bytesRead();
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  const { inserted } = await table.insert(finished);
  const wall = Number(process.hrtime.bigint() - start) / 1e6;
  const { user, system } = process.cpuUsage(cpu);
  if (inserted !== rows) throw new Error(`${inserted} of ${rows} rows were inserted`);
  const peak = process.resourceUsage().maxRSS / 1024 - rss / (1 << 20);
  console.log(JSON.stringify({ cpu: (user + system) / 1000, wall, peak, read: (bytesRead() - read) / 1e6 }));
}

/** By calls, also of what the page cache holds; 0 where the system does not tell. */
function bytesRead(): number {
  try {
    return Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
