/**
 * The registry: one line a client (spec.md#adapter-registry). A door of its own beside index.ts: it loads what finds and
 * compares sources, and nothing that reads or writes them.
 */
import { claudeCode } from "./claude-code/index.ts";
import { codexCli } from "./codex-cli/index.ts";
import { opencode } from "./opencode/index.ts";
import { pi } from "./pi/index.ts";
import { qwenCode } from "./qwen-code/index.ts";
import type { Adapter } from "./kit/adapter/index.ts";

export { keysBelow, placesThatExist } from "./kit/sources/discovery.ts";
export { stampText, stampTextOf } from "./kit/files/stamp.ts";

const ADAPTERS: readonly Adapter[] = [claudeCode, codexCli, opencode, pi, qwenCode];

/** Every client pond knows, in the order in which they are listed and synced. */
export function adapters(): readonly Adapter[] {
  return ADAPTERS;
}

export function adapterNamed(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}
