/**
 * A first import in a process of its own, for which the time between two looks at the clock is long, as on a machine that is
 * slow or busy. It dies, as by kill -9, when it has read a source (`"source"`) or when it has remembered one as stored
 * (`"cursor"`): `node slow-sync-child.ts '{"home":"...","dieAt":"cursor"}'`
 */
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createContext, sync } from "../../src/handlers/index.ts";
import { Cursors } from "../../src/state/index.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

const { home, dieAt } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly home: string;
  readonly dieAt: "source" | "cursor";
};
const die = (): void => void process.kill(process.pid, "SIGKILL");
const advance = Reflect.get(Cursors.prototype, "advance") as (...args: unknown[]) => void;
Cursors.prototype.advance = function advanceAndDie(...args) {
  Reflect.apply(advance, this, args);
  if (dieAt === "cursor") die();
};
const TICK_MS = 100;
const start = systemClock.now();
let looks = 0;
const clock = { ...systemClock, now: () => start + TICK_MS * looks++ };
// Other threads have clocks of their own.
const env = { ...WITHOUT_VECTORS, POND_STORE: `${home}/store`, POND_SYNC_THREADS: "1" };
const environment = { env, home, platform: process.platform, cwd: home };
const config = await loadConfig({ environment });
const { signal } = new AbortController();
await using context = createContext({ config, machine: environment, signal, clock });
await sync(context, { stages: ["import"] }, dieAt === "source" ? { onProgress: die } : {});
