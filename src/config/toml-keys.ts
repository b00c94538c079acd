/**
 * Where each key of a TOML text is: a setting's source is `file config.toml:12`, and the parser gives values and errors
 * only. So it is asked line by line: a key begins on the first line that the longest beginning without it does not cover.
 * Tolerant: a broken text gives the keys up to the break.
 */
import { parse } from "smol-toml";

export interface KeyPlace {
  readonly path: readonly string[];
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** Every key, table and key of an inline table, in the order of the text. */
export function keyPlaces(text: string): readonly KeyPlace[] {
  const lines = text.split("\n");
  const places: KeyPlace[] = [];
  const known = new Set<string>();
  let covered = 0;
  for (let end = 1; end <= lines.length; end++) {
    if (BLANK.test(lines[end - 1] ?? "") && end < lines.length) continue;
    const table = parsed(lines.slice(0, end).join("\n"));
    if (table === undefined) continue;
    const begin = lines.findIndex((line, at) => at >= covered && !BLANK.test(line));
    for (const path of pathsIn(table, [])) {
      const name = JSON.stringify(path);
      if (known.has(name)) continue;
      known.add(name);
      places.push({ path, ...placeIn(lines, begin, path.at(-1) ?? "") });
    }
    covered = end;
  }
  return covered === lines.length ? places : [...places, ...brokenKey(lines, covered)];
}

const BLANK = /^[ \t\r\ufeff]*(?:#.*)?$/;
const KEY = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)/;
const HEADER = /^\s*\[/;

function parsed(text: string): object | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Parents before what they hold, each table in the order in which it was written. */
function* pathsIn(table: object, above: readonly string[]): Generator<readonly string[]> {
  for (const [name, value] of Object.entries(table)) {
    const path = [...above, name];
    yield path;
    for (const each of [value].flat(Number.POSITIVE_INFINITY))
      if (typeof each === "object" && each !== null && !(each instanceof Date)) yield* pathsIn(each, path);
  }
}

/** Where the key of the statement begins; a key of an inline table is where its name is first written behind that. */
function placeIn(lines: readonly string[], begin: number, name: string): Omit<KeyPlace, "path"> {
  const statement = lines[begin] ?? "";
  const start = statement.search(/[^\s[\ufeff]/);
  const value = HEADER.test(statement) ? statement.length : statement.indexOf("=");
  const own = { line: begin + 1, column: start + 1 };
  if (statement.slice(start, value).includes(name)) return own;
  for (const [at, line] of lines.slice(begin).entries()) {
    const from = line.indexOf(name, at === 0 ? value : 0);
    if (from >= 0)
      return { line: begin + at + 1, column: from + (/["']/.test(line[from - 1] ?? "") ? 0 : 1) };
  }
  return own;
}

/** The key of the statement that does not parse, read by giving it another value below its table's header. */
function brokenKey(lines: readonly string[], covered: number): readonly KeyPlace[] {
  const at = lines.findIndex((line, index) => index >= covered && !BLANK.test(line));
  const line = lines[at] ?? "";
  const key = KEY.exec(line)?.[1];
  if (key === undefined) return [];
  const header = lines.slice(0, at).findLast((each) => HEADER.test(each)) ?? "";
  const path = [...pathsIn(parsed(`${header}\n${key} = 0`) ?? {}, [])].at(-1);
  return path === undefined ? [] : [{ path, line: at + 1, column: line.search(/\S/) + 1 }];
}
