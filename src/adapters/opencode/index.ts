/** opencode: databases, JSON trees and exports of its sessions (docs/adapters/opencode.md). */
import type { Adapter } from "../seam/index.ts";
import { ADAPTER } from "./layout.ts";
import { looks } from "./places.ts";

export const opencode: Adapter = {
  name: ADAPTER,
  title: "opencode",
  looks,
  async *units(place, signal) {
    yield* (await import("./discover.ts")).units(place, signal);
  },
  async *read(unit, request) {
    yield* (await import("./parse.ts")).read(unit, request);
  },
  inventory: async (unit, at) => (await import("./inventory.ts")).inventory(unit, at),
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./serialize.ts")).serialize(lineage, options),
    hashes: async (state, form) => (await import("./restored-hashes.ts")).hashes(state, form),
    context: async () => (await import("./context.ts")).contextOf,
    present: async (id, at) => (await import("./present.ts")).present(id, at),
  },
};
