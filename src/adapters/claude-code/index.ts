/** Claude Code: `<config folder>/projects/<slug>/<session id>.jsonl` (docs/adapters/claude-code.md). */
import type { Adapter } from "../seam/index.ts";
import { looks, units } from "./discover.ts";
import { ADAPTER } from "./layout.ts";

export const claudeCode: Adapter = {
  name: ADAPTER,
  title: "Claude Code",
  looks,
  units,
  async *read(unit, request) {
    yield* (await import("./parse.ts")).read(unit, request);
  },
  tellsSpans: true,
  advise: async (machine) => (await import("./advise.ts")).advise(machine),
  deletesAfter: async (place) => (await import("./advise.ts")).deletesAfter(place),
  restore: {
    kind: "supported",
    serialize: async (lineage, options) => (await import("./serialize.ts")).serialize(lineage, options),
    hashes: async (state) => (await import("./native.ts")).hashes(state),
    context: async () => (await import("./context.ts")).contextOf,
    present: async (id, { place }) => (await import("./present.ts")).present(id, place),
  },
};
