import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/json/json.ts";
import type { Message } from "../index.ts";
import { activeBranch } from "./index.ts";
import { messageId } from "../index.ts";

type Entry = Pick<Message, "id" | "seq" | "role" | "options">;

/** `parent` undefined: no node. */
function entry(
  id: string,
  parent?: string | null,
  more: { role?: Message["role"]; pond?: JsonObject } = {},
): Entry {
  const pond = { ...(parent === undefined ? {} : { parent }), ...more.pond };
  return { id: messageId(id), role: more.role ?? "user", options: { pond } };
}

const idsOf = (entries: readonly Entry[]): string[] => {
  const active = activeBranch(entries);
  return entries.filter(({ id }) => active.has(id)).map(({ id }) => id);
};

describe("the active branch", () => {
  test("is everything where the log is a plain list", () => {
    expect(idsOf([entry("a"), entry("b"), entry("c")])).toEqual(["a", "b", "c"]);
  });

  test("is the way from the last node to the root, with what is no node", () => {
    const log = [
      entry("header"),
      entry("a", null),
      entry("b", "a"),
      entry("left", "b"),
      entry("note"),
      entry("right", "b"),
      entry("end", "right"),
    ];
    expect(idsOf(log)).toEqual(["header", "a", "b", "note", "right", "end"]);
  });

  test("is the new tree alone where a client started over", () => {
    expect(idsOf([entry("a", null), entry("b", "a"), entry("fresh", null)])).toEqual(["fresh"]);
  });

  test("is where a later record points, and moves on from there", () => {
    const back = [
      entry("a", null),
      entry("b", "a"),
      entry("c", "b"),
      entry("moved", "c", { role: "system", pond: { leaf: "a" } }),
    ];
    expect(idsOf(back)).toEqual(["a"]);
    expect(idsOf([...back, entry("d", "a")])).toEqual(["a", "d"]);
  });

  test("is empty before the first node, and not moved by a pointer to nowhere", () => {
    const log = [entry("a", null), entry("b", "a")];
    expect(idsOf([...log, entry("moved", undefined, { pond: { leaf: null } })])).toEqual(["moved"]);
    expect(idsOf([...log, entry("moved", undefined, { pond: { leaf: "x" } })])).toEqual(["a", "b", "moved"]);
  });

  test("of a plain list leaves out what was taken back, and goes on behind it", () => {
    const at = (seq: number, id: string, pond: JsonObject = {}): Entry => ({
      ...entry(id, undefined, { pond }),
      seq,
    });
    const log = [
      at(0, "head"),
      at(1, "a"),
      at(1, "a/1"),
      at(2, "b"),
      entry("name"),
      at(3, "c"),
      at(4, "back", { leaf: "a" }),
      at(5, "d"),
    ];
    expect(idsOf(log)).toEqual(["head", "a", "a/1", "name", "back", "d"]);
    expect(idsOf([...log, at(6, "again", { leaf: "head" })])).toEqual(["head", "name", "again"]);
    expect(idsOf([at(0, "a"), at(1, "back", { leaf: null }), at(2, "b")])).toEqual(["back", "b"]);
    expect(idsOf([at(0, "a"), at(1, "back", { leaf: "gone" })])).toEqual(["a", "back"]);
  });

  test("is not moved by other lanes", () => {
    const log = [entry("a", null), entry("b", "a"), entry("side", "a", { pond: { aside: true } })];
    expect(idsOf(log)).toEqual(["a", "b"]);
  });

  test("holds all results of a response that is split over records", () => {
    const turn = { role: "assistant" as const, pond: { turn: "response" } };
    const log = [
      entry("ask", null),
      entry("call 1", "ask", turn),
      entry("call 2", "call 1", turn),
      entry("result 1", "call 1", { role: "tool" }),
      entry("result 2", "call 2", { role: "tool" }),
      entry("rewound", "call 2"),
      entry("answer", "result 2", { role: "assistant" }),
    ];
    expect(idsOf(log)).toEqual(["ask", "call 1", "call 2", "result 1", "result 2", "answer"]);
  });

  test("holds the calls of a response that stand beside the way, with their results, wherever those are written", () => {
    const turn = { role: "assistant" as const, pond: { turn: "response" } };
    const log = [
      entry("ask", null),
      entry("result 3", "progress 3", { role: "tool" }),
      entry("call 1", "ask", turn),
      entry("progress 1", "call 1", { role: "system" }),
      entry("call 2", "progress 1", turn),
      entry("progress 2", "call 2", { role: "system" }),
      entry("call 3", "progress 2", turn),
      entry("progress 3", "call 3", { role: "system" }),
      entry("result 2", "call 2", { role: "tool" }),
      entry("aside", "call 2", { role: "assistant", pond: { turn: "response", aside: true } }),
      entry("left", "call 2"),
      entry("result 1", "call 1", { role: "tool" }),
      entry("answer", "result 1", { role: "assistant", pond: { turn: "next" } }),
    ];
    expect(idsOf(log)).toEqual([
      "ask",
      "result 3",
      "call 1",
      "call 2",
      "call 3",
      "result 2",
      "result 1",
      "answer",
    ]);
  });

  test("keeps the messages of one record together, and a revision where its record stood", () => {
    const at = (seq: number, node: Entry): Entry => ({ ...node, seq });
    const log = [
      at(0, entry("a", null)),
      at(1, entry("b", "a")),
      at(1, entry("b/1")),
      at(2, entry("c", "a")),
      at(2, entry("c/1")),
      at(3, entry("c@1", "a", { pond: { revises: "c" } })),
    ];
    expect(idsOf(log)).toEqual(["a", "c", "c/1", "c@1"]);
  });

  test("goes on behind a parent that is not there with where the log stood then", () => {
    expect(idsOf([entry("a", "gone"), entry("b", "a")])).toEqual(["a", "b"]);
    const log = [entry("a", null), entry("b", "a"), entry("left", "a"), entry("c", "gone"), entry("d", "c")];
    expect(idsOf(log)).toEqual(["a", "left", "c", "d"]);
    const lanes = [entry("a", null), entry("side", "a", { pond: { aside: true } }), entry("b", "gone")];
    expect(idsOf(lanes)).toEqual(["a", "b"]);
    const moved = [
      entry("a", null),
      entry("b", "a"),
      entry("moved", "b", { role: "system", pond: { leaf: "a" } }),
      entry("c", "gone"),
    ];
    expect(idsOf(moved)).toEqual(["a", "c"]);
    const before = [
      entry("a", null),
      entry("moved", undefined, { pond: { leaf: null } }),
      entry("c", "gone"),
    ];
    expect(idsOf(before)).toEqual(["moved", "c"]);
  });

  test("goes on behind a record that its client took out of the middle", () => {
    const log = [
      entry("a", null),
      entry("b@gone", "a", { pond: { revises: "b", removed: true } }),
      entry("c", "b"),
    ];
    expect(idsOf(log)).toEqual(["a", "c"]);
  });

  test("is not moved by another lane whose parent is not there", () => {
    const log = [entry("a", null), entry("b", "a"), entry("side", "gone", { pond: { aside: true } })];
    expect(idsOf(log)).toEqual(["a", "b"]);
  });

  test("loses no turn of a straight log to any missing parents", () => {
    const logs = fc
      .array(fc.boolean(), { minLength: 1, maxLength: 40 })
      .map((lost) =>
        lost.map((isLost, index) =>
          entry(String(index), isLost ? "gone" : index === 0 ? null : String(index - 1)),
        ),
      );
    fc.assert(
      fc.property(logs, (log) => {
        expect(idsOf(log)).toEqual(log.map(({ id }) => id));
      }),
    );
  });

  test("ends at a cycle", () => {
    expect(idsOf([entry("a", "b"), entry("b", "a")])).toEqual(["a", "b"]);
  });

  test("is a chain that ends in the last node, for any tree", () => {
    const trees = fc
      .array(fc.nat(), { minLength: 1, maxLength: 40 })
      .map((picks) =>
        picks.map((pick, index) => entry(String(index), index === 0 ? null : String(pick % index))),
      );
    fc.assert(
      fc.property(trees, (log) => {
        const ids = idsOf(log);
        expect(ids.at(-1)).toBe(log.at(-1)?.id);
        for (const [index, id] of ids.entries())
          expect(log[Number(id)]).toEqual(entry(id, ids[index - 1] ?? null));
      }),
    );
  });
});
