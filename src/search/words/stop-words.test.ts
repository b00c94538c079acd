/** Words that a query is better without, by the language that they are of. */
import { expect, test } from "vitest";
import { languageOf, withoutStopWords } from "./stop-words.ts";

const left = (text: string): string => {
  const words = text.split(" ");
  return withoutStopWords(words, languageOf(words)).join(" ");
};

test.each([
  ["when did we decide to use redis", "decide use redis"],
  ["warum haben wir den cache geleert", "cache geleert"],
  ["por qu\u00e9 fall\u00f3 la prueba de carga", "fall\u00f3 prueba carga"],
  ["null pointer exception", "null pointer exception"],
])("%s", (text, content) => {
  expect(left(text)).toBe(content);
});

test("a query of nothing else is left as it is", () => {
  for (const text of ["to be or not to be", "was war"]) expect(left(text)).toBe(text);
});

test("what is a small word in another language stays", () => {
  expect(left("die with error")).toContain("die");
});
