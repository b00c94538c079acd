/** A machine that syncs: a state folder of its own, a store that it shares with others, and a clock that is given. */
import { mkdirSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { loadConfig } from "../../../src/config/index.ts";
import type { Context } from "../../../src/handlers/index.ts";
import { createContext, sync } from "../../../src/handlers/index.ts";
import { WITHOUT_VECTORS } from "../without-vectors.ts";

export interface MachineFolders {
  readonly home: string;
  readonly store: string;
}

export interface Machine extends MachineFolders {
  readonly context: Context;
}

export interface SyncOrder {
  readonly adapter: string;
  readonly paths: readonly string[];
  readonly verify: boolean;
  readonly now: number;
}

export async function startMachine({ home, store }: MachineFolders, now: () => number): Promise<Machine> {
  mkdirSync(home, { recursive: true });
  const environment = {
    env: { ...WITHOUT_VECTORS, POND_STORE: store },
    home,
    platform: "linux" as const,
    cwd: home,
  };
  const config = await loadConfig({ environment });
  const signal = new AbortController().signal;
  const context = createContext({ config, machine: environment, signal, clock: { ...systemClock, now } });
  return { home, store, context };
}

export async function syncHere({ context }: Machine, { adapter, paths, verify }: SyncOrder): Promise<void> {
  await sync(context, { adapters: [adapter], paths, verify, stages: ["import"] });
}
