/**
 * What must hold after a history, whatever happened in it: what was read restores as it was, nothing is fused or
 * invented, verify tells the truth, every text that was read can be found, and reading again changes nothing.
 */
import type { Operation } from "./operations.ts";
import { describeHistory } from "./operations.ts";
import { countRows, findsText, restoreAll, restoreState, verdictOn } from "./seams.ts";
import type { Records, SourceModel } from "./source-model.ts";
import { settledEntries } from "./source-model.ts";
import type { Source } from "./world.ts";
import { World } from "./world.ts";

export const CHECKS = ["restores", "nothing invented", "verify", "found", "synced again"] as const;
export type Check = (typeof CHECKS)[number];

export interface Trial {
  readonly model: SourceModel;
  readonly checks?: readonly Check[];
  readonly truths: Truths;
}

/** Fails with the history and with what does not hold after it. */
export async function expectHistory(history: readonly Operation[], trial: Trial): Promise<void> {
  const findings = await tryHistory(history, trial);
  if (findings.length > 0)
    throw new Error(`${trial.model.label}:\n${describeHistory(history)}\n${findings.join("\n")}`);
}

/** Plays a history and looks at what is left of it; a line for each thing that does not hold. */
export async function tryHistory(history: readonly Operation[], trial: Trial): Promise<readonly string[]> {
  const { model, checks = CHECKS } = trial;
  await using world = await World.start(model);
  for (const operation of history) await world.run(operation);
  const during = await findingsIn(world, trial);
  if (during.length > 0) return during;
  // The rest is read, by a machine that knows nothing of the other's cursors.
  await world.syncAll(0);
  await world.syncAll(1);
  const after = await findingsIn(world, trial);
  return after.length > 0 || !checks.includes("synced again") ? after : await changesByReading(world);
}

async function findingsIn(world: World, { checks = CHECKS, truths }: Trial): Promise<readonly string[]> {
  if (world.sources.every(({ read }) => read === undefined)) return [];
  const findings: string[] = [];
  const look: Partial<Record<Check, (world: World) => Promise<readonly string[]>>> = {
    restores: unequalRestores,
    "nothing invented": inventedRecords,
    verify: (each) => wrongVerdicts(each, truths),
    found: lostTexts,
  };
  for (const check of checks)
    findings.push(...((await look[check]?.(world)) ?? []).map((line) => `${check}: ${line}`));
  return findings;
}

const nameOf = ({ model }: World, { place, session }: Source): string =>
  `place ${place}, ${model.path(session)}`;

/** Every source that could be read when it was last read comes back as it was then. */
async function unequalRestores(world: World): Promise<readonly string[]> {
  const { model } = world;
  const findings: string[] = [];
  for (const source of world.sources) {
    const { session, place, read } = source;
    if (read === undefined || read.how !== "whole") continue;
    // By the machine that read it: what is recorded of a source says whose it is.
    const { context } = await world.machine(read.machine);
    const name = {
      adapter: model.adapter,
      session: model.storedId(session),
      place: world.root(place),
      path: model.path(session),
    };
    const difference = await restoreState(context, name).then(
      (restored) => differenceOf(model.records(session, read.state), restored),
      (error: unknown) => `cannot be restored: ${String(error)}`,
    );
    if (difference !== undefined) findings.push(`${nameOf(world, source)}: ${difference}`);
  }
  return findings;
}

function differenceOf(expected: Records, restored: Records): string | undefined {
  for (const path of new Set([...expected.keys(), ...restored.keys()])) {
    const [wanted, got] = [expected.get(path), restored.get(path)];
    if (wanted === undefined) return `${path} was not there`;
    if (got === undefined) return `${path} does not come back`;
    const index = [...wanted, ""].findIndex((record, at) => record !== (got[at] ?? ""));
    if (index !== -1 || got.length !== wanted.length)
      return `${path}, record ${index} of ${wanted.length} (${got.length} came back): ${wanted[index] ?? "none"} came back as ${got[index] ?? "none"}`;
  }
  return undefined;
}

/** Whatever is restored, of whatever source: each record was on disk, as it is, at some time. */
async function inventedRecords(world: World): Promise<readonly string[]> {
  const { context } = await world.machine(0);
  const findings: string[] = [];
  for (const [session, files] of await restoreAll(context, world.model.adapter))
    for (const [path, records] of files)
      for (const record of records)
        if (!world.ever.has(record)) findings.push(`${session}, ${path}: never written: ${record}`);
  return findings;
}

/** What `verify` has to say of a source: fine, not fine, or whatever it thinks right. */
export type Truth = "fine" | "wrong" | "either";

interface Asked {
  readonly truths: Truths;
  readonly machine: 0 | 1;
}

export interface Truths {
  /** Of a source that changed since it was read, or was read in part. */
  readonly changed: Truth;
  /** Of a source that was never read and holds what no other does. */
  readonly unstored: Truth;
}

function truthOf(world: World, source: Source, { truths, machine }: Asked): Truth {
  const { state, read, session, place } = source;
  if (state === undefined) return "fine";
  if (world.isFaulty(source)) return read === undefined ? truths.unstored : "either";
  // What only another machine has read, and has changed since, was never stored from here.
  if (read !== undefined && read.state !== state && read.machine !== machine) return "either";
  // Nobody knows what a killed sync has come to; the next one makes it whole.
  if (read?.how === "killed") return "either";
  if (read !== undefined) return read.state === state && read.how === "whole" ? "fine" : truths.changed;
  const others = world.sources.filter((other) => other !== source && other.read !== undefined);
  // A database that was read has grown by a session.
  const isGrown = world.model.container.kind === "database" && others.some((other) => other.place === place);
  const stored = new Set(
    others
      .filter((other) => other.session === session)
      .flatMap((other) => settledEntries(other.read!.state).map(({ id }) => id)),
  );
  // A copy of what is stored may count as moved. By words, too, as an older version of a record may be on disk.
  const isCopy = settledEntries(state).every(
    ({ id, word }) => stored.has(id) && (word === undefined || world.words.has(word)),
  );
  return isGrown || isCopy ? "either" : truths.unstored;
}

async function wrongVerdicts(world: World, truths: Truths): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const number of [0, 1] as const) {
    const places = world.placesOf(number);
    const all = world.sources
      .filter(({ place }) => places.includes(place))
      .map((source) => ({ source, truth: truthOf(world, source, { truths, machine: number }) }));
    const wrong = all.filter(({ truth }) => truth === "wrong");
    const { context } = await world.machine(number);
    const { adapter } = world.model;
    const paths = places.map((place) => world.root(place));
    const { isTrue, told } = await world.at(number, () => verdictOn(context, { adapter, paths }));
    const by = `machine ${number}`;
    if (wrong.length === 0 && !isTrue && all.every(({ truth }) => truth === "fine"))
      findings.push(`${by} finds fault with what is stored: ${told.join("; ")}`);
    if (wrong.length > 0 && isTrue)
      findings.push(
        `${by} misses what was never stored: ${wrong.map(({ source }) => nameOf(world, source)).join("; ")}`,
      );
    for (const { source } of isTrue ? [] : wrong)
      if (!told.some((line) => line.includes(world.model.path(source.session))))
        findings.push(`${by} does not name ${nameOf(world, source)}: ${told.join("; ")}`);
  }
  return findings;
}

async function lostTexts(world: World): Promise<readonly string[]> {
  const { context } = await world.machine(0);
  const findings: string[] = [];
  for (const word of world.words)
    if (!(await findsText(context, word))) findings.push(`${word} is not found`);
  return findings;
}

async function changesByReading(world: World): Promise<readonly string[]> {
  const { context } = await world.machine(0);
  const before = await countRows(context);
  const findings: string[] = [];
  for (const [machine, isFull] of [
    [0, false],
    [1, true],
    [0, true],
  ] as const) {
    await world.syncAll(machine, isFull);
    const after = await countRows(context);
    if (after !== before)
      findings.push(
        `synced again: machine ${machine}${isFull ? ", all of it" : ""}: ${before} became ${after}`,
      );
  }
  return findings;
}
