/** pi: `<agent folder>/sessions/--<directory>--/<instant>_<session id>.jsonl` (docs/adapters/pi.md). */
import type { Adapter } from "../seam/index.ts";
import { looks, units } from "./discover.ts";
import { ADAPTER } from "./names.ts";

export const pi: Adapter = {
  name: ADAPTER,
  title: "pi",
  looks,
  units,
  async *read(unit, request) {
    yield* (await import("./parse.ts")).read(unit, request);
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
