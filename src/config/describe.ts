/** Settings as people see them: secrets masked. Pure. A door of its own: only `pond config show` needs it. */
import { maskSecrets, SECRET_NAME } from "../base/secrets.ts";
import type { Setting } from "./load.ts";
import type { FieldValue } from "./schema.ts";

/** The same for every secret: its length is nobody's business either. */
const MASK = "********";

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

/** Whose a password is and what a parameter is called may be told; the rest of what a text gives away may not. */
function maskUrl(text: string): string {
  if (!text.includes("://")) return maskSecrets(text);
  return text
    .replace(/(:\/\/[^/?#@:]*):(?!\d{1,5}(?:[/?#]|$))[^?#]{0,500}@/, `$1:${MASK}@`)
    .replace(/(:\/\/)[^/?#@:]*@/, `$1${MASK}@`)
    .replaceAll(/([?&])([^=&#]*)=([^&#]*)/g, (all, mark: string, name: string) =>
      SECRET_NAME.test(name) ? `${mark}${name}=${MASK}` : all,
    );
}
