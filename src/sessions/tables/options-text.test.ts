import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileText, jsonObject } from "../../../test/support/arbitrary-events.ts";
import { sealExtracted } from "../../model/extracted.ts";
import type { Message } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import { pondFacts } from "../../model/derived/index.ts";
import { timestampFromMillis } from "../../model/timestamp.ts";
import { messageRow } from "./encode.ts";
import { decodeFacts, decodeOptions } from "./options-text.ts";

const facts = {
  searchText: undefined,
  partBytes: 0,
  parts: 0,
  hash: 1,
  origin: "o",
  source_agent: "a",
  project: "p",
  ingested_at: 0,
};

function message(options: Message["options"], content: string): Message {
  const base = {
    session_id: sessionId("s"),
    id: messageId("m"),
    timestamp: timestampFromMillis(1)!,
    options,
  };
  return { ...base, role: "system", content: sealExtracted(content) };
}

test("what pond keeps of a message is read as it was stored, with and without the rest", () => {
  const bags = fc
    .tuple(jsonObject, fc.option(fc.oneof(jsonObject, fc.constantFrom(null, 1, "pond")), { nil: undefined }))
    .map(([options, pond]) => (pond === undefined ? options : { ...options, pond }));
  fc.assert(
    fc.property(bags, hostileText, (options, content) => {
      const stored = messageRow(message(options, content), facts).options;
      expect(decodeOptions(stored).options).toEqual(options);
      expect(decodeFacts(stored)).toEqual(pondFacts(options));
    }),
  );
});

test.each<[string, string]>([
  ["behind other keys, as it was once written", '{"source":{"pond":1},"pond":{"parent":"a"}}'],
  ["with braces and quotes in its texts", '{"pond":{"parent":"a","x":"}\\"{\\\\"},"source":{}}'],
])("pond's own facts are found %s", (_, stored) => {
  expect(decodeFacts(stored)).toMatchObject({ parent: "a" });
});

test("the envelope behind pond's facts is not even parsed", () => {
  expect(decodeFacts('{"pond":{"parent":"a"},"source":not json')).toEqual({ parent: "a" });
  expect(decodeFacts('{"source":not json')).toEqual({});
});
