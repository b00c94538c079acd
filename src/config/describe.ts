/** Settings as people see them: secrets masked. Pure. A door of its own: only `pond config show` needs it. */
import { HIDDEN, maskUrl, SECRET_NAME } from "../base/secrets.ts";
import type { Setting } from "./load.ts";
import type { FieldValue } from "./schema.ts";

export function isSecret({ path, field }: Pick<Setting, "path" | "field">): boolean {
  if (field.secret === undefined) return false;
  return field.secret === "always" || SECRET_NAME.test(path.at(-1) ?? "");
}

/** The value, unless it is a secret; a URL without its password and signed parameters. */
export function shownValue(setting: Pick<Setting, "path" | "field" | "value">): FieldValue {
  if (isSecret(setting)) return HIDDEN;
  const { value } = setting;
  if (typeof value === "string") return maskUrl(value);
  return typeof value === "object" ? value.map(maskUrl) : value;
}
