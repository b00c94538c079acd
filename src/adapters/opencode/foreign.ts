/** stand-in */
import type { JsonObject } from "../../base/json.ts";
import { PondError } from "../../base/errors.ts";
import type { Lineage, LossReport, SerializeOptions } from "../seam/index.ts";
export function foreignExports(
  _lineage: Lineage,
  _options: SerializeOptions,
  _losses: LossReport,
): readonly { readonly id: string; readonly value: JsonObject }[] {
  throw new PondError("validation_failed", "not yet");
}
