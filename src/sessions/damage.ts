/** The files of a local store: what of them is damaged, and what can be done about it before its tables are opened. */
import type { CheckOptions, TableCheck } from "../substrate/index.ts";
import {
  checkStore,
  dropOldVersions,
  emptyQuarantine,
  forgetLost,
  mendVersions,
  parseStorageUrl,
  removeDerived,
} from "../substrate/index.ts";
import { SUMMARIES } from "./schema.ts";
import type { Storage } from "./store.ts";

/** Looks at the files of a local store (spec.md#storage-checksums); at nothing of a store elsewhere. */
export function checkFiles(
  { url, namespace }: Pick<Storage, "url" | "namespace">,
  options: CheckOptions,
): Promise<TableCheck[]> {
  return checkStore(parseStorageUrl(url), namespace, options);
}

/** Takes away what keeps tables from being opened: damaged versions, and derived tables. Says what was done, for people. */
export async function clearTheWay(checks: readonly TableCheck[]): Promise<string[]> {
  const done: string[] = [];
  for (const check of checks) {
    if (check.damage.length === 0) continue;
    if (check.table === SUMMARIES.name) {
      await removeDerived(check.directory);
      done.push(`${check.table}: made again, as all that it holds can be computed`);
    } else done.push(...(await mendVersions(check)));
  }
  return done;
}

/** Lets go of what only old versions needed, and of checksums of versions that are lost. */
export async function letGo(checks: readonly TableCheck[]): Promise<void> {
  for (const check of checks) {
    if (check.damage.length === 0) continue;
    await dropOldVersions(check);
    await forgetLost(check.directory);
  }
}

/** What was moved away is of no use any more: everything is proven without it. */
export async function forgetWhatWas(checks: readonly TableCheck[]): Promise<void> {
  for (const { directory } of checks) await emptyQuarantine(directory);
}
