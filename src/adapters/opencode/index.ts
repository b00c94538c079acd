/** opencode: databases, JSON trees and exports of its sessions (docs/adapters/opencode.md). */
import type { Adapter } from "../seam/index.ts";
import { places, units } from "./discover.ts";
import { ADAPTER } from "./layout.ts";

export const opencode: Adapter = {
  name: ADAPTER,
  title: "opencode",
  places,
  units,
  async *read(unit, request) {
    yield* (await import("./parse.ts")).read(unit, request);
  },
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./serialize.ts")).serialize(lineage, options),
  },
};
