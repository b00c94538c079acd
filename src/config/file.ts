/**
 * Reads the configuration file into one entry a setting, each with its line. A broken file is an error that names
 * place, key and fix (spec.md#config-broken-file).
 */
import { readFile } from "node:fs/promises";
import { errnoOf, PondError, toPondError } from "../base/errors.ts";
import type { Sentence } from "../base/sentence.ts";
import { sentence } from "../base/sentence.ts";
import { nearest } from "../base/nearest.ts";
import { fileError, syntaxError } from "./file-error.ts";
import { FIELDS, fieldAt, namesBelow, segments, variableOf } from "./schema.ts";
import type { Field } from "./schema.ts";
import type { KeyPlace } from "./toml-keys.ts";

export interface FileSetting {
  readonly path: readonly string[];
  readonly field: Field;
  readonly raw: unknown;
  readonly place: KeyPlace;
}

/** The entries of the file, or undefined where there is none. */
export async function readConfigFile(file: string): Promise<readonly FileSetting[] | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  const { parse, TomlError } = await import("smol-toml");
  const { keyPlaces } = await import("./toml-keys.ts");
  const places = keyPlaces(text);
  let document: object;
  try {
    document = parse(text);
  } catch (error) {
    throw error instanceof TomlError ? syntaxError({ file, text, places, error }) : error;
  }
  return [...entriesOf({ file, places }, document, [])];
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    const errno = errnoOf(error);
    // ENOTDIR: a home that is no folder (/dev/null of a service) holds no file either.
    if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
    if (errno === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw unreadable(file, "is not UTF-8 text", "save it as UTF-8");
    if (errno === "EISDIR") throw unreadable(file, "is a folder, not a file", "name the file inside it");
    throw toPondError(error);
  }
}

const unreadable = (file: string, problem: string, hint: string): PondError =>
  new PondError("validation_failed", `the configuration ${file} ${problem}`, { hint, data: { file } });

interface Located {
  readonly file: string;
  readonly places: readonly KeyPlace[];
}

function* entriesOf(source: Located, table: object, above: readonly string[]): Generator<FileSetting> {
  for (const [name, raw] of Object.entries(table)) {
    const path = [...above, name];
    const field = fieldAt(path);
    const place = placeOf(source.places, path);
    if (field !== undefined) yield { path, field, raw, place };
    else if (namesBelow(path).length === 0)
      throw fileError(source.file, place, {
        problem: `"${path.join(".")}" is not a setting`,
        fix: guess(path) ?? sentence`remove the line; ${{ do: "describe_settings" }} lists every setting`,
      });
    else if (isTable(raw)) yield* entriesOf(source, raw, path);
    else
      throw fileError(source.file, place, {
        problem: `"${path.join(".")}" is a table, not a value`,
        fix: `write [${path.join(".")}] on a line of its own, and its settings below`,
      });
  }
}

/**
 * A neighbour in the same table, else a setting of that name in another one (a forgotten `[storage]`), or with that variable
 * or flag (`store`); else what there is in that table.
 */
function guess(path: readonly string[]): Sentence | undefined {
  const name = path.at(-1) ?? "";
  const above = path.slice(0, -1);
  const sibling = nearest(name, namesBelow(above));
  if (sibling !== undefined) return `did you mean "${[...above, sibling].join(".")}"?`;
  const known: readonly Field[] = FIELDS;
  const meant =
    known.find(({ key }) => segments(key).at(-1) === name) ??
    known.find((field) => variableOf(field) === `POND_${name.toUpperCase()}`);
  if (meant === undefined) return siblingsOf(above);
  const elsewhere = segments(meant.key);
  return `did you mean "${elsewhere.join(".")}"? It belongs under [${elsewhere.slice(0, -1).join(".")}]`;
}

function siblingsOf(table: readonly string[]): Sentence | undefined {
  const names = namesBelow(table);
  if (table.length === 0 || names.includes("*")) return undefined;
  return sentence`[${table.join(".")}] takes ${names.join(", ")}: ${{ do: "describe_settings" }} describes each`;
}

const isTable = (raw: unknown): raw is object =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);

/** The key itself, else (a table that only its members' headers name) the first key below it. */
function placeOf(places: readonly KeyPlace[], path: readonly string[]): KeyPlace {
  const under = places.filter((place) => path.every((name, i) => place.path[i] === name));
  return under.find((place) => place.path.length === path.length) ?? under[0] ?? { path, line: 1, column: 1 };
}
