/** The serialize face (spec.md#adapter-restore). The caller decides between native and foreign, never the adapter. */
import type { Lineage } from "../../kit/adapter/index.ts";
import type { Restored, SerializeOptions } from "../../kit/restore/index.ts";
import { serializeForeign } from "./foreign.ts";
import { serializeNative } from "./native.ts";

export function serialize(lineage: Lineage, options: SerializeOptions): Restored {
  return options.fidelity === "native"
    ? serializeNative(lineage, options)
    : serializeForeign(lineage, options);
}
