/** pi: `<agent folder>/sessions/--<directory>--/<instant>_<session id>.jsonl` (docs/adapters/pi.md). */
import { openPlace } from "../kit/sources/discovery.ts";
import type { Adapter } from "../kit/adapter/index.ts";
import { defaultPlaces, units } from "./places.ts";
import { ADAPTER } from "./layout.ts";

export const pi: Adapter = {
  name: ADAPTER,
  title: "pi",
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
