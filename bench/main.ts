/** `npm run bench -- <name>`: each benchmark is a file of its own. Times are noisy here: read the ratios. */
const BENCHMARKS: Readonly<Record<string, () => Promise<{ run(): void | Promise<void> }>>> = {
  disk: () => import("./disk.ts"),
  growth: () => import("./growth.ts"),
  ingest: () => import("./ingest.ts"),
  inserts: () => import("./inserts.ts"),
  json: () => import("./json.ts"),
  parse: () => import("./parse.ts"),
  reads: () => import("./reads.ts"),
  retrieval: () => import("./retrieval.ts"),
  search: () => import("./search.ts"),
  sync: () => import("./sync.ts"),
};

const load = BENCHMARKS[process.argv[2] ?? ""];
if (load === undefined) {
  console.error(`usage: npm run bench -- <${Object.keys(BENCHMARKS).join("|")}>`);
  process.exitCode = 2;
} else await (await load()).run();
