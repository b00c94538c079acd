/**
 * The same promises through a real store, by the handlers that people run: a sync is clean, a second one writes nothing,
 * everything verifies equal, and a log that grows record by record is at every moment stored as the prefix it is.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { Context } from "../../src/handlers/index.ts";
import { createContext, sync, verify, verifyStored } from "../../src/handlers/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { LATER, listUnits, readUnit } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import type { Conformance } from "./harness.ts";
import { WITHOUT_VECTORS } from "../support/without-vectors.ts";

export function conformanceInStore(suite: Conformance, cutsOf: (bytes: Buffer) => readonly number[]): void {
  const { adapter, root, expected, logs } = suite;

  describe(`${adapter.name} in the store`, () => {
    test("a sync is clean, a second one skips and writes nothing, and all of it verifies equal", async () => {
      await using folder = await tempDir();
      const place = join(folder.path, "place");
      cpSync(root, place, { recursive: true, preserveTimestamps: true });
      // Long after any file was written, so that nothing waits for more.
      await using context = await contextIn(folder.path, { ...systemClock, now: () => LATER });
      const source = { adapters: [adapter.name], paths: [place] };
      const [first] = (await sync(context, source)).clients;
      expect(first).toMatchObject({ seen: expected.units, read: expected.units, issues: expected.issues });
      // What two sources of one session share is stored by the first of them and matched by the other.
      const { messages, parts } = first!.stored;
      expect(messages.inserted + messages.matched).toBe(expected.messages);
      expect(parts.inserted + parts.matched).toBe(expected.parts);
      const [second] = (await sync(context, source)).clients;
      expect(second).toMatchObject({ fresh: expected.units, read: 0, stored: { commits: 0 } });
      const [again] = (await sync(context, { ...source, verify: true })).clients;
      expect(again?.stored).toMatchObject({
        sessions: { inserted: 0 },
        messages: { inserted: 0 },
        parts: { inserted: 0 },
      });
      if (!suite.roundTrip) return;
      const [proof] = (await verify(context, source)).clients;
      expect(proof).toMatchObject({ unequal: 0, unstored: 0, differences: [] });
      expect(proof?.equal).toBe(proof?.records);
      expect(proof?.records).toBeGreaterThan(0);
      const [stored] = (await verifyStored(context, { adapters: [adapter.name] })).clients;
      expect(stored).toMatchObject({ unequal: 0, unrecorded: 0, differences: [] });
      expect(stored?.proven).toBe((stored?.states ?? 0) - (stored?.partial ?? 0));
      expect(stored?.proven).toBeGreaterThan(0);
    });

    test.runIf(logs !== undefined)(
      "a log that grows cut by cut is stored as the prefix it is, and complete in the end",
      { timeout: 180_000 },
      async () => {
        const key = logs?.everyByte ?? "";
        const bytes = readFileSync(join(root, key));
        await using folder = await tempDir();
        const place = join(folder.path, "place");
        const path = join(place, key);
        mkdirSync(dirname(path), { recursive: true });
        await using context = await contextIn(folder.path, systemClock);
        let stored = 0;
        for (const cut of cutsOf(bytes)) {
          writeFileSync(path, bytes.subarray(0, cut));
          await sync(context, { adapters: [adapter.name], paths: [place], stages: ["import"] });
          stored = await expectStored(context, suite, place);
        }
        expect(stored).toBeGreaterThan(0);
        const [proof] = (await verify(context, { adapters: [adapter.name], paths: [place] })).clients;
        expect(proof).toMatchObject({ unequal: 0, unstored: 0 });
      },
    );
  });
}

/** What the store holds is what the parser makes of the file as it is now. Returns the number of messages. */
async function expectStored(context: Context, { adapter }: Conformance, place: string): Promise<number> {
  const { units } = await listUnits(adapter, place);
  let messages = 0;
  for (const unit of units) {
    const { events } = await readUnit(adapter, unit, { root: place, now: context.clock.now() });
    for (const expected of replay(events)) {
      const store = await context.store();
      expect(await store.state(expected.session.id)).toEqual(expected);
      messages += expected.messages.length;
    }
  }
  return messages;
}

async function contextIn(home: string, clock: Clock): Promise<Context> {
  const environment = { env: WITHOUT_VECTORS, home, platform: process.platform, cwd: home };
  const config = await loadConfig({ environment });
  return createContext({ config, machine: environment, signal: new AbortController().signal, clock });
}
