/** Codex CLI: rollouts under `$CODEX_HOME` (docs/adapters/codex-cli.md). */
import type { Adapter } from "../seam/index.ts";
import { looks, units } from "./discover.ts";
import { CODEX } from "./name.ts";

export const codexCli: Adapter = {
  name: CODEX,
  title: "Codex CLI",
  looks,
  units,
  async *read(unit, request) {
    yield* (await import("./read.ts")).read(unit, request);
  },
  tellsSpans: true,
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./serialize.ts")).serialize(lineage, options),
    hashes: async (state) => (await import("./native.ts")).hashes(state),
    context: async () => (await import("./context.ts")).contextOf,
    present: async (id, { place }) => (await import("./present.ts")).present(id, place),
  },
};
