/**
 * A store that went back in time is noticed, whatever was committed to it since (spec.md#sync-marks): an older copy was put
 * in its place, and everything that it lacks is read again.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, sync, verify } from "../../src/handlers/index.ts";
import { azurite, isAzuriteInstalled } from "../support/azurite.ts";
import { s3Stub } from "../support/s3-stub.ts";
import { story } from "../support/story.ts";
import { tempDir } from "../support/temp-dir.ts";
import { worded } from "../../src/cli/terminal/next-step.ts";

/** Not the indexes: what is proven here is the same without them. */
const IMPORT = { stages: ["import"] } as const;

/** Where a store is, and how a copy of it is put in its place. */
interface Place extends AsyncDisposable {
  /** The settings that lead to it; they may change when it goes back. */
  readonly env: () => Readonly<Record<string, string>>;
  readonly keep: () => Promise<void>;
  readonly goBack: () => Promise<void>;
  readonly empty: () => Promise<void>;
}

const optionsOf = (options: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [`POND_STORAGE_OPTIONS_${name.toUpperCase()}`, value]),
  );

/** Empties a folder, which itself stays the one that it was. */
function clear(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

async function localPlace(): Promise<Place> {
  const folder = await tempDir();
  const [store, copy] = [join(folder.path, "store"), join(folder.path, "copy")];
  return {
    env: () => ({ POND_STORE: store }),
    keep: async () => cpSync(store, copy, { recursive: true, preserveTimestamps: true }),
    // Into the same folders: neither their inodes nor their times tell that something happened.
    goBack: async () => {
      clear(join(store, "default"));
      cpSync(join(copy, "default"), join(store, "default"), { recursive: true, preserveTimestamps: true });
    },
    empty: async () => clear(join(store, "default")),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function s3Place(): Promise<Place & { readonly requests: readonly string[] }> {
  const s3 = await s3Stub();
  let kept: [string, unknown][] = [];
  const objects = s3.objects as Map<string, unknown>;
  return {
    requests: s3.requests,
    env: () => ({ POND_STORE: s3.url, ...optionsOf(s3.storageOptions) }),
    keep: async () => void (kept = [...objects]),
    goBack: async () => {
      objects.clear();
      for (const [key, object] of kept) objects.set(key, object);
    },
    empty: async () => objects.clear(),
    [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose](),
  };
}

async function azurePlace(): Promise<Place> {
  const folder = await tempDir();
  const [live, copy] = [join(folder.path, "live"), join(folder.path, "copy")];
  mkdirSync(live);
  let server = await azurite(live);
  const restarted = async (meanwhile: () => void): Promise<void> => {
    await server[Symbol.asyncDispose]();
    meanwhile();
    server = await azurite(live);
  };
  return {
    env: () => ({ POND_STORE: server.url, ...optionsOf(server.storageOptions) }),
    keep: () => restarted(() => cpSync(live, copy, { recursive: true })),
    goBack: () =>
      restarted(() => {
        clear(live);
        cpSync(copy, live, { recursive: true });
      }),
    empty: () => restarted(() => clear(live)),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A machine with logs of its own. */
class Machine {
  readonly home: string;
  readonly #place: Place;

  constructor(home: string, place: Place) {
    this.home = home;
    this.#place = place;
    mkdirSync(join(home, ".claude/projects/-srv-app"), { recursive: true });
  }

  /** A new log of two messages. */
  write(session: string): void {
    const lines = ["hello", "and again"].map((content, at) => ({
      type: "user",
      uuid: `${session}-${at}`,
      parentUuid: at === 0 ? null : `${session}-0`,
      sessionId: session,
      cwd: "/srv/app",
      timestamp: `2026-01-02T03:04:0${at}.000Z`,
      message: { role: "user", content: `${content} from ${session}` },
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(join(this.home, ".claude/projects/-srv-app", `${session}.jsonl`), text);
  }

  async run<T>(command: (context: Context) => Promise<T>): Promise<T> {
    const environment = {
      env: this.#place.env(),
      home: this.home,
      platform: "linux" as const,
      cwd: this.home,
    };
    const { signal } = new AbortController();
    const config = await loadConfig({ environment });
    await using context = createContext({ config, machine: environment, signal });
    return await command(context);
  }

  sync(
    request: Parameters<typeof sync>[1] = IMPORT,
  ): Promise<{ readonly inserted: number; readonly fresh: number; readonly notes: readonly string[] }> {
    return this.run(async (context) => {
      const { clients, notes } = await sync(context, request);
      const [client] = clients;
      return {
        inserted: client?.stored.messages.inserted ?? 0,
        fresh: client?.fresh ?? 0,
        notes: notes.map(worded),
      };
    });
  }
}

const ID = { first: "11111111-1111-4111-8111-111111111111", second: "22222222-2222-4222-8222-222222222222" };

/** What may have been committed, or happened, before the machine syncs again. */
const MEANWHILE: Readonly<Record<string, (machine: Machine, other: Machine) => Promise<unknown>>> = {
  nothing: async () => undefined,
  "update-indexes": (machine) =>
    machine.run(async (context) => {
      for (let round = 0; round < 4; round++) await sync(context, { stages: ["update-indexes"] });
    }),
  "another machine's sync": async (_, other) => {
    for (const session of ["33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444"]) {
      other.write(session);
      await other.sync();
    }
  },
  "a program's ingest": (machine) =>
    machine.run(async (context) => {
      const store = await context.store();
      for (const session of ["a", "b", "c"]) {
        const ingest = store.ingest({ clock: context.clock });
        await ingest.add(story(session).user("stored by a program").events());
        await ingest.flush();
      }
      await store.refreshSummaries();
    }),
  "the memory of stores lost": (machine) =>
    machine.run(async ({ config }) => rmSync(join(config.paths.state, "stores.jsonl"))),
};

async function expectNoticed(place: Place, meanwhile: keyof typeof MEANWHILE): Promise<void> {
  await using folder = await tempDir();
  const machine = new Machine(join(folder.path, "one"), place);
  const other = new Machine(join(folder.path, "two"), place);
  machine.write(ID.first);
  expect(await machine.sync()).toEqual({ inserted: 2, fresh: 0, notes: [] });
  await place.keep();
  machine.write(ID.second);
  expect(await machine.sync()).toEqual({ inserted: 2, fresh: 1, notes: [] });
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 2, notes: [] });

  await place.goBack();
  await MEANWHILE[meanwhile]?.(machine, other);
  const { clients } = await machine.run((context) => verify(context, {}));
  expect(clients[0]).toMatchObject({ unstored: 1 });
  const again = await machine.sync();
  expect(again.inserted).toBe(2);
  if (meanwhile !== "the memory of stores lost")
    expect(again.notes).toEqual([expect.stringContaining("an older copy is in its place")]);
  expect(await machine.sync()).toEqual({ inserted: 0, fresh: 2, notes: [] });
  const after = await machine.run((context) => verify(context, {}));
  expect(after.clients[0]).toMatchObject({ unstored: 0, unequal: 0, equal: 4 });
}

async function expectFilledAgain(place: Place): Promise<void> {
  await using folder = await tempDir();
  const machine = new Machine(folder.path, place);
  machine.write(ID.first);
  await machine.sync();
  await place.empty();
  expect(await machine.sync()).toMatchObject({ inserted: 2 });
  expect(await machine.sync()).toMatchObject({ inserted: 0, fresh: 1 });
}

describe.each(Object.keys(MEANWHILE))("a store that went back in time, then %s", (meanwhile) => {
  test("on a local disk", async () => {
    await using place = await localPlace();
    await expectNoticed(place, meanwhile);
  });

  test("on S3", async () => {
    await using place = await s3Place();
    await expectNoticed(place, meanwhile);
  });
});

test.skipIf(!isAzuriteInstalled())(
  "a store on Azure that went back in time",
  { timeout: 180_000 },
  async () => {
    await using place = await azurePlace();
    await expectNoticed(place, "another machine's sync");
  },
);

test.each(["sessions", "messages", "parts", "sources"])(
  "%s that went back alone, and was written to since",
  async (name) => {
    await using folder = await tempDir();
    await using place = await localPlace();
    const machine = new Machine(folder.path, place);
    machine.write(ID.first);
    await machine.sync();
    const table = join(String(place.env()["POND_STORE"]), "default", `${name}.lance`);
    cpSync(table, join(folder.path, "copy"), { recursive: true });
    machine.write(ID.second);
    await machine.sync();
    clear(table);
    cpSync(join(folder.path, "copy"), table, { recursive: true });
    await MEANWHILE["update-indexes"]?.(machine, machine);
    await MEANWHILE["a program's ingest"]?.(machine, machine);
    expect((await machine.sync()).notes).toEqual([expect.stringContaining("is in its place")]);
    const { clients } = await machine.run((context) => verify(context, {}));
    expect(clients[0]).toMatchObject({ proven: true, unstored: 0, unequal: 0, equal: 4 });
  },
);

test("a store that was emptied, on a local disk and on S3", async () => {
  await using local = await localPlace();
  await expectFilledAgain(local);
  await using s3 = await s3Place();
  await expectFilledAgain(s3);
});

test("a sync with nothing to do asks an object store at most four times", async () => {
  await using folder = await tempDir();
  await using place = await s3Place();
  const machine = new Machine(folder.path, place);
  machine.write(ID.first);
  await machine.sync({});
  const before = place.requests.length;
  expect(await machine.sync({})).toMatchObject({ inserted: 0, fresh: 1 });
  expect(place.requests.length - before).toBeLessThanOrEqual(4);
  expect(place.requests.length).toBeGreaterThan(before);
});
