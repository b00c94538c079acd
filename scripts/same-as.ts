/**
 * Whether this checkout does what another one does: `node scripts/same-as.ts <checkout of the commit before>`, both of
 * them built. Each syncs the same sources in a home of its own, and all rows must be equal; both answer the same
 * commands about the store of the one before; and that store and its state folder are synced by this one without reading
 * a source again. What may differ is listed in same-as/accepted.ts. `--only fixtures` leaves the samples out, `--only
 * rows` the commands (both may be given); `--keep` leaves the folder there to look around in.
 */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { compareAnswers } from "./same-as/answers.ts";
import { compareGrowth } from "./same-as/growth.ts";
import { makeBench } from "./same-as/homes.ts";
import type { Report } from "./same-as/report.ts";
import { newReport } from "./same-as/report.ts";
import { compareRestores } from "./same-as/restores.ts";
import { compareStores } from "./same-as/rows.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", multiple: true, default: [] },
    keep: { type: "boolean", default: false },
  },
});
const [checkout] = positionals;
const { only, keep } = values;
if (checkout === undefined || only.some((what) => what !== "fixtures" && what !== "rows")) {
  console.error(
    "usage: node scripts/same-as.ts <checkout of the commit before> [--only fixtures|rows] [--keep]",
  );
  process.exit(2);
}

const report = newReport();
const bench = makeBench(checkout, { withSamples: !only.includes("fixtures") });
try {
  await step("rows", async (found) => {
    await Promise.all([bench.sync(bench.before), bench.sync(bench.after)]);
    const stores = { before: bench.before.store, after: bench.after.store, hasBatches: bench.withSamples };
    return await compareStores(stores, found);
  });
  if (!only.includes("rows")) {
    await step("answers", (found) => compareAnswers(bench, found));
    await step("restores", (found) => compareRestores(bench, found));
  }
  await step("old store, old state", (found) => compareGrowth(bench, found));
} finally {
  if (keep) console.log(`kept: ${bench.folder}`);
  else rmSync(bench.folder, { recursive: true, force: true });
}
if (!bench.withSamples) console.log("\nfixtures only");
console.log(report.differences === 0 ? "all equal" : `${report.differences} differences`);
process.exitCode = report.differences === 0 ? 0 : 1;

async function step(title: string, run: (found: Report) => Promise<number>): Promise<void> {
  const started = performance.now();
  console.log(`\n${title}`);
  const earlier = report.differences;
  const looked = await run(report);
  // A comparison of nothing proves nothing.
  if (looked === 0) report.add("nothing was compared");
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`  ${looked} compared, ${report.differences - earlier} differences, ${seconds} s`);
}
