/** The files of a local store: what of them is damaged, and what can be done about it before its tables are opened. */
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { PondError } from "../base/errors.ts";
import type { CheckOptions, ExpectedTable, MissingTables, TableCheck } from "../substrate/local/index.ts";
import {
  checkStore,
  dropOldVersions,
  emptyQuarantine,
  forgetLost,
  listRemains,
  mendVersions,
  missingTables,
  moveRemains,
  removeDerived,
  removeRemains,
  tidySums,
  withStoreLock,
} from "../substrate/local/index.ts";
import { parseStorageUrl } from "../substrate/index.ts";
import { isDerivedTable, MESSAGES, PARTS, SESSIONS, SOURCES } from "./tables/schema.ts";
import type { Storage } from "./store.ts";

/** Looks at the files of a local store (spec.md#storage-checksums); at nothing of a store elsewhere. */
export function checkFiles(
  { url, namespace }: Pick<Storage, "url" | "namespace">,
  options: CheckOptions & { readonly tables?: readonly string[] },
): Promise<TableCheck[]> {
  return checkStore(parseStorageUrl(url), namespace, { ...options, expected: EXPECTED });
}

/** Tables that a local store lacks, and those of them that it has lost (spec.md#storage-lost-tables). */
export function missingIn({ url, namespace }: Pick<Storage, "url" | "namespace">): Promise<MissingTables> {
  return missingTables(parseStorageUrl(url), namespace, EXPECTED);
}

/** Stores of an older pond have no table of sources; since version 2 of messages every store has. */
const EXPECTED: readonly ExpectedTable[] = [
  { name: SESSIONS.name },
  { name: MESSAGES.name },
  { name: PARTS.name },
  { name: SOURCES.name, since: { table: MESSAGES.name, version: 2 } },
];

/** Runs alone among all processes that use this store, whoever's they are, in work of one kind. Waits for the others. */
export async function aloneIn<T>(
  { url, namespace }: Pick<Storage, "url" | "namespace">,
  { kind, clock }: { readonly kind: string; readonly clock: Clock },
  run: () => Promise<T>,
): Promise<T> {
  const alone = await withStoreLock(parseStorageUrl(url), { namespace, kind, clock }, run);
  if (alone !== undefined) return alone.value;
  throw new PondError("conflict", `another ${kind} is working on ${url}`, {
    reason: "busy",
    hint: "wait for it to end, then try again",
  });
}

export interface Cleared {
  /** What was done, for people. */
  readonly done: readonly string[];
  /** Commits were lost, or whole tables: cursors may call rows stored that are not. */
  readonly isDoubtful: boolean;
}

/** Takes away what keeps tables from being opened: damaged versions, remains of lost tables, and derived tables. */
export async function clearTheWay(checks: readonly TableCheck[]): Promise<Cleared> {
  const done: string[] = [];
  let isDoubtful = false;
  for (const check of checks) {
    const { table, directory, damage } = check;
    if (damage.length === 0) continue;
    if (isDerivedTable(table)) {
      await removeDerived(directory);
      done.push(`${table}: rebuilt, since everything in it can be computed`);
      continue;
    }
    const isGone = damage.some(({ holds }) => holds === "table");
    const lines = isGone ? [await clearLost(check)] : await mendVersions(check);
    isDoubtful ||= lines.length > 0;
    done.push(...lines);
  }
  return { done, isDoubtful };
}

async function clearLost({ table, directory }: TableCheck): Promise<string> {
  const remains = await moveRemains(directory);
  const where = remains === undefined ? "" : `; what is left of its files is in ${remains}`;
  return `${table}: all of it was lost, and it was created anew${where}`;
}

/** Lets go of what only old versions needed, and of checksums of versions that are lost; takes those that are missing. */
export async function letGo(checks: readonly TableCheck[]): Promise<void> {
  for (const check of checks) {
    if (check.unsummed > 0) await tidySums(check.directory);
    if (check.damage.length === 0) continue;
    await dropOldVersions(check);
    await forgetLost(check.directory);
  }
}

/** Folders with what is left of lost tables: they stay until every session is proven without them, or a person deletes them. */
export async function remainsOf({
  url,
  namespace,
}: Pick<Storage, "url" | "namespace">): Promise<readonly string[]> {
  const { kind, href } = parseStorageUrl(url);
  return kind === "local" ? listRemains(join(href, namespace)) : [];
}

/** What was moved away is of no use any more: everything is proven without it. */
export async function forgetWhatWas(checks: readonly TableCheck[]): Promise<void> {
  for (const { directory } of checks) await emptyQuarantine(directory);
  const [first] = checks;
  if (first !== undefined) await removeRemains(dirname(first.directory));
}
