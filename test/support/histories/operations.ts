/**
 * What may happen to the sources of a session and to the stores that read them, as plain data: a history is a list of
 * these, interpreted one after the other. What is impossible when its turn comes does nothing, so that a history stays a
 * history whatever is taken out of it, and shrinks.
 */
import fc from "fast-check";
import type { Fault, Write } from "./disk.ts";
import { FAULTS, WRITES } from "./disk.ts";
import type { SessionNumber, Turn } from "./source-model.ts";
import { TURNS } from "./source-model.ts";

/** The first is seen by both machines; of the others each machine has one, by the same path. */
export type PlaceNumber = 0 | 1 | 2;
export type MachineNumber = 0 | 1;

interface Target {
  readonly place: PlaceNumber;
  readonly session: SessionNumber;
}

interface Reading {
  readonly machine: MachineNumber;
  readonly places: readonly PlaceNumber[];
}

export type Operation =
  | (Target & { readonly kind: "append"; readonly turn: Turn; readonly how: Write })
  /** The last line has no newline yet. */
  | (Target & { readonly kind: "tear"; readonly turn: Turn; readonly isWhole: boolean })
  | (Target & { readonly kind: "truncate"; readonly count: number; readonly how: Write })
  | (Target & { readonly kind: "drop"; readonly at: number; readonly how: Write })
  /** One record under its id, with another text. `isQuiet`: no recorded time tells. */
  | (Target & {
      readonly kind: "rewrite";
      readonly at: number;
      readonly isSameLength: boolean;
      readonly isQuiet: boolean;
      readonly how: Write;
    })
  /** Everything under the session's id, with other content. */
  | (Target & { readonly kind: "rewrite all"; readonly turns: readonly Turn[]; readonly how: Write })
  | (Target & {
      readonly kind: "side file";
      readonly file: number;
      readonly content: "A" | "B" | "gone";
      readonly isOlder: boolean;
    })
  /** The state of another place, or an older one of the same; `back`: so many states before the present one. */
  | (Target & {
      readonly kind: "copy";
      readonly from: PlaceNumber;
      readonly back: number;
      readonly isOlder: boolean;
    })
  /** A copy, and then each goes its own way. */
  | (Target & { readonly kind: "diverge"; readonly from: PlaceNumber; readonly turn: Turn })
  | (Target & { readonly kind: "remove" })
  | (Target & { readonly kind: "fault"; readonly file: number; readonly fault: Fault })
  | (Target & { readonly kind: "heal" })
  /** `isLive`: while the client may be at work. `isFull`: whatever the cursors say. */
  | (Reading & { readonly kind: "sync"; readonly isLive: boolean; readonly isFull: boolean })
  /** The machine stops between look-up and insert until the other one has synced. */
  | (Reading & { readonly kind: "race"; readonly table: "parts" | "messages" | "sessions" })
  /** A sync in a process of its own that dies at the point of this number, where it gets that far. */
  | (Reading & { readonly kind: "kill"; readonly point: number })
  /** A machine loses its cursors. */
  | { readonly kind: "forget"; readonly machine: MachineNumber };

export type OperationKind = Operation["kind"];

export interface HistoryOptions {
  readonly kinds: readonly OperationKind[];
  readonly places: number;
  readonly machines: number;
  readonly length: number;
  /** How sources are written; in any way when absent. */
  readonly writes?: readonly Write[];
}

/** Kinds that happen more often than others, so that what is written is also read. */
const WEIGHTS: Partial<Record<OperationKind, number>> = {
  append: 4,
  sync: 6,
  copy: 2,
  diverge: 2,
  rewrite: 2,
  fault: 2,
  "side file": 2,
};

export function histories(options: HistoryOptions): fc.Arbitrary<readonly Operation[]> {
  const arbitraries = operations(options);
  const chosen = options.kinds.map((kind) => ({ weight: WEIGHTS[kind] ?? 1, arbitrary: arbitraries[kind] }));
  return fc.array(fc.oneof(...chosen), { minLength: 1, maxLength: options.length, size: "max" });
}

function operations({
  places,
  machines,
  writes = WRITES,
}: HistoryOptions): Record<OperationKind, fc.Arbitrary<Operation>> {
  const place = fc.nat(places - 1) as fc.Arbitrary<PlaceNumber>;
  const machine = fc.nat(machines - 1) as fc.Arbitrary<MachineNumber>;
  // Of the two sessions the first is where most happens.
  const session = fc.constantFrom<SessionNumber>(0, 0, 0, 1);
  const target = { place, session };
  const turn = fc.constantFrom(...TURNS);
  const how = fc.constantFrom(...writes);
  const some = fc.nat(7);
  const isOlder = fc.boolean();
  const reading = {
    machine,
    places: fc.subarray([...Array(places).keys()] as PlaceNumber[], { minLength: 1 }),
  };
  const of = <K extends OperationKind>(
    kind: K,
    fields: { readonly [F in Exclude<keyof Extract<Operation, { kind: K }>, "kind">]: fc.Arbitrary<unknown> },
  ): fc.Arbitrary<Operation> =>
    fc.record({ kind: fc.constant(kind), ...fields }) as fc.Arbitrary<unknown> as fc.Arbitrary<Operation>;
  return {
    append: of("append", { ...target, turn, how }),
    tear: of("tear", { ...target, turn, isWhole: fc.boolean() }),
    truncate: of("truncate", { ...target, count: fc.integer({ min: 1, max: 4 }), how }),
    drop: of("drop", { ...target, at: some, how }),
    rewrite: of("rewrite", { ...target, at: some, isSameLength: fc.boolean(), isQuiet: fc.boolean(), how }),
    "rewrite all": of("rewrite all", {
      ...target,
      turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
      how,
    }),
    "side file": of("side file", {
      ...target,
      file: fc.nat(1),
      content: fc.constantFrom("A", "B", "gone"),
      isOlder,
    }),
    copy: of("copy", { ...target, from: place, back: fc.nat(3), isOlder }),
    diverge: of("diverge", { ...target, from: place, turn }),
    remove: of("remove", target),
    fault: of("fault", { ...target, file: some, fault: fc.constantFrom(...FAULTS) }),
    heal: of("heal", target),
    sync: of("sync", { ...reading, isLive: fc.boolean(), isFull: fc.boolean() }),
    race: of("race", { ...reading, table: fc.constantFrom("parts", "messages", "sessions") }),
    kill: of("kill", { ...reading, point: fc.nat(11) }),
    forget: of("forget", { machine }),
  };
}

/** One line an operation, for a report of what failed. */
export function describeHistory(history: readonly Operation[]): string {
  return history.map((operation) => `  ${JSON.stringify(operation)}`).join("\n");
}
