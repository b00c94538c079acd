import fc from "fast-check";
import { expect, test } from "vitest";
import { foreignSession } from "../../../../test/clients/foreign-session.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { messageId, sessionId } from "../../../model/index.ts";
import { replay } from "../../../model/events/index.ts";
import { story } from "../../../../test/support/story.ts";
import { inChainOrder } from "./chain-order.ts";
import { historyOf } from "./history.ts";
import { LossReport } from "./losses.ts";

const base = foreignSession("/w");

function session(id: string, messages: readonly [string, JsonObject?][], cut?: string): SessionState {
  const fork = { parent_session_id: base.session.id, relation: "fork" as const };
  return {
    session: {
      ...base.session,
      id: sessionId(id),
      ...(cut === undefined ? {} : { ...fork, parent_message_id: messageId(cut) }),
    },
    messages: messages.map(([name, pond = {}]): MessageWithParts => ({
      message: { ...base.messages[1]!.message, id: messageId(name), options: { pond } },
      parts: [],
    })),
  };
}

const ids = ({ messages }: { messages: readonly MessageWithParts[] }): string[] =>
  messages.map(({ message }) => message.id);

test("a fork of a fork begins with what stood before each cut, on the branch it left from", () => {
  const losses = new LossReport();
  const parent = historyOf(
    session("p", [
      ["a", { parent: null }],
      ["b", { parent: "a" }],
      ["c", { parent: "b" }],
      ["d", { parent: "a" }],
    ]),
    { losses },
  );
  const child = historyOf(session("c", [["e"], ["f"]], "b"), { parent, losses });
  const grandchild = historyOf(session("g", [["h"]], "e"), { parent: child, losses });
  expect([parent, child, grandchild].map(ids)).toEqual([
    ["a", "d"],
    ["a", "b", "e", "f"],
    ["a", "b", "e", "h"],
  ]);
  // Nothing of these says anything: what is on a branch that was left is lost only where it is a turn.
  expect(losses.list()).toEqual([]);
});

test("of branches that were left only turns of the conversation are lost", () => {
  const losses = new LossReport();
  const state = replay(
    story("s")
      .user("ask", { pond: { parent: null } })
      .carrier({ pond: { parent: "s-0" } })
      .assistant("left", { pond: { parent: "s-0" } })
      .call("ls", {}, { pond: { parent: "s-2" } })
      .assistant("right", { pond: { parent: "s-0" } })
      .events(),
  )[0]!;
  expect(ids(historyOf(state, { losses }))).toEqual(["s-0", "s-4"]);
  expect(losses.list()).toMatchObject([{ what: "turn of another branch", count: 2, affects: "record" }]);
});

test("a result that was written before its call comes behind it, and all that follows stays in order", () => {
  const losses = new LossReport();
  const state = replay(
    story("s")
      .user("ask", { pond: { parent: null } })
      .result("ls", "files", { pond: { parent: "s-2" } })
      .call("ls", {}, { pond: { parent: "s-0" } })
      .assistant("done", { pond: { parent: "s-1" } })
      .events(),
  )[0]!;
  expect(ids(historyOf(state, { losses }))).toEqual(["s-0", "s-2", "s-1", "s-3"]);
  expect(losses.list()).toEqual([]);
});

test("messages that follow each other in a circle are all there", () => {
  const entries = session("s", [
    ["a", { parent: "b" }],
    ["b", { parent: "a" }],
    ["c", { parent: "b" }],
  ]).messages;
  expect(
    inChainOrder(entries)
      .map(({ message }) => message.id)
      .toSorted(),
  ).toEqual(["a", "b", "c"]);
});

test("any order of one chain is put right", () => {
  const chains = fc
    .integer({ min: 1, max: 30 })
    .chain((length) => fc.shuffledSubarray([...Array(length).keys()], { minLength: length }));
  fc.assert(
    fc.property(chains, (order) => {
      const log = session(
        "s",
        order.map((n) => [String(n), { parent: n === 0 ? null : String(n - 1) }]),
      );
      const names = inChainOrder(log.messages).map(({ message }) => Number(message.id));
      expect(names).toEqual([...order.keys()]);
    }),
  );
});

test("a summary that nobody can read is told, and nothing is left out for it", () => {
  const losses = new LossReport();
  const state = session("p", [["a"], ["b"]]);
  const history = historyOf(state, { losses, context: (messages) => ({ messages, isSealed: true }) });
  expect(ids(history)).toEqual(["a", "b"]);
  expect(losses.list()).toMatchObject([{ what: "summary of a compaction", affects: "model" }]);
});

test("a fork that repeats its parent's turns gets them once; one whose parent is not there says so", () => {
  const losses = new LossReport();
  const parent = historyOf(session("p", [["a"]]), { losses });
  expect(ids(historyOf(session("c", [["a", { replays: true }], ["b"]], "a"), { parent, losses }))).toEqual([
    "a",
    "b",
  ]);
  expect(losses.list()).toEqual([]);
  expect(ids(historyOf(session("c", [["b"]], "a"), { losses }))).toEqual(["b"]);
  expect(losses.list()).toMatchObject([{ what: "history before the fork", count: 1 }]);
});

test("a record that was rewritten counts once, where it first stood", () => {
  const rewritten = session("s", [["a"], ["b"], ["a@1", { revises: "a" }]]);
  expect(ids(historyOf(rewritten, { losses: new LossReport() }))).toEqual(["a@1", "b"]);
});

test("a record that is kept whole for native restore is no message of the history, and no loss", () => {
  const losses = new LossReport();
  const history = historyOf(session("p", [["a"], ["a/1", { record: "a", whole: true }]]), { losses });
  expect(ids(history)).toEqual(["a"]);
  expect(losses.list()).toEqual([]);
});

test("what is lost of turns that the model no longer had is no loss to another one", () => {
  const losses = new LossReport();
  const state = replay(story("s").user("long ago").user("in short").user("now").events())[0]!;
  const { messages } = historyOf(state, {
    losses,
    context: (turns) => ({ messages: turns, past: turns.slice(0, 1) }),
  });
  for (const { parts } of messages) losses.add("reasoning", "sealed", parts[0]);
  expect(losses.list()).toEqual([
    { what: "reasoning", why: "sealed", affects: "model", count: 2 },
    { what: "reasoning", why: "sealed", affects: "record", count: 1 },
  ]);
  losses.takeParts();
  losses.add("reasoning", "sealed", messages[0]?.parts[0]);
  expect(losses.list()[0]?.count).toBe(3);
});
