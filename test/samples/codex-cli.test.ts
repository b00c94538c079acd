/** Codex: every real file comes back equal, and a log read as it grew equals the log read at once. */
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Cursor } from "../../src/adapters/index.ts";
import type { Event } from "../../src/model/index.ts";
import { replay } from "../../src/model/index.ts";
import { listUnits, readUnit } from "../support/adapter-run.ts";
import { NO_SAMPLES, samplesOf } from "../support/samples.ts";
import { tempDir } from "../support/temp-dir.ts";
import { prove, summary } from "./prove.ts";

const root = samplesOf("codex-cli") ?? "";
const adapter = adapterNamed("codex-cli")!;

/** Other formats among the samples: prompt history, the output of `codex exec --json`, other tools' own. */
const OTHERS = [
  "provider-history/codex-history.jsonl",
  "provider/codex.jsonl",
  "teams/codex-session.jsonl",
  "80e1a6e35c/Resources/Fixtures/stage0/agents/codex/schema_drift.jsonl",
  "agent-sessions/Resources/Fixtures/stage0/agents/codex/schema_drift.jsonl",
];
const isRollout = (key: string): boolean => !OTHERS.some((end) => key.endsWith(end));

describe.skipIf(root === "")(`codex-cli samples${root === "" ? ` (${NO_SAMPLES})` : ""}`, () => {
  test("every file of every sample restores equal", async () => {
    const proof = await prove(adapter, root, isRollout);
    console.log(summary(adapter, proof));
    expect(proof.violations).toEqual([]);
    expect(proof.unequal).toEqual([]);
    expect(proof.waiting).toBe(0);
    expect(proof.records).toBeGreaterThan(30_000);
  });

  test("what is no rollout is said to be none", async () => {
    const { units } = await listUnits(adapter, root);
    const others = units.filter(({ key }) => !isRollout(key));
    expect(others).toHaveLength(OTHERS.length);
    for (const unit of others) {
      const { events, issues } = await readUnit(adapter, unit, { root });
      expect([unit.key, events, issues.map(({ kind }) => kind)]).toEqual([
        unit.key,
        [],
        ["unexpected_shape"],
      ]);
    }
  });

  test("no two files mix their records in one session", async () => {
    const { units } = await listUnits(adapter, root);
    const ids = new Map<string, string>();
    for (const unit of units)
      for (const event of (await readUnit(adapter, unit, { root })).events) {
        if (event.kind !== "session") continue;
        expect([event.session.id, ids.get(event.session.id)]).toEqual([event.session.id, undefined]);
        ids.set(event.session.id, unit.key);
      }
    expect(ids.size).toBeGreaterThan(110);
  });

  test("a log read snapshot by snapshot as it grew equals its last snapshot", async () => {
    const grown = growthSeries(root);
    expect(grown.length).toBeGreaterThan(0);
    for (const snapshots of grown) {
      await using folder = await tempDir();
      const path = join(folder.path, "grown.jsonl");
      const events: Event[] = [];
      let cursor: Cursor | undefined;
      let read = 0;
      for (const snapshot of snapshots) {
        copyFileSync(snapshot, path);
        const { units } = await listUnits(adapter, folder.path);
        const run = await readUnit(adapter, units[0]!, { root: folder.path, cursor });
        cursor = run.cursor;
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
  });
});

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
