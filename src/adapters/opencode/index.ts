/** opencode: databases, JSON trees and exports of its sessions (docs/adapters/opencode.md). */
import type { Adapter } from "../seam/index.ts";
import { forgetClaims } from "./claims.ts";
import { places, units } from "./discover.ts";
import { ADAPTER } from "./layout.ts";
import { read } from "./parse.ts";
import { serialize } from "./serialize.ts";

export const opencode: Adapter = {
  name: ADAPTER,
  title: "opencode",
  places,
  units: (place, signal) => {
    forgetClaims(place);
    return units(place, signal);
  },
  read,
  restore: { kind: "supported", serialize },
};
