/**
 * A recorded state against the files it was read from, record by record and both ways (spec.md#keep-verify): what restores
 * must be on disk, equal, and what is on disk must restore. Independent of how the adapter reads: the files are compared
 * as they stand there.
 */
import { join } from "node:path";
import type { FileComparer, FileComparison, Restored, RestoredFile } from "../../adapters/restore.ts";
import type { Inventory, Unit } from "../../adapters/index.ts";
import { describeDifference, isEqualFile } from "../../adapters/restore.ts";
import { isSameStamp, stampNow } from "../../adapters/index.ts";
import { errnoOf, toPondError } from "../../base/errors.ts";
import type { SessionState } from "../../model/events/index.ts";
import type { Context } from "../context/context.ts";
import type { Source, ReadSession } from "../import/dry-read.ts";

export interface SourceComparison {
  readonly files: readonly FileComparison[];
  /** What differs, a line a file. */
  readonly differences: readonly string[];
}

/**
 * `grown`: the log on disk may have more records than are restored, and files beside it may have changed. Of a log that is
 * one document only the digest of what is stored can tell.
 */
export type Strictness = "exact" | "grown";

/** What the files of a unit were found to hold, session by session. */
export class UnitCoverage {
  readonly #files = new Set<string>();
  readonly #tables = new Map<string, number>();

  cover(path: string, { tables }: Pick<FileComparison, "tables">): void {
    this.#files.add(path);
    for (const [name, rows] of tables ?? []) this.#tables.set(name, (this.#tables.get(name) ?? 0) + rows);
  }

  /** A file that is told line by line and not restored as such. */
  coverFile(path: string): void {
    this.#files.add(path);
  }

  /** What is on disk and belongs to no session that was compared. */
  missing({ files, tables }: Inventory): readonly string[] {
    return [
      ...files.filter((path) => !this.#files.has(path)).map((path) => `${path} is not stored`),
      ...tables.flatMap(({ name, rows }) => {
        const left = rows - (this.#tables.get(name) ?? 0);
        return left === 0
          ? []
          : [
              `${left} of ${rows} rows of the table ${name} ${left === 1 ? "belongs" : "belong"} to no stored session`,
            ];
      }),
    ];
  }
}

interface Comparing {
  readonly source: Source;
  readonly readSession: ReadSession;
  readonly comparer: FileComparer;
  readonly coverage: UnitCoverage;
  readonly strictness: Strictness;
}

/** Each session alone: memory is bounded by one. Throws where it cannot be restored. */
export async function compareSource(
  context: Context,
  stored: SessionState,
  { source, readSession, comparer, coverage, strictness }: Comparing,
): Promise<SourceComparison> {
  const { adapter, unit, opened } = source;
  if (adapter.restore.kind === "unsupported") return { files: [], differences: [] };
  const { key, form } = readSession.state;
  let restored: Restored;
  try {
    restored = await adapter.restore.serialize(
      { state: { ...stored, source: { key, form } }, children: [] },
      { fidelity: "native", layout: "source", mapPath: (path) => path, now: context.clock.now() },
    );
  } catch (error) {
    const { message } = toPondError(error);
    return { files: [], differences: [`session ${stored.session.id} cannot be restored: ${message}`] };
  }
  const files: FileComparison[] = [];
  const differences: string[] = [];
  for (const file of restored.files) {
    const path = onDisk(unit, join(opened.place.path, file.path));
    const comparison = await compareOne(comparer, file, path);
    if (comparison === undefined) {
      // What stood beside a log that went on may be gone.
      if (strictness === "exact" || file.path === key) differences.push(`${path} is not on disk`);
      continue;
    }
    coverage.cover(path, comparison);
    if (isEqualFile(comparison)) files.push(comparison);
    else if (strictness === "exact" || (file.kind === "jsonl" && !isGrowth(file, comparison))) {
      files.push(comparison);
      differences.push(`${path}: ${withoutPath(describeDifference(comparison), file.path)}`);
    } else if (file.kind === "jsonl") {
      const records = file.records.length;
      files.push({ path: file.path, records, equal: records });
    }
  }
  return { files, differences };
}

async function compareOne(
  comparer: FileComparer,
  file: RestoredFile,
  path: string,
): Promise<FileComparison | undefined> {
  try {
    return await comparer.compare(file, path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The log has more records, all of them behind those that are stored. */
function isGrowth({ records }: RestoredFile & { kind: "jsonl" }, { difference }: FileComparison): boolean {
  return difference?.restored === undefined && (difference?.record ?? 0) >= records.length;
}

function withoutPath(text: string, path: string): string {
  return text.startsWith(`${path}: `) ? text.slice(path.length + 2) : text;
}

/** Where the source is now: clients compress old logs under the same name with `.zst`. */
function onDisk(unit: Unit, path: string): string {
  return unit.files.find((file) => file.path === `${path}.zst`)?.path ?? path;
}

/** True where a file of the unit is not as it was when the sources were listed: a client is at work. */
export function isTouched({ files }: Unit): boolean {
  return files.some((file) => {
    const now = stampNow(file.path);
    // What stands for many files has a stamp of its own.
    return now !== undefined && now.device === file.device && !isSameStamp(now, file);
  });
}
