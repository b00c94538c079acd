/**
 * Which message each record of a log became, by the record's own id. Nearly all have that very id, so what is kept of
 * them for a later read is hardly more than a digest (spec.md#sync-prefix).
 */
import type { JsonValue } from "../../../base/json/json.ts";
import { DigestMap } from "./digest-map.ts";
import { extractString } from "../extract/extract.ts";

/** How a message's id is kept: behind `+` what follows the record's id in it, behind `=` all of it. */
const SUFFIX = "+";
const WHOLE = "=";

export class MessageIds {
  readonly #forms: DigestMap<string>;

  constructor(before?: { readonly state: JsonValue | undefined }) {
    this.#forms = new DigestMap(before && { ...before, valueOf: (group) => extractString(group, "value") });
  }

  get(record: string): string | undefined {
    const form = this.#forms.get(record);
    if (form === undefined) return undefined;
    return form.startsWith(WHOLE) ? form.slice(WHOLE.length) : record + form.slice(SUFFIX.length);
  }

  set(record: string, message: string): void {
    const isSuffixed = message.startsWith(record);
    this.#forms.set(record, isSuffixed ? SUFFIX + message.slice(record.length) : WHOLE + message);
  }

  state(): JsonValue {
    return this.#forms.state();
  }
}
