/** Which state of a session is restored: its newest end, another end, or what one of its sources had (spec.md#adapter-restore-state). */
import { PondError } from "../../base/errors.ts";
import type { Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import type { Session } from "../../model/index.ts";
import type { End, SourceStates, StateChoice } from "../../sessions/states/index.ts";
import type { SessionStore, Shown } from "../../sessions/index.ts";
import { isSameState } from "../../sessions/states/index.ts";
import type { RestoredState, StateRequest } from "../../wire/restore.ts";
import { realPathOf } from "../import/importer.ts";
import { namedPath } from "../sources/sources.ts";

/** Empty where nothing is asked for: then the newest end counts. */
export async function chosenState(
  store: SessionStore,
  { id }: Session,
  { end, source, state, home }: StateRequest & { readonly home: string },
): Promise<ReadonlyMap<string, StateChoice>> {
  if (end === undefined && source === undefined && state === undefined) return new Map();
  if (end !== undefined && (source !== undefined || state !== undefined)) {
    const other = { field: source === undefined ? "state" : "source" } as const;
    throw new PondError("validation_failed", sentence`${{ field: "end" }} and ${other} each name a state`, {
      hint: `give only one of them`,
      data: { field: "end", value: end },
    });
  }
  const views = await store.views(id);
  const ends = views?.ends() ?? [];
  if (end !== undefined) return new Map([[id, endNumbered(ends, end, id)]]);
  const history = views?.history;
  const states =
    source === undefined
      ? onlySource(history?.readSources ?? [], id)
      : sourceNamed(history?.sources ?? [], source, { home, id });
  return new Map([[id, stateNumbered(states, state, id)]]);
}

function endNumbered<T>(ends: readonly T[], end: number, id: string): T {
  const head = ends[end - 1];
  if (head !== undefined) return head;
  const several = `its ends are 1, the newest, to ${ends.length}`;
  throw new PondError("validation_failed", `session ${id} has no end ${end}`, {
    hint:
      [UNRECORDED, sentence`leave ${{ field: "end" }} out; this session has one end`][ends.length] ?? several,
    data: { field: "end", value: end },
  });
}

const UNRECORDED = "no state of it is recorded";

function onlySource(sources: readonly SourceStates[], id: string): SourceStates {
  const [only, ...others] = sources;
  if (only !== undefined && others.length === 0) return only;
  const count = sources.length === 0 ? "no recorded source" : `${sources.length} sources`;
  throw new PondError(
    "validation_failed",
    sentence`session ${id} has ${count}, and ${{ field: "state" }} is a number of one`,
    { hint: sources.length === 0 ? UNRECORDED : howToName(sources), data: { field: "source" } },
  );
}

function sourceNamed(
  sources: readonly SourceStates[],
  named: string,
  { home, id }: { readonly home: string; readonly id: string },
): SourceStates {
  const paths = new Set([named, namedPath(named, home), realPathOf(namedPath(named, home))]);
  const found = sources.filter(
    ({ latest }) => latest !== undefined && (latest.source === named || paths.has(latest.path)),
  );
  // Several machines may have read the same path: where they found the same there, any of them will do.
  const contents = new Set(found.map(({ latest }) => `${latest?.records} ${latest?.digest} ${latest?.side}`));
  if (contents.size > 1)
    throw new PondError(
      "validation_failed",
      `${named} names ${found.length} sources of session ${id}: several machines read that path`,
      { hint: howToName(found), data: { field: "source", value: named } },
    );
  const states = newest(found);
  if (states !== undefined) return states;
  throw new PondError("not_found", `session ${id} was not read from ${named}`, {
    hint: sources.length === 0 ? UNRECORDED : howToName(sources),
    data: { field: "source", value: named },
  });
}

/** The id too where a path alone would not tell them apart. */
function howToName(sources: readonly SourceStates[]): Sentence {
  const heads = sources.flatMap(({ latest }) => latest ?? []);
  const isDistinct = new Set(heads.map(({ path }) => path)).size === heads.length;
  const names = heads.map(({ path, source }) => (isDistinct ? path : `${path} (${source})`));
  return sentence`write ${{ field: "source" }} <path or id>, with one of: ${names.join(", ")}`;
}

/** The latest where no number is given. */
function stateNumbered({ all, latest }: SourceStates, state: number | undefined, id: string): StateChoice {
  const head = state === undefined ? latest : all.find((each) => each.state === state);
  if (head !== undefined) return head;
  const range = rangeOf(all.map((each) => each.state));
  throw new PondError(
    "validation_failed",
    `there is no state ${state} of session ${id} as it was read from ${latest?.path}`,
    {
      hint:
        all.length === 1
          ? sentence`leave ${{ field: "state" }} out; its only state is ${range}`
          : `its states are ${range}; the last is the newest`,
      data: { field: "state", value: state },
    },
  );
}

/** Numbers in order, as people write them. */
function rangeOf(numbers: readonly number[]): string {
  const [first = 0, last = first] = [numbers[0], numbers.at(-1)];
  if (first === last) return `${first}`;
  return last - first === numbers.length - 1 ? `${first} to ${last}` : numbers.join(", ");
}

function newest(sources: readonly SourceStates[]): SourceStates | undefined {
  const at = ({ latest }: SourceStates): number => latest?.recorded_at ?? 0;
  return sources.toSorted((a, b) => at(b) - at(a))[0];
}

/** True for one that is not what the session is now. */
export function isEarlierState(state: RestoredState | undefined): boolean {
  return state !== undefined && (state.end !== 1 || state.state !== state.states.at(-1));
}

/** `mapped`: the files that restores with mapped paths wrote. */
export function describeState(
  { end: { state, states }, ends }: Shown,
  mapped: ReadonlySet<string>,
): RestoredState {
  const { source, path, state: number, records } = state;
  // Another source may have come to the same end.
  const place = ends.findIndex((each: End) => isSameState(each.state, state));
  return {
    source,
    path,
    state: number,
    states: states.all.map((each) => each.state),
    records,
    ...(place === -1 ? {} : { end: place + 1 }),
    ends: ends.length,
    ...(mapped.has(path) ? { mapped_paths: true as const } : {}),
  };
}
