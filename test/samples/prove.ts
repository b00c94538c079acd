/**
 * The proof over real files: every file of a client's samples is parsed, validated, replayed, restored natively and
 * compared with its source, record by record. One unit at a time, so that memory is bounded by a session.
 */
import { relative } from "node:path";
import type { Adapter } from "../../src/adapters/kit/adapter/index.ts";
import type { Unit } from "../../src/adapters/kit/sources/index.ts";
import { describeDifference, isEqualFile } from "../../src/adapters/kit/restore/index.ts";
import { EventValidator } from "../../src/model/events/index.ts";
import { compareAll, openAt, readOpened, restoreNative, unitsOf } from "../support/adapter-run.ts";

export interface Proof {
  readonly units: number;
  readonly files: number;
  readonly records: number;
  readonly sessions: number;
  readonly messages: number;
  readonly parts: number;
  /** Records that came back unequal, and files that did not come back: each a line that says where. */
  readonly unequal: readonly string[];
  readonly violations: readonly string[];
  readonly waiting: number;
  readonly issues: Readonly<Record<string, number>>;
}

/** `accepts` picks units by key; all when absent. */
export async function prove(
  adapter: Adapter,
  root: string,
  accepts: (key: string) => boolean = () => true,
): Promise<Proof> {
  await using opened = await openAt(adapter, root);
  const listed = await unitsOf(opened);
  const units = listed.units.filter(({ key }) => accepts(key));
  const count = { files: 0, records: 0, sessions: 0, messages: 0, parts: 0, waiting: 0 };
  const issues: Record<string, number> = {};
  const unequal: string[] = [];
  const violations: string[] = [];
  for (const { kind } of listed.issues) issues[kind] = (issues[kind] ?? 0) + 1;
  for (const unit of units) {
    const run = await readOpened(opened, unit);
    const validator = new EventValidator();
    for (const event of run.events) {
      const violation = validator.check(event);
      if (violation !== undefined) violations.push(`${unit.key}: ${violation.message}`);
      count[`${event.kind}s`] += 1;
    }
    for (const { kind } of run.issues) issues[kind] = (issues[kind] ?? 0) + 1;
    count.waiting += run.waiting.length;
    const comparisons = await compareAll(await restoreNative(adapter, run.events), root);
    for (const comparison of comparisons) {
      count.files += 1;
      count.records += comparison.records;
      if (!isEqualFile(comparison)) unequal.push(describeDifference(comparison));
    }
    const restored = new Set(comparisons.map(({ path }) => path));
    const isRefused = run.events.length === 0 && run.issues.some(({ kind }) => kind === "no_project");
    if (!isRefused) unequal.push(...missingFiles(unit, root, restored));
  }
  return { units: units.length, ...count, unequal, violations, issues };
}

/** One line for people. */
export function summary(adapter: Adapter, proof: Proof): string {
  const { units, files, records, sessions, messages, parts, unequal, waiting } = proof;
  const issues = Object.entries(proof.issues).map(([kind, number]) => `${kind} ${number}`);
  return (
    `${adapter.name}: ${files} files, ${records} records, ${unequal.length} unequal; ` +
    `${units} units, ${sessions} sessions, ${messages} messages, ${parts} parts, ${waiting} waiting; ` +
    `issues: ${issues.join(", ") || "none"}`
  );
}

/**
 * A file with content must come back; an empty one holds no record and need not. Of a folder any file must, and the
 * log of a database comes back with the database.
 */
function missingFiles(unit: Unit, root: string, restored: ReadonlySet<string>): string[] {
  const isBack = (path: string): boolean =>
    restored.has(path) ||
    path.endsWith("-wal") ||
    restored.values().some((file) => file.startsWith(`${path}/`));
  return unit.files
    .filter(({ path, size }) => size > 0 && !isBack(relative(root, path)))
    .map(({ path }) => `${relative(root, path)}: not restored`);
}
