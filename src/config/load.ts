/**
 * The settings in force and where each comes from: flag > env > file > default (spec.md#config-precedence).
 * Every command works with no file.
 */
import { basename, dirname, resolve } from "node:path";
import { PondError } from "../base/errors.ts";
import type { Sentence } from "../base/sentence.ts";
import { sentence } from "../base/sentence.ts";
import type { Environment } from "./environment.ts";
import { fileError } from "./file-error.ts";
import { readConfigFile } from "./file.ts";
import type { FileSetting } from "./file.ts";
import { fromHome } from "../base/files/folders.ts";
import { resolvePaths } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { fieldAt, FIELDS, segments } from "./schema.ts";
import type { Config, Field, FieldKey, FieldValue } from "./schema.ts";
import { checkValue, rawFromText } from "./values.ts";
import { CONFIG_VARIABLE, readVariables } from "./variables.ts";

export type Source =
  | { readonly kind: "flag" | "env"; readonly name: string }
  | { readonly kind: "file"; readonly file: string; readonly line: number }
  | { readonly kind: "default" };

/** One setting in force. */
export interface Setting {
  readonly path: readonly string[];
  readonly field: Field;
  readonly value: FieldValue;
  readonly source: Source;
}

/** A setting that the caller gives: a flag of the command line, an option of a program. */
export interface GivenSetting {
  readonly key: FieldKey;
  /** As the caller names it, for messages: `--store`. */
  readonly name: string;
  readonly text: string;
}

export interface LoadOptions {
  readonly environment: Environment;
  /** A file that is named must exist. */
  readonly file?: string | undefined;
  readonly given?: readonly GivenSetting[];
}

export interface LoadedConfig {
  readonly values: Config;
  readonly settings: readonly Setting[];
  readonly file: ConfigFile;
  readonly paths: Paths;
  /** `POND_*` variables that no setting has: most likely slips. */
  readonly unknownVariables: readonly string[];
}

export interface ConfigFile {
  readonly path: string;
  /** The flag or variable that named it; undefined for the default place. */
  readonly namedBy: Sentence | undefined;
}

export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { environment, given = [] } = options;
  const paths = resolvePaths(environment);
  const file = configFile(options);
  const entries = await readConfigFile(file.path);
  if (entries === undefined && file.namedBy !== undefined)
    throw new PondError("not_found", sentence`${file.namedBy} names ${file.path}, which does not exist`, {
      hint: sentence`create it, or leave ${file.namedBy} out: every command works with no file`,
      data: { file: file.path },
    });
  const variables = readVariables(environment.env);
  const settings = firstOfEach([
    ...given.map(({ key, name, text }) => {
      const path = segments(key);
      return fromText({ path, field: requireField(path), text }, { kind: "flag", name }, environment);
    }),
    ...variables.known.map((variable) =>
      fromText(variable, { kind: "env", name: variable.name }, environment),
    ),
    ...(entries ?? []).map((entry) => fromFile(entry, file.path, environment)),
    ...FIELDS.flatMap((field) => fromDefault(field, paths)),
  ]);
  return { values: nest(settings), settings, file, paths, unknownVariables: variables.unknown };
}

/** The file that is read: the named one, else POND_CONFIG, else the default place. */
export function configFile({ environment, file }: Pick<LoadOptions, "environment" | "file">): ConfigFile {
  const { env, cwd, home } = environment;
  const named = (path: string): string => resolve(cwd, fromHome(path, home));
  if (file !== undefined) return { path: named(file), namedBy: [{ field: "config" }] };
  const variable = env[CONFIG_VARIABLE];
  if (variable) return { path: named(variable), namedBy: CONFIG_VARIABLE };
  return { path: resolvePaths(environment).configFile, namedBy: undefined };
}

interface Text {
  readonly path: readonly string[];
  readonly field: Field;
  readonly text: string;
}

function fromText(
  { path, field, text }: Text,
  source: Source & { name: string },
  environment: Environment,
): Setting {
  const checked = checkValue(field, rawFromText(field.type, text), { environment, base: environment.cwd });
  if (checked.ok) return { path, field, value: checked.value, source };
  throw new PondError("validation_failed", `${source.name}: ${path.join(".")} ${checked.problem}`, {
    hint: checked.fix,
    data: { key: path.join("."), source: source.name },
  });
}

function fromFile({ path, field, raw, place }: FileSetting, file: string, environment: Environment): Setting {
  const checked = checkValue(field, raw, { environment, base: dirname(file) });
  if (checked.ok)
    return { path, field, value: checked.value, source: { kind: "file", file, line: place.line } };
  throw fileError(file, place, { problem: `${path.join(".")} ${checked.problem}`, fix: checked.fix });
}

function fromDefault(field: Field, paths: Paths): Setting[] {
  if (field.default === undefined) return [];
  const value = typeof field.default === "function" ? field.default(paths) : field.default;
  return [{ path: segments(field.key), field, value, source: { kind: "default" } }];
}

function requireField(path: readonly string[]): Field {
  const field = fieldAt(path);
  if (field === undefined) throw new PondError("internal", `no setting ${path.join(".")}`);
  return field;
}

/** The first of each path wins; the answer is in the order of the fields, names of the user's sorted. */
function firstOfEach(found: readonly Setting[]): readonly Setting[] {
  const first = new Map<string, Setting>();
  for (const setting of found) {
    const key = setting.path.join(".");
    if (!first.has(key)) first.set(key, setting);
  }
  const groups = FIELDS.map(({ key }) => key.split("*")[0]);
  const rank = ({ field }: Setting): number => groups.indexOf(field.key.split("*")[0]);
  return [...first].toSorted(([a, x], [b, y]) => rank(x) - rank(y) || (a < b ? -1 : 1)).map(([, s]) => s);
}

function nest(settings: readonly Setting[]): Config {
  const root: Record<string, unknown> = {};
  // Tables of free names are there even when nothing is set.
  for (const { key } of FIELDS)
    if (key.includes("*")) tableAt(root, segments(key).slice(0, segments(key).indexOf("*")));
  for (const { path, value } of settings) setOwn(tableAt(root, path.slice(0, -1)), path.at(-1) ?? "", value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every setting went through its field's check
  return root as Config;
}

function tableAt(root: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  let table = root;
  for (const name of path) {
    if (!Object.hasOwn(table, name)) setOwn(table, name, {});
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a prefix of a field is never a leaf
    table = table[name] as Record<string, unknown>;
  }
  return table;
}

/** Defines, so that a name such as `__proto__` is data. */
function setOwn(table: object, name: string, value: unknown): void {
  Object.defineProperty(table, name, { value, enumerable: true, writable: true, configurable: true });
}

/** Where a setting comes from, for people. */
export function describeSource(source: Source): string {
  if (source.kind === "file") return `file ${basename(source.file)}:${source.line}`;
  return source.kind === "default" ? "default" : `${source.kind} ${source.name}`;
}
