import { expect, test } from "vitest";
import { foreignSession } from "../../../../test/clients/foreign-session.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/index.ts";
import { messageId, sessionId } from "../../../model/index.ts";
import { historyOf } from "./history.ts";
import { LossReport } from "../restore.ts";

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
    undefined,
    losses,
  );
  const child = historyOf(session("c", [["e"], ["f"]], "b"), parent, losses);
  const grandchild = historyOf(session("g", [["h"]], "e"), child, losses);
  expect([parent, child, grandchild].map(ids)).toEqual([
    ["a", "d"],
    ["a", "b", "e", "f"],
    ["a", "b", "e", "h"],
  ]);
  expect(losses.list()).toMatchObject([{ what: "message of another branch", count: 2 }]);
});

test("a fork that repeats its parent's turns gets them once; one whose parent is not there says so", () => {
  const losses = new LossReport();
  const parent = historyOf(session("p", [["a"]]), undefined, losses);
  expect(ids(historyOf(session("c", [["a", { replays: true }], ["b"]], "a"), parent, losses))).toEqual([
    "a",
    "b",
  ]);
  expect(losses.list()).toEqual([]);
  expect(ids(historyOf(session("c", [["b"]], "a"), undefined, losses))).toEqual(["b"]);
  expect(losses.list()).toMatchObject([{ what: "history before the fork", count: 1 }]);
});

test("a record that was rewritten counts once, where it first stood", () => {
  const rewritten = session("s", [["a"], ["b"], ["a@1", { revises: "a" }]]);
  expect(ids(historyOf(rewritten, undefined, new LossReport()))).toEqual(["a@1", "b"]);
});

test("a record that is kept whole for native restore is no message of the history, and no loss", () => {
  const losses = new LossReport();
  const history = historyOf(session("p", [["a"], ["a/1", { record: "a", whole: true }]]), undefined, losses);
  expect(ids(history)).toEqual(["a"]);
  expect(losses.list()).toEqual([]);
});
