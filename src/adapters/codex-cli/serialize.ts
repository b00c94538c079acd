/** The serialize face (spec.md#adapter-restore). The caller decides between native and foreign, never the adapter. */
import type { Lineage, Restored, SerializeOptions } from "../seam/index.ts";
import { serializeForeign } from "./foreign.ts";
import { serializeNative } from "./native.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "native"
    ? serializeNative(lineage, options)
    : serializeForeign(lineage, options);
}
