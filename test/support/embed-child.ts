/**
 * The stage `embed` in a process of its own, to be killed: each call of the model is a line, and each is stored at once.
 * `node embed-child.ts '{"home":"...","store":"..."}'`
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createContext, sync } from "../../src/handlers/index.ts";
import { fakeEmbedder } from "./fake-embedder.ts";
import { WITHOUT_VECTORS } from "./without-vectors.ts";

const { home, store } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly home: string;
  readonly store: string;
};
const environment = {
  env: { ...WITHOUT_VECTORS, POND_STORE: store },
  home,
  platform: "linux" as const,
  cwd: home,
};
// Every look at the clock is a minute after the one before: nothing waits to be stored.
let minutes = 0;
await using context = createContext({
  config: await loadConfig({ environment }),
  machine: environment,
  signal: new AbortController().signal,
  clock: { ...systemClock, now: () => systemClock.now() + 60_000 * ++minutes },
  embedder: fakeEmbedder({ onCall: () => void writeSync(1, "call\n") }),
});
const { embed } = await sync(context, { stages: ["embed", "update-indexes"] });
writeSync(1, `${embed.outcome}\n`);
