/** A log that grows before a reader which keeps prefixes and one which does not: both must tell the same. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Adapter } from "../../src/adapters/kit/adapter/index.ts";
import { stringifyJson } from "../../src/base/json/json.ts";
import type { JsonValue } from "../../src/base/json/json.ts";
import type { UnitRun } from "./adapter-run.ts";
import { LATER, listUnits, readUnit } from "./adapter-run.ts";
import { tempDir } from "./temp-dir.ts";

/** What a log looked like when it was read. */
interface Look {
  readonly bytes: Buffer;
  /** True while its client may still be at work on it. */
  readonly isLive: boolean;
}

/** Records that are written one after the other. */
type Records = readonly JsonValue[];

/** A log as a client, a crash and a full disk leave it, cut anywhere and often, and in the end whole. */
export function growthOf(
  head: fc.Arbitrary<JsonValue>,
  records: fc.Arbitrary<Records>,
): fc.Arbitrary<readonly Look[]> {
  const lines = fc.oneof(
    { weight: 20, arbitrary: records.map((all) => all.map(stringifyJson)) },
    { weight: 1, arbitrary: records.map((all) => [all.map(stringifyJson).join("")]) },
    { weight: 1, arbitrary: fc.constantFrom([""], ["  "], ['{"torn":'], ['{"a":1,"a":2}'], ["7"], ["[]"]) },
  );
  const cut = fc.record({
    at: fc.nat(),
    isBetween: fc.boolean(),
    isLive: fc.boolean(),
    // What is written without a newline may be taken back.
    stray: fc.option(
      records.map((all) => stringifyJson(all[0] ?? null)),
      { nil: "", freq: 3 },
    ),
  });
  return fc
    .record({
      first: head,
      log: fc.array(lines, { minLength: 2, maxLength: 16 }),
      cuts: fc.array(cut, { minLength: 1, maxLength: 5 }),
    })
    .map(({ first, log, cuts }) => {
      const bytes = Buffer.from([stringifyJson(first), ...log.flat(), ""].join("\n"));
      const looks = cuts.map(({ at, isBetween, isLive, stray }) => {
        const anywhere = at % bytes.length;
        const end = isBetween ? bytes.indexOf("\n", anywhere) + 1 : anywhere;
        return { end, isLive, stray: isBetween ? stray : "" };
      });
      return [
        ...looks.toSorted((a, b) => a.end - b.end),
        { end: bytes.length, isLive: false, stray: "" },
      ].map(({ end, isLive, stray }) => ({
        bytes: Buffer.concat([bytes.subarray(0, end), Buffer.from(stray)]),
        isLive,
      }));
    });
}

/** How often the reader that keeps prefixes had one. */
export async function expectSameTelling(
  adapter: Adapter,
  key: string,
  looks: readonly Look[],
): Promise<number> {
  await using folder = await tempDir();
  const root = folder.path;
  const path = join(root, key);
  mkdirSync(dirname(path), { recursive: true });
  let reading: UnitRun | undefined;
  let keeping: UnitRun | undefined;
  let had = 0;
  for (const { bytes, isLive } of looks) {
    writeFileSync(path, bytes);
    const unit = (await listUnits(adapter, root)).units[0]!;
    const now = isLive ? statSync(path).mtimeMs + 1000 : LATER;
    const before = keeping?.prefix;
    reading = await readUnit(adapter, unit, { root, now, cursor: reading?.cursor });
    keeping = await readUnit(adapter, unit, { root, now, cursor: keeping?.cursor, kept: { prefix: before } });
    if (before !== undefined) had += 1;
    expect({ ...keeping, prefix: undefined }).toEqual(reading);
  }
  return had;
}
