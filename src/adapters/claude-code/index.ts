/** Claude Code: `<config folder>/projects/<slug>/<session id>.jsonl` (docs/adapters/claude-code.md). */
import type { Adapter } from "../seam/index.ts";
import { advise } from "./advise.ts";
import { places, units } from "./discover.ts";
import { ADAPTER } from "./layout.ts";
import { read } from "./parse.ts";
import { serialize } from "./serialize.ts";

export const claudeCode: Adapter = {
  name: ADAPTER,
  title: "Claude Code",
  places,
  units,
  read,
  tellsSpans: true,
  advise,
  restore: { kind: "supported", serialize },
};
