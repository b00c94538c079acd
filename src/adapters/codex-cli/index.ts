/** Codex CLI: rollouts under `$CODEX_HOME` (docs/adapters/codex-cli.md). */
import type { Adapter } from "../seam/index.ts";
import { places, units } from "./discover.ts";
import { CODEX } from "./name.ts";
import { read } from "./read.ts";
import { serialize } from "./serialize.ts";

export const codexCli: Adapter = {
  name: CODEX,
  title: "Codex CLI",
  places,
  units,
  read,
  tellsSpans: true,
  restore: { kind: "supported", serialize },
};
