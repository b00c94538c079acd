/** From what a file, a variable or a flag says to the value of a field, or to what is wrong with it. Pure. */
import { delimiter, resolve } from "node:path";
import { nearest } from "../base/nearest.ts";
import { maskUrlSlip } from "../base/secrets.ts";
import type { Environment } from "./environment.ts";
import type { Field, FieldType, FieldValue } from "./schema.ts";
import { fromHome } from "../base/files/folders.ts";

export type Checked =
  | { readonly ok: true; readonly value: FieldValue }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

export interface ValueContext {
  readonly environment: Environment;
  /** Where relative paths start: the working folder, or the folder of the file that names them. */
  readonly base: string;
}

/** Text of a flag or a variable, as the raw value that the same setting would have in the file. */
export const rawFromText = (type: FieldType, text: string): unknown => FROM_TEXT[type](text);

/** What is no such value stays text, and the check says so. */
const FROM_TEXT: Readonly<Record<FieldType, (text: string) => unknown>> = {
  string: (text) => text,
  boolean: (text) => /^(?:true|1|yes|on)$/i.test(text) || (/^(?:false|0|no|off)$/i.test(text) ? false : text),
  integer: (text) => (/^[+-]?\d+$/.test(text) ? Number(text) : text),
  strings: (text) => text.split(delimiter).filter((part) => part !== ""),
};

/** A raw value checked against its field, paths made absolute. */
export function checkValue(field: Field, raw: unknown, context: ValueContext): Checked {
  if (!isOfType(field.type, raw))
    return wrong(
      `must be ${NOUN[field.type]}, not ${field.secret === undefined ? nameOf(raw) : "that"}`,
      `for example ${exampleOf(field)}`,
    );
  if (typeof raw === "number") return checkRange(field, raw);
  if (typeof raw === "string") return checkText(field, raw, context);
  if (typeof raw === "boolean") return { ok: true, value: raw };
  const members = raw.map((member) => checkText(field, member, context));
  const bad = members.find((member) => !member.ok);
  if (bad !== undefined) return bad;
  return { ok: true, value: members.flatMap((member) => (member.ok ? [String(member.value)] : [])) };
}

function checkRange(field: Field, value: number): Checked {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = field;
  if (value >= minimum && value <= maximum) return { ok: true, value };
  const bound = value < minimum ? `at least ${minimum}` : `at most ${maximum}`;
  return wrong(`must be ${bound}, not ${value}`, `for example ${exampleOf(field)}`);
}

function checkText(field: Field, text: string, context: ValueContext): Checked {
  if (text === "") return wrong("must not be empty", "give it a value, or leave it out");
  if (field.pattern !== undefined && !field.pattern.test(text))
    return wrong(`cannot be ${JSON.stringify(text)}`, field.patternHint ?? `it must match ${field.pattern}`);
  if (field.choices !== undefined && !field.choices.includes(text)) return notChoice(field.choices, text);
  if (field.format === undefined) return { ok: true, value: text };
  if (field.format === "store" && /^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(text)) return checkUrl(text);
  // `s3:/bucket` is no folder of that name: what one believes in the bucket would be written here.
  const slip = SCHEMES.find((scheme) => text.toLowerCase().startsWith(`${scheme}:`));
  if (field.format === "store" && slip !== undefined)
    return wrong(
      `cannot be ${JSON.stringify(maskUrlSlip(text))}`,
      `write two slashes after the colon: ${slip}://...`,
    );
  return absolute(text, context);
}

function notChoice(choices: readonly string[], text: string): Checked {
  const meant = nearest(text, choices);
  return wrong(
    `cannot be ${JSON.stringify(text)}`,
    `${meant === undefined ? "" : `did you mean "${meant}"? It is `}one of ${choices.join(", ")}`,
  );
}

const SCHEMES = ["file", "s3", "gs", "az", "memory"];

function checkUrl(url: string): Checked {
  const end = url.indexOf("://");
  const scheme = url.slice(0, end).toLowerCase();
  if (!SCHEMES.includes(scheme))
    return wrong(
      `cannot begin with ${scheme}://`,
      `use a path, or one of ${SCHEMES.map((s) => `${s}://`).join(", ")}`,
    );
  const rest = url.slice(end + 3);
  if (scheme === "file" && !rest.startsWith("/"))
    return wrong("must have an absolute path after file://", "write file:///home/me/pond, or just the path");
  if (scheme !== "memory" && /^\/*$/.test(rest))
    return wrong(
      "names no place in the store",
      `write ${scheme}://${scheme === "file" ? "/path" : "bucket/path"}`,
    );
  return { ok: true, value: `${scheme}://${rest}` };
}

function absolute(path: string, { environment, base }: ValueContext): Checked {
  if (/^~[^/\\]/.test(path))
    return wrong(`cannot be ${JSON.stringify(path)}`, "write the whole path of that home");
  return { ok: true, value: resolve(base, fromHome(path, environment.home)) };
}

const wrong = (problem: string, fix: string): Checked => ({ ok: false, problem, fix });

const NOUN: Readonly<Record<FieldType, string>> = {
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  strings: "a list of strings",
};

type Raw = string | boolean | number | readonly string[];

function isOfType(type: FieldType, raw: unknown): raw is Raw {
  if (type === "strings") return Array.isArray(raw) && raw.every((member) => typeof member === "string");
  return type === "integer" ? Number.isSafeInteger(raw) : typeof raw === type;
}

function nameOf(raw: unknown): string {
  if (typeof raw === "string") return `the string ${JSON.stringify(raw)}`;
  if (Array.isArray(raw)) return "a list of other things";
  if (raw instanceof Date) return "a date";
  return typeof raw === "number" || typeof raw === "boolean" ? String(raw) : "a table";
}

function exampleOf({ key, type, default: fallback }: Field): string {
  const name = key.slice(key.lastIndexOf(".") + 1).replace("*", "name");
  const examples = { string: "text", boolean: false, integer: 1, strings: ["/path"] } satisfies Record<
    FieldType,
    unknown
  >;
  return `${name} = ${JSON.stringify(typeof fallback === "function" ? "/path" : (fallback ?? examples[type]))}`;
}
