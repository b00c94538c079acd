/** Adapters that a program gives to `openPond`: what they can do there, and which are refused. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { programAdapter, writeTurn } from "../../test/support/program-adapter.ts";
import { tempDir } from "../../test/support/temp-dir.ts";
import type { Adapter } from "../adapters/index.ts";
import { loadTree } from "../model/tree/index.ts";
import { sessionId } from "../model/index.ts";
import { openPond } from "./open.ts";

const tinker = programAdapter("tinker");

const optionsIn = (home: string, env: Record<string, string> = {}) => ({
  store: join(home, "store"),
  state: join(home, "state"),
  home,
  env,
});

const records = (path: string): unknown[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

describe("a client whose adapter a program gives", () => {
  test("is synced, found, verified and restored as pond's own are", async () => {
    await using home = await tempDir();
    const log = writeTurn(home.path, "tinker", { session: "t-1", text: "the kettle is cold" });
    await using pond = await openPond({ ...optionsIn(home.path), adapters: [tinker] });
    expect((await pond.adapters()).at(-1)).toMatchObject({ adapter: "tinker", files: 1 });
    expect(await pond.adapters({ adapters: ["tinker"] })).toHaveLength(1);
    const { clients } = await pond.sync();
    expect(clients.map(({ adapter, stored }) => [adapter, stored.messages.inserted])).toEqual([
      ["tinker", 1],
    ]);
    writeTurn(home.path, "tinker", { session: "t-1", text: "and so is the tea" });
    const again = await pond.sync({ adapters: ["tinker"] });
    expect(again.clients[0]).toMatchObject({ stored: { messages: { inserted: 1 } } });
    const found = await pond.search({ query: "kettle", filters: { source_agent: "tinker" } });
    expect(found.sessions.map(({ session_id }) => session_id)).toEqual(["t-1"]);
    const verified = await pond.verify({ adapters: ["tinker"] });
    expect(verified.clients).toMatchObject([{ adapter: "tinker", proven: true, records: 2, equal: 2 }]);
    const out = join(home.path, "out");
    const restored = await pond.restore({ session_id: "t-1", out });
    expect(restored).toMatchObject({ to: "tinker", fidelity: "native", proven: 1, unproven: [] });
    expect(records(join(out, "t-1.jsonl"))).toEqual(records(log));
    const { value } = await loadTree(await pond.tree(), sessionId("t-1"));
    expect(value.messages).toHaveLength(2);
  });

  test("may be asked for before anything of it is stored", async () => {
    await using home = await tempDir();
    await using pond = await openPond({ ...optionsIn(home.path), adapters: [tinker] });
    expect((await pond.sessions({ source_agent: "tinker" })).total).toBe(0);
    expect((await pond.sync({ adapters: ["tinker"] })).clients).toEqual([]);
  });

  test("is not known to a pond that was opened without it, which keeps what is stored", async () => {
    await using home = await tempDir();
    writeTurn(home.path, "tinker", { session: "t-1", text: "the kettle is cold" });
    {
      await using pond = await openPond({ ...optionsIn(home.path), adapters: [tinker] });
      await pond.sync();
    }
    await using pond = await openPond(optionsIn(home.path));
    expect((await pond.adapters()).some(({ adapter }) => adapter === "tinker")).toBe(false);
    await expect(pond.sync({ adapters: ["tinker"] })).rejects.toMatchObject({ code: "validation_failed" });
    expect((await pond.sessions({ source_agent: "tinker" })).total).toBe(1);
    const out = join(home.path, "out");
    const restored = await pond.restore({ session_id: "t-1", to: "claude-code", out });
    expect(restored).toMatchObject({ fidelity: "foreign", unproven: [{ session_id: "t-1" }] });
  });

  test("is one of those that were given when the pond was opened", async () => {
    await using home = await tempDir();
    const adapters = [tinker];
    await using pond = await openPond({ ...optionsIn(home.path), adapters });
    adapters.push({ ...tinker, name: "other" });
    expect((await pond.adapters()).some(({ adapter }) => adapter === "other")).toBe(false);
  });

  test("is read in the thread of the program, however much there is", async () => {
    await using home = await tempDir();
    for (const session of ["t-1", "t-2"]) writeTurn(home.path, "tinker", { session, text: "cold" });
    // What a sweep sees makes threads worth it; no other thread knows the adapter.
    const large: Adapter = {
      ...tinker,
      open: async (place, machine) => {
        const opened = await tinker.open(place, machine);
        return {
          ...opened,
          async *units(signal) {
            for await (const batch of opened.units(signal))
              yield batch.map((unit) =>
                "kind" in unit
                  ? unit
                  : { ...unit, files: unit.files.map((file) => ({ ...file, size: 1e8 })) },
              );
          },
        };
      },
    };
    const options = optionsIn(home.path, { POND_SYNC_THREADS: "4" });
    await using pond = await openPond({ ...options, adapters: [large] });
    const { clients } = await pond.sync();
    expect(clients).toMatchObject([{ stored: { sessions: { inserted: 2 } } }]);
  });
});

/** In no type of TypeScript. */
const wrong = (fields: object): Adapter => ({ ...tinker, ...fields }) as never;
const boom = (): never => {
  throw new Error("boom");
};

describe("an adapter that fails", () => {
  test("is an issue of its client, and holds no other client back", async () => {
    await using home = await tempDir();
    writeTurn(home.path, "tinker", { session: "t-1", text: "the kettle is cold" });
    const opening = (change: (opened: object) => unknown) => ({
      open: async (...at: Parameters<Adapter["open"]>) => change(await tinker.open(...at)),
    });
    const faults: Record<string, object> = {
      "places-throw": { defaultPlaces: boom },
      "places-none": { defaultPlaces: () => undefined },
      "places-null": { defaultPlaces: () => [null] },
      "open-throws": { open: boom },
      "open-rejects": { open: () => Promise.reject(new Error("boom")) },
      "open-none": opening(() => undefined),
      "open-unclosable": opening((opened) => ({ ...opened, [Symbol.asyncDispose]: undefined })),
    };
    const failing = Object.entries(faults).map(([name, fields]) => wrong({ ...fields, name }));
    const unclosed = wrong({ ...opening((opened) => ({ ...opened, [Symbol.asyncDispose]: boom })) });
    await using pond = await openPond({ ...optionsIn(home.path), adapters: [...failing, unclosed] });
    const names = [...Object.keys(faults), "tinker"];
    const { clients } = await pond.sync({ stages: ["import"] });
    expect(clients.map(({ adapter }) => adapter)).toEqual(names);
    for (const { issues, examples } of clients.slice(0, -1)) {
      expect(issues).toEqual({ unreadable: 1 });
      expect(examples[0]?.message).toMatch(/boom|must give/);
    }
    expect(clients.at(-1)).toMatchObject({ issues: {}, stored: { messages: { inserted: 1 } } });
    const listed = (await pond.adapters()).filter(({ adapter }) => names.includes(adapter));
    expect(listed.map(({ issues }) => issues.length)).toEqual([...failing.map(() => 1), 0]);
    const verified = await pond.verify({ adapters: ["tinker"] });
    expect(verified.clients).toMatchObject([{ adapter: "tinker", proven: true }]);
    expect((await pond.verify()).clients.length).toBeGreaterThan(0);
  });

  test("refuses a restore with what is wrong with it", async () => {
    await using home = await tempDir();
    writeTurn(home.path, "tinker", { session: "t-1", text: "the kettle is cold" });
    const failing: Record<string, object> = {
      context: () => Promise.resolve(boom),
      serialize: () => Promise.resolve({}),
    };
    for (const [name, fault] of Object.entries(failing)) {
      const adapters = [wrong({ restore: { ...tinker.restore, [name]: fault } })];
      await using pond = await openPond({ ...optionsIn(home.path), adapters });
      await pond.sync({ stages: ["import"] });
      const to = name === "context" ? "claude-code" : "tinker";
      const out = join(home.path, name);
      await expect(pond.restore({ session_id: "t-1", to, out })).rejects.toMatchObject({
        code: "internal",
        message: expect.stringContaining("tinker"),
        data: { field: `restore.${name}` },
      });
      expect(existsSync(out)).toBe(false);
    }
  });
});

describe("openPond refuses", () => {
  const { restore } = tinker;
  test.each<[string, unknown, string]>([
    ["what is no list", tinker, "adapters"],
    ["what is no adapter", [undefined], "adapters[0]"],
    ["a name that pond has", [tinker, { ...tinker, name: "claude-code" }], "adapters[1].name"],
    ["two of one name", [tinker, { ...tinker }], "adapters[1].name"],
    ["a name that is more than a brand", [{ ...tinker, name: "tinker/sub" }], "adapters[0].name"],
    ["one without a title", [{ ...tinker, title: "" }], "adapters[0].title"],
    ["one that opens nothing", [{ ...tinker, open: undefined }], "adapters[0].open"],
    ["an unknown kind of restore", [{ ...tinker, restore: { kind: "some" } }], "adapters[0].restore"],
    [
      "a restore that proves nothing",
      [{ ...tinker, restore: { ...restore, hashes: 1 } }],
      "adapters[0].restore.hashes",
    ],
    [
      "no restore and no advice",
      [{ ...tinker, restore: { kind: "unsupported" } }],
      "adapters[0].restore.instead",
    ],
  ])("%s", async (_, adapters, field) => {
    await using home = await tempDir();
    const options = { ...optionsIn(home.path), adapters: adapters as readonly Adapter[] };
    await expect(openPond(options)).rejects.toMatchObject({ code: "validation_failed", data: { field } });
    expect(existsSync(join(home.path, "store"))).toBe(false);
  });
});
