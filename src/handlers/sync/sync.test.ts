/** What holds of a sync whatever the machine is like: one bad place, an odd address, a look that finds nothing. */
import { appendFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { adapterNamed } from "../../adapters/index.ts";
import { systemClock } from "../../base/clock.ts";
import { loadConfig } from "../../config/index.ts";
import type { SyncReport } from "../../wire/sync.ts";
import { listAdapters } from "../setup/adapters.ts";
import type { Context } from "../context/context.ts";
import { createContext } from "../context/context.ts";
import type { Demo } from "../setup/demo.ts";
import { openDemo } from "../setup/demo.ts";
import { status } from "../health/status.ts";
import { sync } from "./sync.ts";
import { verify } from "../verify/verify.ts";

const { signal } = new AbortController();
const demoHome = (): Promise<Demo> => openDemo({ signal, keep: false });

/** Another command in the same home, with this store, at this time. */
async function later(
  home: string,
  options: { readonly store?: string; readonly now?: number },
): Promise<Context> {
  const env = options.store === undefined ? {} : { POND_STORE: options.store };
  const environment = { env, home, platform: "linux" as const, cwd: home };
  const { now } = options;
  const clock = now === undefined ? systemClock : { ...systemClock, now: () => now };
  return createContext({ config: await loadConfig({ environment }), machine: environment, signal, clock });
}

test("a place that cannot be looked through is an issue, and every other client is read", async () => {
  await using demo = await demoHome();
  const claude = adapterNamed("claude-code")!;
  const { open } = claude;
  const spy = vi.spyOn(claude, "open").mockImplementation(async (place, machine) => ({
    ...(await open(place, machine)),
    async *units() {
      yield [];
      throw new Error("ELOOP: too many symbolic links");
    },
  }));
  try {
    const { clients } = await sync(demo.context, {});
    expect(await listAdapters(demo.context)).toMatchObject([
      { files: 0, issues: [{ kind: "unreadable" }] },
      { files: 1, issues: [] },
      { files: 0, issues: [] },
      { files: 1, issues: [] },
      { files: 0, issues: [] },
    ]);
    expect(await verify(demo.context, {})).toMatchObject({
      clients: [{ issues: [{ kind: "unreadable" }] }, { issues: [], equal: 10 }, { issues: [], equal: 3 }],
    });
    expect(clients).toMatchObject([
      {
        adapter: "claude-code",
        issues: { unreadable: 1 },
        examples: [{ message: expect.stringContaining("ELOOP") }],
      },
      { adapter: "codex-cli", stored: { sessions: { inserted: 1 } }, issues: {} },
      { adapter: "pi", stored: { sessions: { inserted: 1 } }, issues: {} },
    ]);
  } finally {
    spy.mockRestore();
  }
});

test("the address of a store may be long, and in any script", async () => {
  await using demo = await demoHome();
  const store = join(demo.home, "\u6570\u636e".repeat(20), "deep ".repeat(20), 'store\'s "own"');
  await using context = await later(demo.home, { store });
  expect(await sync(context, {})).toMatchObject({
    clients: [{ stored: { sessions: { inserted: 2 } } }, {}, {}],
  });
});

test("a sync that finds nothing new is the last sync all the same, also where nothing can be written", async () => {
  await using demo = await demoHome();
  await sync(demo.context, {});
  const tomorrow = systemClock.now() + 86_400_000;
  await using next = await later(demo.home, { now: tomorrow });
  await sync(next, { dry_run: true });
  expect(Date.parse((await status(next)).last_sync?.at ?? "")).toBeLessThan(tomorrow);
  await sync(next, {});
  expect(await status(next)).toMatchObject({
    last_sync: { at: new Date(tomorrow).toISOString(), messages: 0, issues: 0 },
  });

  const syncs = join(next.config.paths.state, "syncs");
  rmSync(syncs, { recursive: true });
  writeFileSync(syncs, "in the way");
  expect(await sync(next, {})).toMatchObject({ clients: [{ fresh: 2 }, { fresh: 1 }, { fresh: 1 }] });
});

test("damaged cursors are told of once, also by a sync that finds nothing new", async () => {
  await using demo = await demoHome();
  await sync(demo.context, {});
  const folder = join(demo.context.config.paths.state, "cursors");
  for (const name of readdirSync(folder)) appendFileSync(join(folder, name), "nonsense\n");
  const again = async (request = {}): Promise<SyncReport> => {
    await using next = await later(demo.home, {});
    return sync(next, request);
  };
  const notes = [expect.stringContaining("damaged cursors: 1 dropped")];
  expect(await again({ dry_run: true })).toMatchObject({ notes });
  expect(await again()).toMatchObject({ notes, clients: [{ fresh: 2 }, { fresh: 1 }, { fresh: 1 }] });
  expect(await again()).toMatchObject({ notes: [], clients: [{ fresh: 2 }, { fresh: 1 }, { fresh: 1 }] });
});

test("a store that cannot be opened is told as it is, not by what follows from it", async () => {
  await using demo = await demoHome();
  const store = join(demo.home, "no-folder");
  writeFileSync(store, "a file");
  const run = async (): Promise<void> => {
    await using context = await later(demo.home, { store });
    await sync(context, {});
  };
  await expect(run()).rejects.toMatchObject({
    name: "PondError",
    message: expect.stringContaining("no-folder"),
  });
});
