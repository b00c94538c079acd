/** Which state of a session is restored: its newest end, another end, or what one of its sources had (spec.md#sources-order). */
import { PondError } from "../base/errors.ts";
import type { Session } from "../model/index.ts";
import type { End, SessionStore, Shown, StateChoice } from "../sessions/index.ts";
import { realPathOf } from "./importer.ts";
import { namedPath } from "./sources.ts";

export interface StateRequest {
  /** 1 is the newest. */
  readonly end?: number;
  /** The path that it was read from, or the id of the source. */
  readonly source?: string;
}

/** What was restored, of how many ways the session went. */
export interface RestoredState {
  readonly source: string;
  readonly path: string;
  /** Its number among those of its source. */
  readonly state: number;
  readonly records: number;
  /** Its place among the ends of the session, 1 for the newest; absent for a state that another source has gone on from. */
  readonly end?: number;
  readonly ends: number;
}

/** Empty where nothing is asked for: then the newest end counts. */
export async function chosenState(
  store: SessionStore,
  { id }: Session,
  { end, source, home }: StateRequest & { readonly home: string },
): Promise<ReadonlyMap<string, StateChoice>> {
  if (end === undefined && source === undefined) return new Map();
  if (end !== undefined && source !== undefined)
    throw new PondError("validation_failed", "--end and --source each name a state", { hint: "give one" });
  const views = await store.views(id);
  const ends = views?.ends() ?? [];
  if (end !== undefined) {
    const head = ends[end - 1];
    if (head !== undefined) return new Map([[id, head]]);
    throw new PondError("validation_failed", `session ${id} has no end ${end}`, {
      hint: ends.length === 0 ? "no state of it is recorded" : `it has ${ends.length}, 1 is the newest`,
    });
  }
  const sources = views?.history.sources ?? [];
  const named = source ?? "";
  const paths = new Set([named, namedPath(named, home), realPathOf(namedPath(named, home))]);
  const found = sources.flatMap(({ latest }) =>
    latest !== undefined && (latest.source === named || paths.has(latest.path)) ? [latest] : [],
  );
  // Of several machines that read the same path, the newest.
  const head = ends.find((each) => found.some((one) => one === each)) ?? newest(found);
  if (head !== undefined) return new Map([[id, head]]);
  throw new PondError("not_found", `session ${id} was not read from ${named}`, {
    hint: sources.flatMap(({ latest }) => latest?.path ?? []).join(", ") || "no state of it is recorded",
  });
}

function newest<T extends { readonly recorded_at: number | undefined }>(heads: readonly T[]): T | undefined {
  return heads.toSorted((a, b) => (b.recorded_at ?? 0) - (a.recorded_at ?? 0))[0];
}

export function describeState({ end: { state }, ends }: Shown): RestoredState {
  const { source, path, state: number, records } = state;
  const place = ends.findIndex((each: End) => each.state.source === source && each.state.state === number);
  return {
    source,
    path,
    state: number,
    records,
    ...(place === -1 ? {} : { end: place + 1 }),
    ends: ends.length,
  };
}
