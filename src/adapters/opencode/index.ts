/** opencode: databases, JSON trees and exports of its sessions (docs/adapters/opencode.md). */
import type { Adapter } from "../kit/adapter/index.ts";
import { ADAPTER } from "./layout.ts";
import { defaultPlaces } from "./places.ts";

export const opencode: Adapter = {
  name: ADAPTER,
  title: "opencode",
  defaultPlaces,
  open: async (place, machine) => new (await import("./parse/opened.ts")).OpenedOpencode(place, machine),
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./restore/restore.ts")).serialize(lineage, options),
    hashes: async (state, form) => (await import("./restore/native.ts")).hashes(state, form),
    context: async () => (await import("./restore/context.ts")).contextOf,
    present: async (id, at) => (await import("./restore/present.ts")).present(id, at),
  },
};
