/** The registry: one line a client (spec.md#adapter-registry). */
import type { Adapter } from "./seam/index.ts";

const ADAPTERS: readonly Adapter[] = [];

/** Every client pond knows, in the order in which they are listed and synced. */
export function adapters(): readonly Adapter[] {
  return ADAPTERS;
}

export function adapterNamed(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}
