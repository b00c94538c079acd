/**
 * Words that say nothing by themselves, by language (spec.md#search-query-analysis). They are left out of a query, never of
 * the index: "to be or not to be" is found as it is. Which language a query is in is told by these words themselves.
 */

const WORDS: Readonly<Record<string, string>> = {
  en: `a about after again all also am an and any are as at be because been before being but by can could did do does doing
    done for from had has have having he her here him his how i if in into is it its just let me my no not of on or our out
    over she should so some such than that the their them then there these they this those to too under until up us was we
    were what when where which while who whom why will with would you your yours`,
  de: `aber als am an auch auf aus bei bin bis da damit dann das dass dem den der des die dies diese dieser doch dort du durch
    ein eine einem einen einer eines er es für hat hatte hatten habe haben hier ich ihr im in ist ja kann kein keine man mit
    nach nicht noch nur ob oder sich sie sind so über um und uns unser unsere von vor war waren warum was welche welcher
    wenn wer wie wieso wir wird wo wurde wurden zu zum zur`,
  es: `a al algo ante antes aquel aquella como con cual cuando cuál cuándo cómo de del desde donde dónde el ella en entre era
    es esa ese eso esta estaba este esto fue fueron ha habia había hay he hemos la las le les lo los más me mi muy no nos
    nuestra nuestro o para pero por porque qué que quién se sin sobre su sus también te un una uno y ya`,
  uk: `а але б без би був була були було бути в від він вона вони воно все всі де для до є ж за з і із й коли має ми на над
    нам нас не ним ніж ні о от по при про та так там те ти то той тому у хто це цей ця чи чого чому що щоб як яка яке який
    які його її їх`,
  fr: `à au aux avec ce ces cette comment dans de des du elle en est et été il ils je la le les leur mais ne nous on ou où par
    pas pour pourquoi quand que quel quelle qui sa se ses son sur un une vous`,
};

const LISTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(WORDS).map(([language, words]) => [language, new Set(words.split(/\s+/))]),
);

export type Language = "en" | "de" | "es" | "uk" | "fr" | undefined;

/** The language most of whose small words are in a query; undefined where there is none. The first of equal ones. */
export function languageOf(words: readonly string[]): Language {
  let best: { readonly language: Language; readonly count: number } = { language: undefined, count: 0 };
  for (const [language, list] of LISTS) {
    const count = words.filter((word) => list.has(word)).length;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table above
    if (count > best.count) best = { language: language as Language, count };
  }
  return best.language;
}

/** The words without those that say nothing in their language; all of them where nothing would be left. */
export function withoutStopWords(words: readonly string[], language: Language): readonly string[] {
  const list = language === undefined ? undefined : LISTS.get(language);
  const left = list === undefined ? words : words.filter((word) => !list.has(word));
  return left.length === 0 ? words : left;
}
