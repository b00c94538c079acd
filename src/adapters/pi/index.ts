/** pi: `<agent folder>/sessions/--<directory>--/<instant>_<session id>.jsonl` (docs/adapters/pi.md). */
import type { Adapter } from "../seam/index.ts";
import { places, units } from "./discover.ts";
import { ADAPTER } from "./names.ts";
import { read } from "./parse.ts";
import { serialize } from "./serialize.ts";

export const pi: Adapter = {
  name: ADAPTER,
  title: "pi",
  places,
  units,
  read,
  tellsSpans: true,
  restore: { kind: "supported", serialize },
};
