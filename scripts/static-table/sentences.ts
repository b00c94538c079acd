/** What the rows are fitted to: English sentences, and texts of other languages that say the same as one of them. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { CHAT, COMPILER, GLOSSES, KEYWORDS, MONITOR, PACKS, unpacked } from "./sources.ts";

/** A text, and the English sentence whose vector is its own. */
export interface Pair {
  readonly language: string;
  readonly text: string;
  readonly english: string;
}

const LANGUAGES = ["de", "es", "fr", "it", "ja", "ko", "pl", "pt", "ru", "uk", "zh"];

/** Pairs of all sources; English ones are pairs with themselves. */
export function pairsOf(folder: string): readonly Pair[] {
  const pairs = [
    ...packPairs(folder),
    ...compilerPairs(folder),
    ...filePairs(unpacked(CHAT, folder), "src/i18n/strings", CHAT_FILES),
    ...filePairs(unpacked(MONITOR, folder), "src/lang", MONITOR_FILES),
    ...keywordPairs(folder),
    ...glosses(folder),
  ];
  const unique = new Map(pairs.map((pair) => [`${pair.language} ${pair.english} ${pair.text}`, pair]));
  return [...unique.values()].filter(({ text, english }) => SAYS.test(english) && SAYS.test(text));
}

const SAYS = /\p{L}{2}|[\p{Script=Han}\p{Script=Katakana}]/u;

/** Without places for values, icons, keys and markup. */
const clean = (text: string): string =>
  text
    .replaceAll(/\{[^}]*\}|%\([^)]*\)s|<[^>]*>|\$\([^)]*\)|&&|command:[\w.-]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 400);

function paired(language: string, english: unknown, text: unknown): readonly Pair[] {
  if (typeof english !== "string" || typeof text !== "string") return [];
  const [from, to] = [clean(english), clean(text)];
  const self = { language: "en", text: from, english: from };
  return from === to || language === "en" ? [self] : [self, { language, text: to, english: from }];
}

/** Letters of the pseudo language, and what they are in English. */
const PSEUDO_LETTERS =
  "\u00E6\u00C6\u00FE\u00DF\u00E7\u00C7\u00F0\u00D0\u00EB\u00CB\u00EF\u00CF\u00A3\u00F1\u00D1\u00F8\u00D8\u00A7\u00B5\u00DC\u00FF\u00DD";
const ENGLISH_LETTERS = "aAbBcCdDeEiILnNoOSuUyY";

const plainEnglish = (text: string): string =>
  text.replaceAll(/\P{ASCII}/gu, (letter) => ENGLISH_LETTERS[PSEUDO_LETTERS.indexOf(letter)] ?? letter);

function packPairs(folder: string): readonly Pair[] {
  const english = mainStrings(unpacked(PACKS["en"] ?? missing(), folder));
  return Object.entries(PACKS).flatMap(([language, source]) => {
    const place = unpacked(source, folder);
    const main = mainStrings(place).flatMap((text, at) =>
      paired(language, plainEnglish(english[at] ?? ""), text),
    );
    return [...main, ...extensionPairs(place, language)];
  });
}

function missing(): never {
  throw new Error("there is no English pack");
}

const mainStrings = (place: string): readonly string[] => {
  const file = readFileSync(join(place, "translations/main.i18n.json.js"), "utf8");
  const script = `${file.slice(0, file.lastIndexOf("export"))};content`;
  const strings: unknown = runInNewContext(script, {}, { timeout: 10_000 });
  return Array.isArray(strings) ? strings.map((text) => (typeof text === "string" ? text : "")) : [];
};

/** Strings of the extensions are keyed by their English. */
function extensionPairs(place: string, language: string): readonly Pair[] {
  const folder = join(place, "translations/extensions");
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const { contents } = jsonOf(join(folder, name));
      return Object.entries(contents?.["bundle"] ?? {}).flatMap(([english, text]) =>
        paired(language, english.replace(/\/\{Locked=.*$/s, ""), text),
      );
    });
}

interface Extension {
  readonly contents?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const jsonOf = (file: string): Extension => JSON.parse(readFileSync(file, "utf8"));

const COMPILER_FOLDERS: Readonly<Record<string, string>> = { pt: "pt-br", zh: "zh-cn" };

function compilerPairs(folder: string): readonly Pair[] {
  const place = join(unpacked(COMPILER, folder), "lib");
  const english = new Map(
    [...readFileSync(join(place, "typescript.js"), "utf8").matchAll(DIAGNOSTIC)].map(([, key, text]) => [
      key,
      JSON.parse(`"${text ?? ""}"`),
    ]),
  );
  return LANGUAGES.flatMap((language) => {
    const file = join(place, COMPILER_FOLDERS[language] ?? language, "diagnosticMessages.generated.json");
    if (!existsSync(file)) return [];
    return Object.entries(stringsOf(file)).flatMap(([key, text]) => paired(language, english.get(key), text));
  });
}

const DIAGNOSTIC = /: diag\(\d+, \d \/\* \w+ \*\/, "([^"]+)", "((?:[^"\\]|\\.)*)"/g;

const CHAT_FILES: Readonly<Record<string, string>> = { en: "en_EN", de: "de_DE", pt: "pt_BR", zh: "zh_Hans" };
const MONITOR_FILES: Readonly<Record<string, string>> = {
  de: "de-DE",
  es: "es-ES",
  fr: "fr-FR",
  it: "it-IT",
  ko: "ko-KR",
  pt: "pt-BR",
  ru: "ru-RU",
  uk: "uk-UA",
  zh: "zh-CN",
};

function filePairs(place: string, folder: string, names: Readonly<Record<string, string>>): readonly Pair[] {
  const read = (language: string): Readonly<Record<string, string>> => {
    const file = join(place, folder, `${names[language] ?? language}.json`);
    return existsSync(file) ? stringsOf(file) : {};
  };
  const english = read("en");
  return LANGUAGES.flatMap((language) =>
    Object.entries(read(language)).flatMap(([key, text]) => paired(language, english[key], text)),
  );
}

/** A file of strings, flat: keys of objects in objects are joined. */
function stringsOf(file: string): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {};
  const add = (prefix: string, value: unknown): void => {
    if (typeof value === "string") flat[prefix] = value;
    else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) add(`${prefix}|${key}`, inner);
  };
  add("", JSON.parse(readFileSync(file, "utf8")));
  return Object.fromEntries(Object.entries(flat).map(([key, text]) => [key.slice(1), text]));
}

/** What people look a sign up by, of each sign all of its words together. */
function keywordPairs(folder: string): readonly Pair[] {
  const place = join(unpacked(KEYWORDS, folder), "annotations");
  const read = (language: string): Readonly<Record<string, { readonly default?: readonly string[] }>> =>
    JSON.parse(readFileSync(join(place, language, "annotations.json"), "utf8")).annotations.annotations;
  const english = read("en");
  return LANGUAGES.flatMap((language) =>
    Object.entries(read(language)).flatMap(([sign, { default: words }]) =>
      paired(language, english[sign]?.default?.join(", "), words?.join(", ")),
    ),
  );
}

/** One in so many: more of them made the teacher slower and nothing better. */
const GLOSSES_APART = 4;

function glosses(folder: string): readonly Pair[] {
  const place = join(unpacked(GLOSSES, folder), "dict");
  return ["noun", "verb", "adj", "adv"].flatMap((kind) =>
    readFileSync(join(place, `data.${kind}`), "utf8")
      .split("\n")
      .filter((line) => /^\d{8} /.test(line))
      .filter((_, at) => at % GLOSSES_APART === 0)
      .flatMap((line) => {
        const gloss = line.slice(line.indexOf("| ") + 2);
        const words = line.split(" ").slice(4, 5).join(" ").replaceAll("_", " ");
        return isName(line) ? [] : paired("en", `${words}: ${gloss}`, "");
      }),
  );
}

/** People, places and species say little about work: instances, and lexicographer's files of animals and plants. */
const isName = (line: string): boolean =>
  line.includes(" @i ") || ["05", "20", "15", "18"].includes(line.slice(9, 11));
