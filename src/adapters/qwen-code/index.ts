/** Qwen Code: `<runtime folder>/projects/<directory>/chats/<session id>.jsonl` (docs/adapters/qwen-code.md). */
import { openPlace } from "../kit/sources/discovery.ts";
import type { Adapter } from "../kit/adapter/index.ts";
import { defaultPlaces, units } from "./places.ts";
import { ADAPTER } from "./layout.ts";

export const qwenCode: Adapter = {
  name: ADAPTER,
  title: "Qwen Code",
  defaultPlaces,
  open: (place) => openPlace(place, { units, load: async () => (await import("./parse/reader.ts")).read }),
  reportsSpans: true,
  restore: {
    kind: "supported",
    insteadOfForeign: "restore it into another client",
    serialize: async (lineage, options) => (await import("./restore/restore.ts")).serialize(lineage, options),
    hashes: async (state) => (await import("./restore/native.ts")).hashes(state),
    context: async () => (await import("./restore/context.ts")).contextOf,
    present: async (id, { place }) => (await import("./restore/present.ts")).present(id, place),
  },
};
