/** opencode: databases, JSON trees and exports of its sessions (docs/adapters/opencode.md). */
import type { Adapter } from "../seam/index.ts";
import { remember } from "./claims.ts";
import { findIn, places, unitsOf } from "./discover.ts";
import { ADAPTER } from "./layout.ts";
import { read } from "./parse.ts";
import { serialize } from "./serialize.ts";

export const opencode: Adapter = {
  name: ADAPTER,
  title: "opencode",
  places,
  units: async function* list(place, signal) {
    const found = await findIn(place, signal);
    remember(place, found);
    yield unitsOf(place, found);
  },
  read,
  restore: { kind: "supported", serialize },
};
