import fc from "fast-check";
import { expect, test } from "vitest";
import { messageId } from "../ids.ts";
import { decodeRepeats, encodeRepeats, repeatsOf } from "./repeats.ts";
import { timestampFromMillis } from "../timestamp.ts";

const timestamp = timestampFromMillis(1_700_000_000_000)!;

test("what a message repeats comes back from its text, and an original has none", () => {
  const name = fc.constantFrom("m", "n", "m@1", "\u{1F9A6}\uD83E", '"');
  const replays = fc.oneof(
    fc.boolean(),
    fc.record({ session_id: name, message_id: name }),
    fc.record({
      session_id: name,
      message_id: name,
      also: fc.array(fc.record({ session_id: name, message_id: name }), { maxLength: 3 }),
    }),
    fc.record({ session_id: name }),
    fc.string(),
  );
  const pond = fc.record(
    { revises: name, record: name, replays, restored: replays, turn: name },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(name, pond, (id, facts) => {
      const message = { id: messageId(id), timestamp, options: { pond: facts } };
      const repeats = repeatsOf(message);
      const text = encodeRepeats(message);
      expect(decodeRepeats(text, id)).toEqual(repeats);
      expect(text === "").toBe(repeats.record === id && repeats.replays === undefined);
    }),
  );
});

test("a copy under its own id names the other session only", () => {
  const replays = { session_id: "first", message_id: "m" };
  const copy = { id: messageId("m"), timestamp, options: { pond: { replays } } };
  expect(encodeRepeats(copy)).toBe('{"replays":{"session_id":"first"}}');
});
