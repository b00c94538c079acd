import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messageId, parseTimestamp } from "../../model/index.ts";
import { SessionHistory } from "./history.ts";
import type { DatedRow } from "./row-states.ts";
import { inHistoryOrder, rowStatesOf } from "./row-states.ts";
import type { RecordedState } from "../tables/states.ts";

const AT = parseTimestamp("2026-01-01T00:00:00Z")!;

/** `a` is a record, `a@2` another version of it, `a/1` a piece of it. */
const row = (id: string): DatedRow => ({
  id: messageId(id),
  record: id.replace(/[@/].*$/, ""),
  origin: null,
  timestamp: AT,
});

/** The states of a source, each a list of rows; the number is how far its records reach in time. */
function source(name: string, ...states: readonly (readonly [number, ...string[]])[]): RecordedState[] {
  return states.map(([recorded, ...ids], at) => ({
    session_id: "s",
    source: name,
    state: at + 1,
    adapter: "x",
    reader: "r",
    path: name,
    key: name,
    form: "log",
    read_at: 0,
    recorded_at: recorded,
    records: ids.length,
    digest: ids.join(" "),
    side: "",
    whole: true,
    content: JSON.stringify({ runs: ids.map((id) => [id]) }),
  }));
}

function look(states: readonly RecordedState[], ids: readonly string[]) {
  const history = new SessionHistory(states);
  const rows = ids.map(row);
  const { of, ends } = rowStatesOf(history, rows);
  return {
    of: ids.map((id) => `${id} ${of.get(id)}`),
    parted: ends.map(({ partedAfter }) => partedAfter),
    order: inHistoryOrder(history, rows).map(({ id }) => id),
  };
}

describe("rows of a session", () => {
  test("of one source that only grew are current", () => {
    const { of, order } = look(source("x", [1, "a"], [2, "a", "b"]), ["b", "a"]);
    expect([of, order]).toEqual([
      ["b current", "a current"],
      ["a", "b"],
    ]);
  });

  test("that were replaced are superseded, and stand before what replaced them", () => {
    const { of, order } = look(source("x", [1, "a", "b", "c"], [2, "a", "b@2", "c"]), ["a", "b", "b@2", "c"]);
    expect(of).toEqual(["a current", "b superseded", "b@2 current", "c current"]);
    expect(order).toEqual(["a", "b", "b@2", "c"]);
  });

  test("that came back are current again", () => {
    const { of } = look(source("x", [1, "a"], [2, "a@2"], [3, "a"]), ["a", "a@2"]);
    expect(of).toEqual(["a current", "a@2 superseded"]);
  });

  test("whose record is gone are removed, of several versions the last", () => {
    const { of, order } = look(source("x", [1, "a", "b", "c"], [2, "a", "b@2", "c"], [3, "a", "c"]), [
      "a",
      "b",
      "b@2",
      "c",
    ]);
    expect(of).toEqual(["a current", "b superseded", "b@2 removed", "c current"]);
    expect(order).toEqual(["a", "b", "b@2", "c"]);
  });

  test("go with the first piece of their record", () => {
    const { of, order } = look(source("x", [1, "a", "b"], [2, "a@2", "b"]), [
      "a",
      "a/1",
      "a@2",
      "a@2/1",
      "b",
    ]);
    expect(of).toEqual(["a superseded", "a/1 superseded", "a@2 current", "a@2/1 current", "b current"]);
    expect(order).toEqual(["a", "a/1", "a@2", "a@2/1", "b"]);
  });

  test("of two ends are told apart, and it is known where they parted", () => {
    const { of, parted, order } = look(
      [...source("x", [5, "a", "b", "c"]), ...source("y", [7, "a", "b", "d"])],
      ["a", "b", "c", "d"],
    );
    expect(of).toEqual(["a current", "b current", "c end", "d current"]);
    expect(parted).toEqual([undefined, "b"]);
    expect(order).toEqual(["a", "b", "c", "d"]);
  });

  test("that were replaced in the newest end stand beside what replaced them, another end before both", () => {
    const { order } = look(
      [...source("x", [5, "a", "c"]), ...source("y", [7, "a", "b"], [7, "a", "b@2"])],
      ["a", "b", "b@2", "c"],
    );
    expect(order).toEqual(["a", "c", "b", "b@2"]);
  });

  test("that no state holds are removed, and are shown where they were read first", () => {
    const { of, order } = look(source("x", [1, "a", "b"]), ["a", "stray", "b"]);
    expect(of).toEqual(["a current", "stray removed", "b current"]);
    expect(order).toEqual(["a", "stray", "b"]);
  });

  test("each have a status and a place, whatever happened, and the newest end keeps its order", () => {
    const ids = ["a", "a@2", "b", "b/1", "b@2", "c", "d", "e"];
    const state = fc.tuple(
      fc.nat(5),
      fc.shuffledSubarray(
        ids.filter((id) => !id.includes("/")),
        { minLength: 1 },
      ),
    );
    const states = fc.array(state, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(states, fc.array(states, { maxLength: 2 }), (one, more) => {
        const recorded = [one, ...more].flatMap((own, at) =>
          source(`s${at}`, ...own.map(([reach, held]) => [reach, ...held] as const)),
        );
        const history = new SessionHistory(recorded);
        const rows = ids.map(row);
        const { of, ends } = rowStatesOf(history, rows);
        expect([...of.keys()].toSorted()).toEqual(ids.toSorted());
        const order = inHistoryOrder(history, rows).map(({ id }) => id);
        expect(order.toSorted()).toEqual(ids.toSorted());
        const newest = ends[0]!.rows.map(({ id }) => id);
        expect(order.filter((id) => of.get(id) === "current")).toEqual(newest);
      }),
    );
  });
});

/** Rows that one read stored. */
const readBy = (origin: string, ...ids: readonly string[]): DatedRow[] =>
  ids.map((id) => ({ ...row(id), origin, seq: "abc".indexOf(id.slice(0, 1)) }));

/** The state of a source by the reads that stored its rows: the name of each, from where on, and how many. */
const readFrom = (name: string, ...runs: readonly [string, number, number][]): RecordedState[] =>
  source(name, [1]).map((state) => ({
    ...state,
    records: 3,
    digest: "a b c",
    content: JSON.stringify({ runs }),
  }));

describe("rows of a source that is gone", () => {
  const gone = readFrom("gone", ["first", 0, 3]);

  test.each([
    ["all", readFrom("backup", ["second", 0, 3]), readBy("second", "a", "b", "c")],
    [
      "some",
      readFrom("backup", ["first", 0, 1], ["second", 1, 2]),
      [...readBy("first", "a"), ...readBy("second", "b", "c")],
    ],
  ])("that were lost and read again from another place are current: %s of them", (_, backup, rows) => {
    for (const states of [
      [...gone, ...backup],
      [...backup, ...gone],
    ]) {
      const history = new SessionHistory(states);
      const { of, ends } = rowStatesOf(history, rows);
      expect(rows.map(({ id }) => of.get(id))).toEqual(["current", "current", "current"]);
      expect(ends.map((end) => end.rows.map(({ id }) => id))).toEqual([["a", "b", "c"]]);
      expect(inHistoryOrder(history, rows.toReversed()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
    }
  });

  test("stay those that are seen where none of them was lost", () => {
    const history = new SessionHistory([...gone, ...readFrom("backup", ["second", 0, 3])]);
    const rows = [...readBy("first", "a", "b", "c"), ...readBy("second", "a@2", "b@2", "c@2")];
    expect(rowStatesOf(history, rows).ends.map(({ state }) => state.source)).toEqual(["gone"]);
  });
});
