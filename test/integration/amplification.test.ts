/**
 * Many small syncs must not rewrite the store again and again (spec.md#lance-index-maintenance): over 200 syncs of one
 * message each, maintenance after every one of them, the bytes written stay within 5 times the final live bytes.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { corpus } from "../../bench/corpus.ts";
import { systemClock } from "../../src/base/clock.ts";
import { corpusSession } from "../support/corpus-sessions.ts";
import { tempStore } from "../support/temp-store.ts";

const SYNCS = 200;

test(
  "200 syncs of one message write at most 5 times what is live in the end",
  { timeout: 180_000 },
  async () => {
    await using store = await tempStore();
    const first = store.sessions.ingest({ clock: systemClock });
    await first.add(corpus({ name: "", sessions: 100, messages: 20 }));
    await first.flush();
    await store.sessions.maintain();

    const seen = new Set(filesOf(store.path).map(({ name }) => name));
    let written = -bytesOfLogs(store.path);
    for (let n = 1; n <= SYNCS; n++) {
      const ingest = store.sessions.ingest({ clock: systemClock });
      await ingest.add(corpusSession(1, n));
      expect((await ingest.flush()).messages.inserted).toBe(1);
      await store.sessions.maintain();
      for (const { name, size } of filesOf(store.path)) {
        if (seen.has(name)) continue;
        seen.add(name);
        written += size;
      }
    }
    written += bytesOfLogs(store.path);
    const health = await store.sessions.health();
    const live = health.reduce((sum, { facts }) => sum + facts.liveBytes, 0);
    expect(written / live).toBeLessThanOrEqual(5);
    expect(await store.sessions.tables.messages.count()).toBe(2000 + SYNCS);
  },
);

const isLog = (name: string): boolean => name === "files.log";

/** What is only ever appended to: the checksums. */
function bytesOfLogs(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => isLog(entry.name))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Every file with its content's age: the engine writes a file once, so another one is new bytes; a second link is none. */
function filesOf(folder: string): { readonly name: string; readonly size: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isLog(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { ino, size, mtimeMs } = statSync(path);
      return { name: `${ino} ${mtimeMs} ${size}`, size };
    });
}
