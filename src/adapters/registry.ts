/**
 * The registry: one line per client (spec.md#adapter-registry, spec.md#interchange-hub). A door of its own beside index.ts: it loads what finds and
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

/** The client of that name; undefined where pond has none. */
export function adapterNamed(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}

/** Who was given adapters of a program beside pond's own: the context of the handlers. */
interface Given {
  readonly adapters: readonly Adapter[];
}

/** Every client that there is for those who ask: pond's own, then those of the program that opened the pond. */
export function clientsOf({ adapters: given }: Given): readonly Adapter[] {
  return given.length === 0 ? ADAPTERS : [...ADAPTERS, ...given];
}

/** One of them by its name. */
export function clientNamed({ adapters: given }: Given, name: string): Adapter | undefined {
  return adapterNamed(name) ?? given.find((adapter) => adapter.name === name);
}

/** False for an adapter of a program: it is made of functions, which no other thread can be given. */
export function isInEveryThread({ name }: Adapter): boolean {
  return adapterNamed(name) !== undefined;
}
