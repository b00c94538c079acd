/**
 * Forms of an English word that a text may have in its place: "retries" for "retry". They are asked for beside the word, at
 * half its weight, so that the index stays the same for every language. Most of them do not exist, and cost nothing.
 */

const ENDINGS = ["s", "es", "ed", "ing", "e", "er", "ly"];
const FEWEST_LETTERS = 4;

export function formsOf(word: string): readonly string[] {
  if (word.length < FEWEST_LETTERS || !/^[a-z]+$/.test(word)) return [];
  const base = baseOf(word);
  const stem = base.endsWith("e") ? base.slice(0, -1) : base;
  const doubled = `${base}${base.at(-1) ?? ""}`;
  const forms = [
    base,
    ...ENDINGS.map((ending) => `${base}${ending}`),
    ...["ed", "ing", "er"].map((ending) => `${stem}${ending}`),
    ...["ed", "ing"].map((ending) => `${doubled}${ending}`),
    ...(base.endsWith("y") ? [`${base.slice(0, -1)}ies`, `${base.slice(0, -1)}ied`] : []),
  ];
  return [...new Set(forms)].filter((form) => form !== word);
}

/** What all forms of a word have in common, near enough to count one as the other. */
export function baseOf(word: string): string {
  if (word.length < FEWEST_LETTERS || !/^[a-z]+$/.test(word)) return word;
  if (/ie[sd]$/.test(word)) return `${word.slice(0, -3)}y`;
  for (const ending of ["ing", "ed"]) {
    if (!word.endsWith(ending) || word.length - ending.length < 3) continue;
    const rest = word.slice(0, -ending.length);
    return /([b-df-hj-np-tv-z])\1$/.test(rest) && !/(ll|ss|zz)$/.test(rest) ? rest.slice(0, -1) : rest;
  }
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
