/**
 * What every adapter keeps, whatever its client (spec.md#adapter-conformance, spec.md#lossless): at the level of the parser here, through the
 * store in in-store.ts. A suite is one object: the adapter, a fixture in the client's own layout, what it holds, and what the adapter is able to do.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../src/adapters/kit/adapter/index.ts";
import type { Issue, IssueKind } from "../../src/adapters/kit/sources/index.ts";
import { describeDifference, isEqualFile } from "../../src/adapters/kit/restore/index.ts";
import type { Event } from "../../src/model/index.ts";
import { EventValidator, replay } from "../../src/model/events/index.ts";
import type { UnitRun } from "../support/adapter-run.ts";
import { compareAll, listUnits, readFolder, readUnit, restoreNative } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { conformanceInStore } from "./in-store.ts";

export interface Conformance {
  readonly adapter: Adapter;
  /** A place: the folder that the adapter would be given. */
  readonly root: string;
  readonly expected: {
    readonly units: number;
    readonly sessions: number;
    readonly messages: number;
    readonly parts: number;
    /** How many sessions have a parent. */
    readonly children: number;
    readonly issues: Readonly<Partial<Record<IssueKind, number>>>;
  };
  /** Append-only logs, by key: they are cut, grown and spoiled. Absent for clients that write no JSON Lines. */
  readonly logs?: {
    /** Cut at every byte; keep it small. */
    readonly everyByte: string;
    /** Cut at the edges of its records and at some places inside them. */
    readonly atRecords: string;
  };
  /** False when the adapter does not restore natively. */
  readonly roundTrip: boolean;
  /** What comes back, where units do not name their files one by one (folders, databases). */
  readonly restores?: readonly string[];
}

const NEWLINE = 10;
const GOLDEN = join(import.meta.dirname, "golden");

/** Declares the tests of a suite. */
export function conformance(suite: Conformance): void {
  const { adapter, root, expected, logs } = suite;

  describe(`${adapter.name} conformance`, () => {
    test("the fixture gives what it is expected to, and every event is valid", async () => {
      const runs = await readFolder(adapter, root);
      expect(violationsOf(runs)).toEqual([]);
      const { issues } = await listUnits(adapter, root);
      expect(countsOf(runs, issues)).toEqual(expected);
      // A unit tells a session once; several units may be sources of one.
      for (const { events } of runs) {
        const ids = events.flatMap((event) => (event.kind === "session" ? [event.session.id] : []));
        expect(new Set(ids).size).toBe(ids.length);
      }
    });

    test("keys are golden: a newer adapter may only add some", async () => {
      const events = (await readFolder(adapter, root)).flatMap((run) => run.events);
      expectGolden(adapter.name, keysOf(events));
    });

    test("reading twice gives the same, and reading on from the end gives nothing new", async () => {
      const runs = await readFolder(adapter, root);
      const again = await readFolder(adapter, root);
      expect(again.map(({ events }) => events)).toEqual(runs.map(({ events }) => events));
      for (const { unit, cursor, events } of runs) {
        const more = await readUnit(adapter, unit, { root, cursor });
        const told = more.events.filter(({ kind }) => kind !== "session");
        // Only a last line without its newline is told again, and as it was told before.
        const isEnded = unit.files.every(({ path }) => !path.endsWith(".jsonl") || endsLine(path));
        const isNew = (event: Event): boolean => !events.some((known) => isDeepStrictEqual(event, known));
        expect([unit.key, isEnded ? told : told.filter(isNew)]).toEqual([unit.key, []]);
      }
    });

    test("a unit that was listed elsewhere is read as by the place that listed it", async () => {
      for (const { unit, events } of await readFolder(adapter, root)) {
        const sent = await readUnit(adapter, structuredClone(unit), { root });
        expect([unit.key, sent.events]).toEqual([unit.key, events]);
      }
    });

    test("sources are only read", async () => {
      const before = fingerprint(root);
      await readFolder(adapter, root);
      expect(fingerprint(root)).toEqual(before);
      expect(before.length).toBeGreaterThan(0);
    });

    test.skipIf(!suite.roundTrip)("every file restores equal, side files included", async () => {
      const runs = await readFolder(adapter, root);
      const restored = (await Promise.all(runs.map(({ events }) => restoreNative(adapter, events)))).flat();
      const comparisons = await compareAll(restored, root);
      expect(comparisons.filter((one) => !isEqualFile(one)).map(describeDifference)).toEqual([]);
      const files = runs.flatMap(({ unit }) => unit.files.filter(({ size }) => size > 0));
      const paths = restored.map(({ path }) => path).toSorted();
      // Sessions of one database share its file.
      if (suite.restores !== undefined) expect([...new Set(paths)]).toEqual(suite.restores.toSorted());
      else expect(paths).toEqual(files.map(({ path }) => relative(root, path)).toSorted());
    });
  });

  if (logs !== undefined) describeLogs(suite, logs);
  conformanceInStore(suite, cutsAround);
}

function describeLogs(suite: Conformance, logs: NonNullable<Conformance["logs"]>): void {
  const { adapter, root } = suite;

  describe(`${adapter.name} logs`, () => {
    test(
      "every byte prefix parses as a prefix, and growing to the end gives the same",
      { timeout: 120_000 },
      async () => {
        const bytes = readFileSync(join(root, logs.everyByte));
        const cuts = Array.from({ length: bytes.length + 1 }, (_, cut) => cut);
        await expectPrefixes(suite, logs.everyByte, cuts);
      },
    );

    test("a longer log, cut around its records, gives the same", { timeout: 120_000 }, async () => {
      const bytes = readFileSync(join(root, logs.atRecords));
      const cuts = cutsAround(bytes);
      expect(cuts.length).toBeGreaterThan(10);
      await expectPrefixes(suite, logs.atRecords, cuts);
    });

    test.each(BAD_LINES)(
      "$what is a located issue, and nothing else is lost",
      async ({ line, kind, extra }) => {
        const source = readFileSync(join(root, logs.everyByte));
        const at = source.indexOf(NEWLINE) + 1;
        const clean = await readCopy(suite, logs.everyByte, source);
        const spoiled = Buffer.concat([source.subarray(0, at), line, Buffer.from("\n"), source.subarray(at)]);
        const found = await readCopy(suite, logs.everyByte, spoiled);
        expect(found.run.issues.map((issue) => ({ ...issue, path: "", message: "" }))).toContainEqual({
          kind,
          adapter: adapter.name,
          path: "",
          line: 2,
          offset: at,
          message: "",
        });
        expect(found.run.issues.every(({ path }) => path === found.path)).toBe(true);
        const before = new Set(keysOf(clean.run.events));
        const after = new Set(keysOf(found.run.events));
        expect([...before].filter((key) => !after.has(key))).toEqual([]);
        expect(messagesIn(found.run.events) - messagesIn(clean.run.events)).toBe(extra);
        if (suite.roundTrip) expect(found.unequal).toEqual([]);
      },
    );
  });
}

const BAD_LINES: readonly {
  readonly what: string;
  readonly line: Buffer;
  readonly kind: IssueKind;
  readonly extra: number;
}[] = [
  { what: "a line that is not JSON", line: Buffer.from('{"type":"user","mess'), kind: "not_json", extra: 1 },
  {
    what: "a line that is not UTF-8",
    line: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    kind: "invalid_utf8",
    extra: 1,
  },
  {
    what: "an object with a key twice",
    line: Buffer.from('{"type":"x","a":1,"a":2}'),
    kind: "duplicate_keys",
    extra: 1,
  },
  {
    what: "two records on one line",
    line: Buffer.from('{"type":"pond-test","n":1}{"type":"pond-test","n":2}'),
    kind: "glued_records",
    extra: 2,
  },
];

/** Reads the log cut at each place, then grown to its end, against the log read at once. */
async function expectPrefixes(suite: Conformance, key: string, cuts: readonly number[]): Promise<void> {
  const { adapter, root } = suite;
  const bytes = readFileSync(join(root, key));
  await using folder = await tempDir();
  const path = join(folder.path, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const unitOf = async () => {
    const { units } = await listUnits(adapter, folder.path);
    return units[0]!;
  };
  // Just written: a log that does not tell its directory yet waits instead of being told wrongly.
  const now = (): number => statSync(path).mtimeMs + 1000;
  const whole = await readUnit(adapter, await unitOf(), { root: folder.path, now: now() });
  expect(whole.waiting).toEqual([]);
  const wholeState = replay(whole.events);
  let tried: string | undefined;
  for (const cut of cuts) {
    writeFileSync(path, bytes.subarray(0, cut));
    const kept = { prefix: undefined };
    const part = await readUnit(adapter, await unitOf(), { root: folder.path, now: now(), kept });
    if (!isPrefix(part.events, whole.events)) expect([cut, part.events]).toEqual([cut, whole.events]);
    for (const { offset } of Object.values(part.cursor?.files ?? {}))
      if (offset > 0 && bytes[offset - 1] !== NEWLINE)
        expect([cut, offset]).toEqual([cut, "after a newline"]);
    writeFileSync(path, bytes);
    const { cursor, prefix } = part;
    const at = { root: folder.path, now: now(), cursor };
    const rest = await readUnit(adapter, await unitOf(), at);
    if (prefix !== tried) {
      const goneOn = await readUnit(adapter, await unitOf(), { ...at, kept: { prefix } });
      expect([cut, goneOn.events]).toEqual([cut, rest.events]);
    }
    tried = prefix;
    const state = replay([...part.events, ...rest.events]);
    if (!isDeepEqual(state, wholeState)) expect([cut, state]).toEqual([cut, wholeState]);
    const again = repeated(part.events, rest.events);
    if (again.length > 0) expect([cut, again]).toEqual([cut, []]);
  }
}

/** Messages told a second time; only the last record may be, as its newline may have been missing. */
function repeated(part: readonly Event[], rest: readonly Event[]): string[] {
  const told = new Map<string, number | undefined>();
  for (const event of part) if (event.kind === "message") told.set(event.message.id, event.message.seq);
  const last = Math.max(...[...told.values()].map((seq) => seq ?? 0));
  return rest.flatMap((event) => {
    if (event.kind !== "message" || !told.has(event.message.id)) return [];
    return told.get(event.message.id) === last ? [] : [event.message.id];
  });
}

function isPrefix(part: readonly Event[], whole: readonly Event[]): boolean {
  return isDeepEqual(part, whole.slice(0, part.length));
}

/** Values without functions: their JSON text with sorted keys is not needed, as both come from the same code. */
function isDeepEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The edges of each record, one byte either side of them, and seeded places inside. */
function cutsAround(bytes: Buffer): number[] {
  const cuts = new Set<number>([0, bytes.length]);
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1))
    for (const cut of [at - 1, at, at + 1, at + 2]) if (cut >= 0 && cut <= bytes.length) cuts.add(cut);
  let seed = 42;
  for (let n = 0; n < 30; n += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    cuts.add(seed % bytes.length);
  }
  return [...cuts].toSorted((a, b) => a - b);
}

async function readCopy(
  suite: Conformance,
  key: string,
  bytes: Buffer,
): Promise<{ readonly run: UnitRun; readonly path: string; readonly unequal: readonly string[] }> {
  await using folder = await tempDir();
  const path = join(folder.path, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const { units } = await listUnits(suite.adapter, folder.path);
  const run = await readUnit(suite.adapter, units[0]!, { root: folder.path });
  const comparisons = await compareAll(await restoreNative(suite.adapter, run.events), folder.path);
  return { run, path, unequal: comparisons.filter((one) => !isEqualFile(one)).map(describeDifference) };
}

function violationsOf(runs: readonly UnitRun[]): string[] {
  return runs.flatMap((run) => {
    const validator = new EventValidator();
    return run.events.flatMap((event) => validator.check(event)?.message ?? []);
  });
}

function countsOf(runs: readonly UnitRun[], listed: readonly Issue[]): Conformance["expected"] {
  const events = runs.flatMap((run) => run.events);
  const issues: Partial<Record<IssueKind, number>> = {};
  for (const { kind } of [...listed, ...runs.flatMap((run) => run.issues)])
    issues[kind] = (issues[kind] ?? 0) + 1;
  return {
    units: runs.length,
    sessions: events.filter(({ kind }) => kind === "session").length,
    messages: messagesIn(events),
    parts: events.filter(({ kind }) => kind === "part").length,
    children: events.filter(
      (event) => event.kind === "session" && event.session.parent_session_id !== undefined,
    ).length,
    issues,
  };
}

function messagesIn(events: readonly Event[]): number {
  return events.filter(({ kind }) => kind === "message").length;
}

/** The keys of every row, as the store would have them. */
function keysOf(events: readonly Event[]): string[] {
  return events.map((event) => {
    if (event.kind === "session") return `session ${event.session.id}`;
    if (event.kind === "message") return `message ${event.message.session_id} ${event.message.id}`;
    return `part ${event.part.session_id} ${event.part.message_id} ${event.part.id}`;
  });
}

/** POND_GOLDEN=update adds keys to the golden file; a key that is gone is never taken out of it. */
function expectGolden(name: string, keys: readonly string[]): void {
  const path = join(GOLDEN, `${name}.keys`);
  const golden = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  if (process.env["POND_GOLDEN"] === "update") {
    mkdirSync(GOLDEN, { recursive: true });
    writeFileSync(path, `${[...new Set([...golden, ...keys])].toSorted().join("\n")}\n`);
    return;
  }
  const current = new Set(keys);
  const known = new Set(golden);
  expect({ lost: golden.filter((key) => !current.has(key)) }).toEqual({ lost: [] });
  expect({ unpinned: keys.filter((key) => !known.has(key)) }).toEqual({ unpinned: [] });
}

/** Names, sizes, times and content of everything below a folder. */
function fingerprint(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => {
      const stats = statSync(path);
      const content = stats.isFile()
        ? createHash("sha256").update(readFileSync(path)).digest("hex")
        : "folder";
      return `${relative(root, path)} ${stats.mtimeMs} ${stats.mode} ${content}`;
    });
}

const endsLine = (path: string): boolean => /\n$|^$/.test(readFileSync(path, "latin1"));
