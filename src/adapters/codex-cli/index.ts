/** Codex CLI: rollouts under `$CODEX_HOME` (docs/adapters/codex-cli.md). */
import { openPlace } from "../kit/sources/discovery.ts";
import type { Adapter } from "../kit/adapter/index.ts";
import { defaultPlaces, units } from "./places.ts";
import { ADAPTER } from "./layout.ts";

export const codexCli: Adapter = {
  name: ADAPTER,
  title: "Codex CLI",
  defaultPlaces,
  open: (place) => openPlace(place, { units, load: async () => (await import("./parse/reader.ts")).read }),
  reportsSpans: true,
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./restore/restore.ts")).serialize(lineage, options),
    hashes: async (state) => (await import("./restore/native.ts")).hashes(state),
    context: async () => (await import("./restore/context.ts")).contextOf,
    present: async (id, { place }) => (await import("./restore/present.ts")).present(id, place),
  },
};
