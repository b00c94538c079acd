import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../base/json/json.ts";
import { stringifyJson } from "../../../base/json/json.ts";
import type { Event, Session, Timestamp } from "../../../model/index.ts";
import { EventValidator, replay } from "../../../model/events/index.ts";
import { MAX_TEXT_BYTES } from "../../../model/bound-text.ts";
import { sessionId } from "../../../model/index.ts";
import type { AdapterYield } from "../sources/reading.ts";
import { extractFromPath, extractString } from "../extract/extract.ts";
import type { LogRecord } from "./session-log.ts";
import { SessionLog } from "./session-log.ts";
import { wholeRecord } from "./whole.ts";

/** Not known to the compiler, as what a reader finds is not. */
const FOLDER: string = "/p";

const session: Session = {
  id: sessionId("s"),
  source_agent: "test",
  created_at: 100 as Timestamp,
  project: extractFromPath(FOLDER),
  options: {},
};
const newLog = (): SessionLog => new SessionLog(session, { adapter: "test", path: "/p/log.jsonl" });
const carrier = { role: "system" as const, options: {}, parts: [] };

describe("ids", () => {
  test("the source's own id at first sight, numbered afterwards; records without one by type and value", () => {
    const log = newLog();
    expect(log.identify("user", "u1", {})).toEqual({ text: "u1", isSource: true });
    expect(log.identify("user", "u1", {})).toEqual({ text: "u1#2", isSource: false });
    const first = log.identify("mode", undefined, { a: 1, b: 2 });
    expect(first.text).toMatch(/^mode:[0-9a-f]{32}#1$/);
    expect(log.identify("mode", undefined, { b: 2, a: 1 }).text).toBe(first.text.replace("#1", "#2"));
  });

  test.each(["", "\ud83d"])("an id that cannot be a key (%j) is not used as one", (id) => {
    expect(newLog().identify("user", id, { id })).toMatchObject({ isSource: false });
  });
});

describe("the log", () => {
  test("announces the session, numbers positions, carries instants, splits a record, keeps part order", () => {
    const log = newLog();
    log.add({ id: log.identify("x", "a", {}), bytes: 10, hash: "h", drafts: [carrier] });
    log.add({
      id: log.identify("x", "b", {}),
      timestamp: 500 as Timestamp,
      bytes: 10,
      hash: "h",
      drafts: [carrier, carrier],
    });
    log.add({ id: log.identify("x", "c", {}), bytes: 10, hash: "h", drafts: [carrier] });
    log.add({
      id: log.identify("x", "file", {}),
      bytes: 10,
      hash: "h",
      drafts: [carrier],
      positioned: false,
    });
    const batch = log.drain();
    expectValid(batch);
    expect(batch[0]).toEqual({ kind: "session", session });
    expect(messages(batch)).toEqual([
      ["a", 0, 100, "carried"],
      ["b", 1, 500, undefined],
      ["b/1", 1, 500, undefined],
      ["c", 2, 500, "carried"],
      ["file", undefined, 500, "carried"],
    ]);
  });

  test("a muted log moves on without writing, so that the rest gets the ids and positions of a whole read", () => {
    const whole = newLog();
    const resumed = newLog();
    resumed.mute();
    for (const [index, id] of ["a", "a", undefined, undefined].entries()) {
      if (index === 2) resumed.unmute();
      for (const log of [whole, resumed])
        log.add({
          id: log.identify("x", id, {}),
          timestamp: index as Timestamp,
          bytes: 10,
          hash: "h",
          drafts: [carrier],
        });
    }
    expect(resumed.drain()).toEqual([{ kind: "session", session }, ...whole.drain().slice(3)]);
  });

  test("a bad line is an issue with its place, and kept whole, base64 when it is no text", () => {
    const log = newLog();
    log.addBadLine({ reason: "not_json", message: "no", line: 3, offset: 77, raw: Buffer.from("{oops") });
    log.addBadLine({
      reason: "invalid_utf8",
      message: "no",
      line: 4,
      offset: 90,
      raw: Buffer.from([0xff, 0x0a]),
    });
    const batch = log.drain();
    expectValid(batch);
    expect(
      batch.filter((item) => item.kind === "message").map(({ message }) => message.options["source"]),
    ).toEqual([{ raw: "{oops" }, { raw: "/wo=", encoding: "base64" }]);
    expect(batch.find((item) => item.kind === "issue")).toEqual({
      kind: "issue",
      issue: { kind: "not_json", adapter: "test", path: "/p/log.jsonl", line: 3, offset: 77, message: "no" },
    });
  });

  test("a value past the size bound is stored as its marker and counted; a payload for a blob is not touched", () => {
    const long = "x".repeat(MAX_TEXT_BYTES + 1);
    const text = extractString({ text: long }, "text")!;
    const log = newLog();
    const source = { line: 3, offset: 77, end: 77 + long.length + 20 };
    const entry = {
      id: log.identify("x", "a", {}),
      bytes: long.length + 20,
      hash: "h",
      drafts: [
        {
          role: "user",
          options: { source: { record: { short: 1 } } },
          parts: [
            { type: "text", provenance: "conversational", text },
            { type: "file", provenance: "conversational", data: { kind: "string", value: text } },
          ],
        },
      ],
    } satisfies LogRecord;
    log.add(entry, source);
    const batch = log.drain();
    const [first, second] = batch.filter((item) => item.kind === "part").map(({ part }) => part);
    expect(first).toMatchObject({
      type: "text",
      text: expect.stringContaining(`<pond:truncated ${long.length} bytes>`),
    });
    expect(second).toMatchObject({ type: "file", data: { value: text } });
    expect(batch.filter((item) => item.kind === "issue").map(({ issue }) => issue)).toMatchObject([
      { kind: "truncated_value", path: "/p/log.jsonl", line: 3, offset: 77 },
    ]);
  });

  test("a record that is cut is kept whole in a message of its own, which shares its position and version", () => {
    const record = { text: "x".repeat(MAX_TEXT_BYTES + 1), n: 1 };
    const text = extractString(record, "text")!;
    const log = newLog();
    const part = { type: "text" as const, provenance: "conversational" as const, text };
    log.add({
      id: log.identify("x", "a", record),
      bytes: record.text.length + 20,
      drafts: [{ role: "user", options: {}, parts: [part] }],
      whole: () => record,
      hash: "h",
      at: 5,
    });
    const batch = log.drain();
    expectValid(batch);
    const [state] = replay(batch.filter((item) => item.kind !== "issue").map((item) => item as Event));
    const pond = state!.messages.map(({ message: { id, seq, options } }) => ({
      id,
      seq,
      pond: options["pond"],
    }));
    expect(pond).toMatchObject([
      { id: "a", seq: 0, pond: { at: 5 } },
      { id: "a/1", seq: 0, pond: { at: 5, record: "a", whole: true } },
    ]);
    // Compared here: a test that fails must not print 32 MB.
    const found = wholeRecord(state!.messages);
    expect(stringifyJson(found as JsonObject) === stringifyJson(record)).toBe(true);
  });
});

function messages(batch: readonly AdapterYield[]): unknown[] {
  return batch
    .filter((item) => item.kind === "message")
    .map(({ message }) => [
      message.id,
      message.seq,
      message.timestamp,
      (message.options["pond"] as { timestamp?: string } | undefined)?.timestamp,
    ]);
}

function expectValid(batch: readonly AdapterYield[]): void {
  const validator = new EventValidator();
  const events = batch.filter((item): item is Event => ["session", "message", "part"].includes(item.kind));
  expect(events.map((event) => validator.check(event)).filter((fault) => fault !== undefined)).toEqual([]);
}
