/** Errors in the configuration file: `file:line:column: what`, and the fix. */
import { PondError } from "../base/errors.ts";
import type { Sentence } from "../base/sentence.ts";
import { maskSecrets, SECRET_NAME } from "../base/secrets.ts";
import type { KeyPlace } from "./toml-keys.ts";

interface Trouble {
  readonly problem: string;
  readonly fix: Sentence;
}

export function fileError(file: string, place: KeyPlace, { problem, fix }: Trouble): PondError {
  const { line, column, path } = place;
  return new PondError("validation_failed", `${file}:${line}:${column}: ${problem}`, {
    hint: fix,
    data: { file, line, column, key: path.join(".") },
  });
}

interface BrokenToml {
  readonly file: string;
  readonly text: string;
  readonly places: readonly KeyPlace[];
  readonly error: { readonly line: number; readonly column: number; readonly message: string };
}

/** The parser's error with the key it happened in and what to write instead. */
export function syntaxError({ file, text, places, error }: BrokenToml): PondError {
  const { line, column } = error;
  const before = places.filter(
    (place) => place.line < line || (place.line === line && place.column <= column),
  );
  const path = before.at(-1)?.path ?? [];
  const reason = (error.message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "");
  const key = path.join(".");
  return fileError(
    file,
    { path, line, column },
    {
      problem: key === "" ? `not TOML: ${reason}` : `not TOML, at "${key}": ${reason}`,
      fix: fixOf(reason, { line: text.split(/\r?\n/)[line - 1] ?? "", first: firstPlace(places, path) }),
    },
  );
}

const firstPlace = (places: readonly KeyPlace[], path: readonly string[]): number | undefined =>
  places.find((place) => place.path.join("\0") === path.join("\0"))?.line;

/** The slips that people make, by the parser's words; anything else gets the general rule. */
function fixOf(reason: string, at: { readonly line: string; readonly first: number | undefined }): string {
  const equals = at.line.indexOf("=");
  const name = at.line.slice(0, Math.max(0, equals)).trim();
  const value = at.line.slice(equals + 1).trim();
  if (reason.includes("redefine")) return `it is set already on line ${at.first}: keep one of the two`;
  if (reason.includes("escape")) return `a backslash needs single quotes: ${name} = '...'`;
  if (reason.includes("string")) return "close the quote on the same line";
  if (reason.includes("comma") || reason.includes("unfinished"))
    return "separate with commas and close the bracket";
  if (reason.includes("value") && name !== "")
    return value === ""
      ? `give ${name} a value, or remove the line`
      : `text needs quotes: ${name} = "${SECRET_NAME.test(name) ? "..." : maskSecrets(value)}"`;
  return `a setting is name = "text", a number, true or false; a table is [name], each on a line of its own`;
}
