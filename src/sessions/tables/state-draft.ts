/** A state while it is being read: where each of its records turns out to be stored (spec.md#sources-state). */
import type { RecordPlace, StoredVersion } from "./claim.ts";
import { placeOf } from "./claim.ts";
import type { Holding, RecordedState, Run, SourceRead } from "./states.ts";
import { commonStart, countOf, firstRecords, joinRuns, SourceStates } from "./states.ts";

/** What was read of a source, as its reader tells it. */
export interface StateNote extends SourceRead {
  readonly records: number;
  readonly digest: string;
  readonly side: string;
  readonly kept: number;
  readonly present: readonly string[];
  readonly recorded?: number;
  readonly isWhole: boolean;
}

/** What of a state differs from what was asked for: then it is read again from its start. */
export type Unfinished = "lost" | "not kept";

export class StateDraft {
  /** Another writer took an id of it at the same moment: it is read again. */
  isLost = false;
  #runs: Run[] = [];
  /** Rows beside the log, by the record they are of. */
  readonly #side = new Map<string, string>();
  /** Records that are to stay as the state before had them, and where among the others. */
  readonly #kept: { readonly record: string; readonly at: number; readonly positioned: boolean }[] = [];

  append(place: RecordPlace | undefined): void {
    if (place === undefined) this.isLost = true;
    else this.#push("id" in place ? place : { origin: place.origin, from: place.seq, count: 1 });
  }

  appendSide(record: string, id: string | undefined): void {
    if (id === undefined) this.isLost = true;
    else this.#side.set(record, id);
  }

  keep(record: string, positioned: boolean): void {
    this.#kept.push({ record, positioned, at: this.#runs.length });
    // What comes after it begins a run of its own, so that it can stand between them.
    if (positioned) this.#runs.push({ origin: "", from: 0, count: 0 });
  }

  /** True where `finish` needs to know every row of the session. */
  get needsVersions(): boolean {
    return this.#kept.length > 0;
  }

  /**
   * The state to record, undefined where it is as it was. `before`: what is recorded of the same source. `versions`: every
   * version that is stored of the session's records, where that is needed.
   */
  finish(
    note: StateNote,
    {
      before,
      versions,
      now,
    }: {
      readonly before: readonly RecordedState[];
      readonly versions: Iterable<StoredVersion>;
      readonly now: number;
    },
  ): RecordedState | Unfinished | undefined {
    if (this.isLost) return "lost";
    const states = new SourceStates(before);
    const { latest } = states;
    if (note.kept > 0 && (latest === undefined || latest.records < note.kept)) return "not kept";
    const held = latest === undefined ? { runs: [], side: [] } : states.holding(latest.state);
    const holding = this.#holding(note, held, [...versions]);
    const { kept: _, present: __, recorded, isWhole, ...origin } = note;
    const isSame =
      latest !== undefined &&
      latest.digest === note.digest &&
      latest.side === note.side &&
      latest.records === note.records &&
      latest.whole === isWhole &&
      // Also where a table lost rows that were stored again since: they are other rows.
      isSameHolding(holding, held);
    if (isSame) return undefined;
    return {
      ...origin,
      state: (latest?.state ?? 0) + 1,
      read_at: now,
      recorded_at: recorded,
      whole: isWhole,
      content: states.encode(holding),
    };
  }

  #holding(note: StateNote, before: Holding, versions: readonly StoredVersion[]): Holding {
    const stays = (record: string): StoredVersion | undefined =>
      versions.find((version) => version.record === record && isHeld(version, before));
    const runs = [...this.#runs];
    for (const { record, at, positioned } of this.#kept) {
      const version = stays(record);
      if (version === undefined) continue;
      if (!positioned) this.#side.set(record, version.id);
      else {
        const place = placeOf(version);
        runs[at] = "id" in place ? place : { origin: place.origin, from: place.seq, count: 1 };
      }
    }
    const present = new Set(note.present);
    // What was not told again is as it was; what is no longer there is gone, unless not all of it could be looked at.
    const side = before.side.filter(
      ({ record }) => !this.#side.has(record) && (!note.isWhole || present.has(record)),
    );
    return {
      runs: joinRuns([...firstRecords(before.runs, note.kept), ...runs]),
      side: [...side, ...[...this.#side].map(([record, id]) => ({ record, id }))],
    };
  }

  #push(run: Run): void {
    const last = this.#runs.at(-1);
    if (last === undefined || "id" in run || "id" in last) this.#runs.push(run);
    else if (last.count > 0 && last.origin === run.origin && last.from + last.count === run.from)
      this.#runs[this.#runs.length - 1] = { ...last, count: last.count + run.count };
    else this.#runs.push(run);
  }
}

function isSameHolding(a: Holding, b: Holding): boolean {
  const count = (runs: readonly Run[]): number => runs.reduce((sum, run) => sum + countOf(run), 0);
  const ids = new Set(a.side.map(({ id }) => id));
  const isSideSame = a.side.length === b.side.length && b.side.every(({ id }) => ids.has(id));
  const records = count(a.runs);
  return isSideSame && records === count(b.runs) && commonStart(a.runs, b.runs) === records;
}

/** True where a state holds this row. */
function isHeld({ id, origin, seq }: StoredVersion, { runs, side }: Holding): boolean {
  if (side.some((row) => row.id === id)) return true;
  return runs.some((run) =>
    "id" in run
      ? run.id === id
      : origin === run.origin && seq !== null && seq >= run.from && seq < run.from + run.count,
  );
}
