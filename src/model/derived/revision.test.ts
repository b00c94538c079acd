import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/json/json.ts";
import { messageId } from "../ids.ts";
import { newestRevisions, revisionOf } from "./revision.ts";
import type { Timestamp } from "../timestamp.ts";

const entry = (id: string, pond: JsonObject = {}, timestamp = 0) => ({
  message: { id: messageId(id), timestamp: timestamp as Timestamp, options: { pond } },
});
const ids = (messages: readonly ReturnType<typeof entry>[]) =>
  newestRevisions(messages).map(({ message }) => message.id);

describe("revisions", () => {
  test("a message that says nothing of versions is its own record, and stays", () => {
    expect(revisionOf(entry("a", {}, 5000).message)).toEqual({
      record: "a",
      version: "a",
      at: 5,
      removed: false,
    });
    expect(ids([entry("a"), entry("a/1"), entry("b")])).toEqual(["a", "a/1", "b"]);
  });

  test("messages of one record that say nothing of versions are of one", () => {
    expect(ids([entry("a"), entry("a/1", { record: "a" }), entry("b")])).toEqual(["a", "a/1", "b"]);
  });

  test("the version that changed last is taken, with all of its messages and no others, where the first one stood", () => {
    const first = [entry("a", { value: "v1", at: 1 }), entry("a/1", { value: "v1", at: 1, record: "a" })];
    const second = [entry("a@v2", { value: "v2", at: 2, revises: "a" })];
    const third = [
      entry("a@v3", { value: "v3", at: 3, revises: "a" }),
      entry("a@v3/1", { value: "v3", at: 3, revises: "a/1", record: "a" }),
    ];
    expect(ids([...first, entry("b"), ...second])).toEqual(["a@v2", "b"]);
    expect(ids([...third, ...first, ...second])).toEqual(["a@v3", "a@v3/1"]);
  });

  test("a first version may be the newest: another machine stored an older one later", () => {
    expect(
      ids([entry("a", { value: "v2", at: 2 }), entry("a@v1", { value: "v1", at: 1, revises: "a" })]),
    ).toEqual(["a"]);
  });

  test("what was removed is gone, and is back when it is written again", () => {
    const kept = entry("a", { value: "v1", at: 1 });
    const removed = entry("a@removed", { value: "removed", at: 2, revises: "a", removed: true });
    expect(ids([kept, removed])).toEqual([]);
    expect(ids([kept, removed, entry("a@v1", { value: "v1", at: 3, revises: "a" })])).toEqual(["a@v1"]);
  });

  test("files beside a log are told apart by their instants", () => {
    const file = (hash: string, at: number) => entry(`file:x@${hash}`, { revises: "file:x" }, at);
    expect(ids([file("1", 1000), file("2", 3000), file("3", 2000)])).toEqual(["file:x@2"]);
  });

  test("one version a record, whatever the order of arrival", () => {
    const version = fc.record({
      record: fc.constantFrom("a", "b"),
      value: fc.constantFrom("1", "2", "3"),
      at: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.uniqueArray(version, { selector: (v) => JSON.stringify(v) }), (versions) => {
        const rows = versions.map(({ record, value, at }, n) =>
          entry(`${record}@${n}`, { revises: record, value, at }),
        );
        const sorted = (list: readonly string[]) => list.toSorted();
        expect(sorted(ids(rows))).toEqual(sorted(ids(rows.toReversed())));
        expect(ids(rows)).toHaveLength(new Set(versions.map(({ record }) => record)).size);
      }),
    );
  });
});
