import fc from "fast-check";
import { expect, test } from "vitest";
import { identifierPieces, piecesOf } from "./identifiers.ts";

test.each<[string, string | undefined]>([
  ["call parseHttpRequest here", "parse http request"],
  ["an HTTPServer and its XMLHttpRequest", "http server xml request"],
  ["utf8Decode, base64Url2Text", "utf8 decode base64 url2 text"],
  ["iPhone", "phone"],
  [
    "\u043f\u043e\u043b\u0443\u0447\u0438\u0442\u044c\u0414\u0430\u043d\u043d\u044b\u0435",
    "\u043f\u043e\u043b\u0443\u0447\u0438\u0442\u044c \u0434\u0430\u043d\u043d\u044b\u0435",
  ],
  ["snake_case, kebab-case, src/lib.ts and CONSTANT are split by the engine or not at all", undefined],
  ["\u4f60\u597d\u4e16\u754c", undefined],
  ["\u{10428}\u{10400} ends too", undefined],
  ["", undefined],
])("%s", (text, pieces) => expect(identifierPieces(text)).toBe(pieces));

test("a name that comes twice is listed once", () => {
  expect(identifierPieces("getUser setUser getUser")).toBe("get user set");
});

test("base64 and hashes are no names", () => {
  expect(identifierPieces("aGVsbG8gd29ybGQ".repeat(10))).toBeUndefined();
});

test("a pasted dictionary stays bounded", () => {
  const text = Array.from({ length: 100_000 }, (_, i) => `wordN${i}Name`).join(" ");
  expect(identifierPieces(text)!.length).toBeLessThan(40_000);
});

test("pieces of any text are words of it, in lower case", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const piece of identifierPieces(text)?.split(" ") ?? [])
        expect(text.toLowerCase()).toContain(piece);
    }),
  );
});

test("a name comes apart where its case changes", () => {
  expect(piecesOf("getHTTPResponseCode")).toEqual(["get", "http", "response", "code"]);
});
