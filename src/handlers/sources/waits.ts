/** Sources that wait (spec.md#sync-waiting): which, why, and from when on a sync takes them. No sync is advised before. */
import type { Unit } from "../../adapters/index.ts";
import { isoTime } from "../../base/clock.ts";
import type { RememberedWait } from "../../state/index.ts";
import type { Wait } from "../../wire/sync.ts";
import type { Stale } from "./sweep.ts";

/** As it crosses threads. */
export type FoundWait = Omit<RememberedWait, "from"> & { readonly from?: number | undefined };

/** Of each client, at most. */
export const MOST_WAITS = 20;

/** Whole milliseconds since 1970, as they are remembered. */
export const newestChange = ({ files }: Unit): number =>
  Math.floor(files.reduce((newest, { mtime }) => Math.max(newest, mtime), 0));

export function reportedWait({ path, reason, changed, from }: FoundWait): Wait {
  const [at, until] = [isoTime(changed), from === undefined ? undefined : isoTime(from)];
  return {
    path,
    reason,
    ...(at === undefined ? {} : { changed: at }),
    ...(until === undefined ? {} : { from: until }),
  };
}

/** What is to be remembered after a sync: the new ones, and the old that are not over. */
export function waitsToRemember(
  found: readonly Wait[],
  old: readonly RememberedWait[],
  now: number,
): readonly RememberedWait[] {
  const added = found.flatMap(({ path, reason, changed, from }) =>
    changed === undefined || from === undefined
      ? []
      : [{ path, reason, changed: Date.parse(changed), from: Date.parse(from) }],
  );
  const known = new Set(added.map(({ path }) => path));
  return [...added, ...old.filter(({ path, from }) => from > now && !known.has(path))];
}

/** Changed sources in two: those that a sync takes now, and those that wait and are as the last one saw them. */
export function partedByWaits(
  stale: readonly Stale[],
  waits: readonly RememberedWait[],
  now: number,
): { readonly ready: readonly Stale[]; readonly waiting: readonly Wait[] } {
  const byPath = new Map(waits.map((wait) => [wait.path, wait]));
  const ready: Stale[] = [];
  const waiting: Wait[] = [];
  for (const source of stale) {
    const { unit } = source;
    const wait = byPath.get(unit.files[0]?.path ?? unit.key);
    const isWaiting = wait !== undefined && now < wait.from && newestChange(unit) === wait.changed;
    if (isWaiting) waiting.push(reportedWait(wait));
    else ready.push(source);
  }
  return { ready, waiting };
}

const SHOWN = 3;

/** The first of them for people, a line each. */
export function describeWaits(waits: readonly Wait[], now: number): readonly string[] {
  const lines = waits.slice(0, SHOWN).map(({ path, reason, from }) => {
    if (from === undefined) return `${path}: ${reason}; the next sync tries again`;
    const minutes = Math.max(1, Math.ceil((Date.parse(from) - now) / 60_000));
    const time = `${from.slice(0, 16).replace("T", " ")} UTC`;
    return `${path}: ${reason}; imported as is by a sync after ${time} (in ${minutes} min)`;
  });
  const left = waits.length - SHOWN;
  return left > 0 ? [...lines, `and ${left} more ${left === 1 ? "source" : "sources"}`] : lines;
}
