/** Forms of English words. */
import { expect, test } from "vitest";
import { baseOf, formsOf } from "./word-forms.ts";

test.each([
  ["retry", "retries", "retried"],
  ["stop", "stopped", "stopping"],
  ["cache", "caches", "cached", "caching"],
  ["class", "classes"],
  ["index", "indexes", "indexing"],
])("%s is asked for as its other forms, too", (word, ...forms) => {
  expect(formsOf(word)).toEqual(expect.arrayContaining(forms));
  expect(formsOf(word)).not.toContain(word);
});

test.each([
  ["retries", "retry"],
  ["stopping", "stop"],
  ["failed", "fail"],
  ["classes", "class"],
  ["tests", "test"],
])("%s counts as %s", (form, word) => {
  expect(baseOf(form)).toBe(baseOf(word));
});

test("short words, names with digits and words of other scripts have no forms", () => {
  for (const word of ["is", "db", "sha256", "\u0444\u0430\u0439\u043b\u0438", "\u932f\u8aa4"]) {
    expect(formsOf(word)).toEqual([]);
    expect(baseOf(word)).toBe(word);
  }
});
