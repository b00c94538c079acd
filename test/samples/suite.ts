/** The proof over a client's samples: every real file comes back equal, and a log read as it grew equals its end. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Cursor } from "../../src/adapters/index.ts";
import { sync, verify } from "../../src/handlers/index.ts";
import type { Event } from "../../src/model/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { listUnits, readUnit } from "../support/adapter-run.ts";
import { expectSameTelling } from "../support/growing-log.ts";
import { NO_SAMPLES, samplesOf } from "../support/samples.ts";
import { tempContext } from "../support/temp-context.ts";
import { tempDir } from "../support/temp-dir.ts";
import { prove, summary } from "./prove.ts";

export interface SampleSuite {
  readonly client: string;
  /** What there is at least: a proof over nothing proves nothing. */
  readonly atLeast: { readonly records: number; readonly sessions: number };
  /** How the keys end of files among the samples that hold no session of this client. */
  readonly others?: readonly string[];
  /** False: sources are rewritten in place, so that no sample is a log that grew. */
  readonly grows?: false;
}

export function samples({ client, atLeast, others = [], grows }: SampleSuite): void {
  const root = samplesOf(client) ?? "";
  const adapter = adapterNamed(client)!;
  const isOther = (key: string): boolean => others.some((end) => key.endsWith(end));

  describe.skipIf(root === "")(`${client} samples${root === "" ? ` (${NO_SAMPLES})` : ""}`, () => {
    test("every file of every sample restores equal", async () => {
      const proof = await prove(adapter, root, (key) => !isOther(key));
      console.log(summary(adapter, proof));
      expect(proof.violations).toEqual([]);
      expect(proof.unequal).toEqual([]);
      expect(proof.waiting).toBe(0);
      expect(proof.records).toBeGreaterThan(atLeast.records);
    });

    test.skipIf(others.length === 0)("what is no session is said to be none", async () => {
      const units = (await listUnits(adapter, root)).units.filter(({ key }) => isOther(key));
      expect(units).toHaveLength(others.length);
      for (const unit of units) {
        const { events, issues } = await readUnit(adapter, unit, { root });
        const kinds = issues.map(({ kind }) => kind);
        expect([unit.key, events, kinds]).toEqual([unit.key, [], ["unexpected_shape"]]);
      }
    });

    test("in one store every source is equal to what is stored of it, whichever others name its session", async () => {
      await using temp = await tempContext();
      const request = { adapters: [client], paths: [root] };
      await sync(temp.context, request);
      const [found] = (await verify(temp.context, request)).clients;
      expect(found).toMatchObject({ unstored: 0, unequal: 0, differences: [] });
      expect(found?.equal).toBe(found?.records);
      expect(found?.sessions).toBeGreaterThan(atLeast.sessions);
    });

    test.skipIf(grows === false)("every log, cut and grown, is read on as from its start", async () => {
      const { units } = await listUnits(adapter, root);
      let had = 0;
      for (const { key, files } of units) {
        const path = files.find(({ path: file }) => file.endsWith(key))?.path;
        if (path?.endsWith(".jsonl") !== true || isOther(key)) continue;
        const bytes = readFileSync(path);
        const looks = [0.3, 0.7, 1].map((part) => ({
          bytes: bytes.subarray(0, Math.ceil(bytes.length * part)),
          isLive: false,
        }));
        had += await expectSameTelling(adapter, key, looks);
      }
      expect(had).toBeGreaterThan(units.length);
    });

    test.skipIf(grows === false)(
      "a log read snapshot by snapshot as it grew equals its last snapshot",
      async () => {
        const grown = growthSeries(root);
        expect(grown.length).toBeGreaterThan(0);
        for (const snapshots of grown) {
          await using folder = await tempDir();
          const path = join(folder.path, "grown.jsonl");
          const events: Event[] = [];
          let cursor: Cursor | undefined;
          let prefix: string | undefined;
          let read = 0;
          for (const snapshot of snapshots) {
            copyFileSync(snapshot, path);
            const { units } = await listUnits(adapter, folder.path);
            const run = await readUnit(adapter, units[0]!, { root: folder.path, cursor });
            const kept = { prefix };
            const goneOn = await readUnit(adapter, units[0]!, { root: folder.path, cursor, kept });
            expect(goneOn.events).toEqual(run.events);
            ({ cursor, prefix } = goneOn);
            read += run.events.filter(({ kind }) => kind === "message").length;
            events.push(...run.events);
          }
          const { units } = await listUnits(adapter, folder.path);
          const whole = await readUnit(adapter, units[0]!, { root: folder.path });
          expect(replay(events)).toEqual(replay(whole.events));
          // Each snapshot gives only what is new, and the record that had no newline yet once more.
          const records = whole.events.filter(({ kind }) => kind === "message").length;
          expect(read - records).toBeLessThanOrEqual(snapshots.length);
        }
      },
    );
  });
}

/** The folders of successive snapshots of one session, each a list of files in order. */
function growthSeries(folder: string): readonly (readonly string[])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.parentPath.endsWith("entire-growth"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((series) =>
      readdirSync(series)
        .toSorted()
        .map((name) => join(series, name)),
    );
}
