/** Settings as people see them: where each comes from, secrets masked. Pure. */
import { basename } from "node:path";
import type { Setting, Source } from "./load.ts";
import type { FieldValue } from "./schema.ts";

/** Option names that sound like credentials: object stores call theirs so. */
const SECRET_NAME = /secret|key|token|passw|credential|signature|authorization|sas(?:_|$)/i;

/** The same for every secret: its length is nobody's business either. */
const MASK = "********";

export function describeSource(source: Source): string {
  if (source.kind === "file") return `file ${basename(source.file)}:${source.line}`;
  return source.kind === "default" ? "default" : `${source.kind} ${source.name}`;
}

export function isSecret({ path, field }: Pick<Setting, "path" | "field">): boolean {
  if (field.secret === undefined) return false;
  return field.secret === "always" || SECRET_NAME.test(path.at(-1) ?? "");
}

/** The value, unless it is a secret; a URL without its password and signed parameters. */
export function shownValue(setting: Pick<Setting, "path" | "field" | "value">): FieldValue {
  if (isSecret(setting)) return MASK;
  const { value } = setting;
  if (typeof value === "string") return maskUrl(value);
  return typeof value === "object" ? value.map(maskUrl) : value;
}

function maskUrl(text: string): string {
  if (!text.includes("://")) return text;
  return text
    .replace(/(:\/\/[^/?#@:]*):[^/?#@]*@/, `$1:${MASK}@`)
    .replaceAll(/([?&])([^=&#]*)=([^&#]*)/g, (all, mark: string, name: string) =>
      /^sig$/i.test(name) || SECRET_NAME.test(name) ? `${mark}${name}=${MASK}` : all,
    );
}
