import { describe, expect, test } from "vitest";
import type { Message, Session, Timestamp } from "../../model/index.ts";
import { newestRevisions, revisionOf, sessionId } from "../../model/index.ts";
import { extractFromPath } from "./extract.ts";
import type { StoredRecords, StoredRevision } from "./revisions.ts";
import type { MessageDraft } from "./session-log.ts";
import { SessionLog } from "./session-log.ts";

const session: Session = {
  id: sessionId("s"),
  source_agent: "test",
  created_at: 100 as Timestamp,
  project: extractFromPath("/p"),
  options: {},
};
const carrier: MessageDraft = { role: "system", options: { source: { k: 1 } }, parts: [] };

/** What a store would answer after these messages. */
function storedOf(messages: readonly Message[]): StoredRecords {
  const records = new Map<string, StoredRevision[]>();
  for (const message of messages) {
    const revision = revisionOf(message);
    const pond = message.options["pond"] as { record?: string } | undefined;
    if (pond?.record !== undefined) continue;
    records.set(revision.record, [...(records.get(revision.record) ?? []), { ...revision, id: message.id }]);
  }
  return records;
}

/** One sync: the records of the source as they are now, on top of what is stored. */
function sync(
  stored: readonly Message[],
  records: readonly {
    readonly id: string;
    readonly value: string;
    readonly at: number;
    readonly splits?: number;
  }[],
): Message[] {
  const log = new SessionLog(session, { adapter: "test", path: "/p/db", stored: storedOf(stored) });
  for (const { id, value, at, splits = 1 } of records) {
    const drafts = Array.from({ length: splits }, () => carrier);
    log.add({
      id: log.identify("x", id, value),
      timestamp: 1 as Timestamp,
      bytes: 1,
      drafts,
      state: { value, at },
    });
  }
  log.addRemovals(new Set(records.map(({ id }) => id)), { timestamp: 1 as Timestamp, ms: 99 });
  const added = log.drain().flatMap((item) => (item.kind === "message" ? [item.message] : []));
  return [...stored, ...added];
}

const newest = (messages: readonly Message[]) =>
  newestRevisions(messages.map((message) => ({ message }))).map(({ message }) => message.id);

describe("records that their source rewrites", () => {
  test("a record has its own id at first, then its id and the hash of its value", () => {
    const first = sync([], [{ id: "a", value: "v1", at: 10 }]);
    expect(first.map(({ id }) => id)).toEqual(["a"]);
    expect(first[0]?.options).toEqual({ source: { k: 1 }, pond: { value: "v1", at: 10 } });
    const second = sync(first, [{ id: "a", value: "v2", at: 20, splits: 2 }]);
    expect(second.slice(1).map(({ id, options }) => [id, options["pond"]])).toEqual([
      ["a@v2", { value: "v2", at: 20, revises: "a" }],
      ["a@v2/1", { value: "v2", at: 20, revises: "a/1", record: "a" }],
    ]);
    expect(newest(second)).toEqual(["a@v2", "a@v2/1"]);
  });

  test("a record that did not change is not written again, and keeps its position", () => {
    const both = [
      { id: "a", value: "v1", at: 1 },
      { id: "b", value: "v1", at: 1 },
    ];
    const first = sync([], both.slice(0, 1));
    const second = sync(first, both);
    expect(second.map(({ id, seq }) => [id, seq])).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(sync(second, both)).toEqual(second);
  });

  test("a change is the newest version even when the clock went back", () => {
    const first = sync([], [{ id: "a", value: "v1", at: 100 }]);
    const second = sync(first, [{ id: "a", value: "v2", at: 50 }]);
    expect(newest(second)).toEqual(["a@v2"]);
  });

  test("a record that goes back and forth is each time what it is now", () => {
    let stored: Message[] = [];
    const seen: string[] = [];
    for (const [at, value] of ["v1", "v2", "v1", "v2", "v2", "v1"].entries()) {
      stored = sync(stored, [{ id: "a", value, at }]);
      expect(newest(stored)).toHaveLength(1);
      seen.push(...newest(stored));
    }
    expect(seen).toEqual(["a", "a@v2", "a@v1", "a@v2#2", "a@v2#2", "a@v1#2"]);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
  });

  test("a record that is gone is marked once, and is back when it is back", () => {
    const first = sync(
      [],
      [
        { id: "a", value: "v1", at: 1 },
        { id: "b", value: "v1", at: 1 },
      ],
    );
    const second = sync(first, [{ id: "b", value: "v1", at: 1 }]);
    expect(newest(second)).toEqual(["b"]);
    expect(sync(second, [{ id: "b", value: "v1", at: 1 }])).toEqual(second);
    const third = sync(second, [
      { id: "a", value: "v1", at: 1 },
      { id: "b", value: "v1", at: 1 },
    ]);
    expect(newest(third)).toEqual(["a@v1", "b"]);
  });
});
