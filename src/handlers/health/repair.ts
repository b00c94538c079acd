/**
 * `repair`: everything that can be done about damaged files of a local store (spec.md#keep-repair). Indexes and summaries are
 * made again. Rows of damaged files are taken out and read again from their sources; of sessions whose sources are gone, those
 * that their digests prove go back at once, and all else goes back as far as it could be read. Rows of sessions are never
 * proven: no digest covers them. At the end everything is proven anew, and what is still wrong is named.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { sessionId } from "../../model/index.ts";
import type { Cleared, Damage, StateName, TableCheck } from "../../sessions/repair/index.ts";
import type { SessionStore, StateViews } from "../../sessions/index.ts";
import {
  aloneIn,
  checkFiles,
  clearTheWay,
  forgetWhatWas,
  letGo,
  remainsOf,
} from "../../sessions/repair/index.ts";
import { SESSIONS } from "../../sessions/index.ts";
import { forgetEmbedded } from "../../state/besides.ts";
import { acquireLock } from "../../state/index.ts";
import type { RepairReport } from "../../wire/health.ts";
import type { StoredReport } from "../../wire/verify.ts";
import type { Context } from "../context/context.ts";
import { requireStore } from "../context/existing.ts";
import { damageIn } from "../verify/file-damage.ts";
import { changedMessages, isDisproven, isProven, redundantStates } from "../verify/prove-session.ts";
import { rememberedSync } from "../context/remembered.ts";
import { storedOnce } from "../verify/lost-sources.ts";
import type { ReadAgain } from "./read-again.ts";
import { NOTHING_READ, readAgain, sumOf } from "./read-again.ts";
import { verifyStored } from "../verify/stored.ts";

export interface RepairHooks {
  readonly onStep?: (step: string) => void;
}

/** Each may bring another version to light. */
const MOST_ROUNDS = 8;

export async function repair(context: Context, hooks: RepairHooks = {}): Promise<RepairReport> {
  // One at a time, whoever's it is: a second one would find the files of the first half moved.
  using _ = await hold(context, "repair");
  return await aloneIn(context.address, { kind: "repair", clock: context.clock }, () =>
    repairAlone(context, hooks),
  );
}

async function repairAlone(context: Context, hooks: RepairHooks): Promise<RepairReport> {
  const step = (text: string): void => hooks.onStep?.(text);
  step("reading every file");
  const found = await check(context);
  const hasGoneBack = await isOlder(context);
  const cleared = await clearAll(context, found);
  const done = [...cleared.done];
  // Of a store elsewhere there are no files to look at, but what is stored can be proven.
  if (found.length === 0) await requireStore(context);
  const store = await context.store({ remakesLost: true });
  step("proving the sessions of damaged files");
  const out = await takeOutDamaged(context, store, { done, isDoubtful: cleared.isDoubtful });
  // Vectors may be among what was taken away, or of rows that were.
  forgetEmbedded(context.config.paths.state);
  const isDoubtful = found.some(({ isCutOff }) => isCutOff) || out.taken_out > 0 || cleared.isDoubtful;
  const isStateLost = found.some(
    ({ table, isTorn, damage }) => table === "sources" && (isTorn || damage.some(isLossOfRows)),
  );
  // The cursors of this machine name all that it read; without them and the states nothing does.
  const hasStates = found.length === 0 || found.some(({ table }) => table === "sources");
  const isNamed = (hasStates && !isStateLost) || storedOnce(context).length > 0;
  const sources = isNamed ? "named" : "all";
  const reread = async (isUnmarked: boolean): Promise<ReadAgain> => {
    step("reading every source again");
    return await readAgain(context, store, { sources, isUnmarked });
  };
  const prove = async (): Promise<StoredReport> => {
    step("proving everything that is stored");
    return await verifyStored(context, {});
  };
  let again = NOTHING_READ;
  let stored = isDoubtful ? undefined : await prove();
  if (stored === undefined || hasGoneBack || lacksSomething(stored)) {
    again = await reread(isDoubtful);
    stored = await prove();
  }
  const dropped = await damagedStates(context, out.states, stored);
  await store.dropStates(dropped);
  const changed = await takeOutChanged(context, store, stored);
  const recovered = isStateLost ? await recoverStates(context, store, stored) : 0;
  if (recovered > 0)
    done.push(
      `sources: states were recovered of ${recovered} ${recovered === 1 ? "session" : "sessions"}; no digest proves them`,
    );
  if (changed > 0) {
    done.push(
      changed === 1
        ? "1 row that differs from what was read was removed"
        : `${changed} rows that differ from what was read were removed`,
    );
    again = sumOf(again, await reread(true));
  }
  step("bringing the indexes up to date");
  await store.updateIndexes();
  await letGo(await check(context));
  if (changed + recovered + dropped.length > 0) stored = await verifyStored(context, {});
  const taken_out = out.taken_out + changed;
  const { made, clients, notes, read_again } = again;
  done.push(...sessionLines(made.length, (await store.countRecovered()) - made.length));
  const lost = Math.max(
    0,
    taken_out - (await store.countRows()) + out.left - changed + made.length + recovered,
  );
  const rows = {
    taken_out,
    readable: out.readable,
    proven: out.proven,
    read_again,
    put_back: out.put_back + again.put_back - dropped.length,
    lost,
    left_out: out.left_out + again.left_out + dropped.length,
  };
  const unproven = found.reduce((sum, { unsummed, late }) => sum + unsummed + late, 0);
  const left = await finish(context, store, stored);
  const remains = await remainsOf(context.address);
  return { damage: damageIn(found), unproven, done, rows, clients, left, remains, stored, notes };
}

/** The store is not the one that was synced to last, or a sync that read everything for that reason was cut off. */
async function isOlder(context: Context): Promise<boolean> {
  const known = await rememberedSync(context);
  return typeof known === "string" ? known !== "none" : !known.isSettled;
}

const lacksSomething = ({ clients }: StoredReport): boolean =>
  clients.some(({ unequal, strays }) => unequal + strays > 0);

/** What nothing proves of the rows of sessions, for people. */
function sessionLines(made: number, asRead: number): readonly string[] {
  return [
    ...(made === 0
      ? []
      : [
          made === 1
            ? "sessions: 1 lost row was rebuilt from messages: its parent is not known"
            : `sessions: ${made} lost rows were rebuilt from messages: their parents are not known`,
        ]),
    ...(asRead === 0
      ? []
      : [
          asRead === 1
            ? "sessions: 1 row is stored as far as it could be read from damaged files, marked options.pond.recovered: " +
              "nothing proves its parent and times"
            : `sessions: ${asRead} rows are stored as far as they could be read from damaged files, marked ` +
              "options.pond.recovered: nothing proves their parents and times",
        ]),
  ];
}

const isLossOfRows = ({ holds }: Damage): boolean => holds !== "index";

interface TakenOutRows {
  readonly taken_out: number;
  readonly readable: number;
  readonly proven: number;
  /** Recorded states that were put back as they could be read, and those that were not. */
  readonly states: readonly StateName[];
  readonly put_back: number;
  readonly left_out: number;
  /** Rows that the tables had when the damaged ones were out. */
  readonly left: number;
}

/** Takes out the rows of damaged files, and puts those back at once that are proven, and recorded states. */
async function takeOutDamaged(
  context: Context,
  store: SessionStore,
  { done, isDoubtful }: { readonly done: string[]; readonly isDoubtful: boolean },
): Promise<TakenOutRows> {
  using _ = await hold(context, "sync");
  const checks = await check(context);
  await remakeIndexes(store, checks, done);
  const damaged = await damagedFragments(context, store, checks);
  let [taken_out, readable] = [0, 0];
  if (damaged.size > 0) {
    const proven = await provenIn(context, store, damaged);
    for (const [name, fragments] of damaged) {
      const isCovered = name !== SESSIONS.name;
      const out = await store
        .table(name)
        ?.takeOut([...fragments], (session) => isCovered && proven.has(session));
      taken_out += out?.rows ?? 0;
      readable += out?.kept ?? 0;
      done.push(takenOutLine(name, fragments.size, out?.rows ?? 0));
    }
    await store.dropSummaries();
  }
  taken_out += await store.takeOutRecovered();
  // Other machines' cursors call rows stored that are not stored any more.
  if (taken_out > 0 || isDoubtful) {
    await store.forgetMarks();
    await store.dropSignatures();
  }
  const left = await store.countRows();
  // Also those of a repair that was cut off.
  const proven = (await store.putBackProven()).inserted;
  const { states, inserted: put_back, leftOut: left_out } = await store.putBackStates();
  return { taken_out, readable, proven, states, put_back, left_out, left };
}

/**
 * Recorded states of damaged files that are not proven though all that they name is there, in states that are: they are
 * damaged themselves. One that names a row that is missing or unproven stays, for it says what is wrong.
 */
async function damagedStates(
  context: Context,
  states: readonly StateName[],
  { clients }: StoredReport,
): Promise<readonly StateName[]> {
  const unequal = new Set(
    clients.flatMap(({ unequal_sessions }) => unequal_sessions.map((each) => each.session_id)),
  );
  const damaged: StateName[] = [];
  for (const [id, own] of Map.groupBy(states, ({ session_id }) => session_id))
    if (unequal.has(id)) {
      const redundant = await redundantStates(context, sessionId(id));
      damaged.push(...own.filter(({ source, state }) => redundant.has(`${source} ${Number(state)}`)));
    }
  return damaged;
}

/** Of sessions that are not what was read, though no file of theirs is known to be damaged: what a source here can say again. */
async function takeOutChanged(
  context: Context,
  store: SessionStore,
  { clients }: StoredReport,
): Promise<number> {
  let rows = 0;
  for (const { session_id, sources } of clients.flatMap(({ unequal_sessions }) => unequal_sessions)) {
    context.signal.throwIfAborted();
    if (!sources.some(({ path }) => existsSync(path))) continue;
    const id = sessionId(session_id);
    rows += await store.takeOutMessages(id, await changedMessages(context, id));
  }
  if (rows > 0) await store.forgetMarks();
  return rows;
}

async function recoverStates(
  { clock }: Context,
  store: SessionStore,
  { clients }: StoredReport,
): Promise<number> {
  let states = 0;
  for (const id of clients.flatMap(({ stray_sessions }) => stray_sessions))
    if (await store.recoverState(sessionId(id), clock)) states += 1;
  return states;
}

/** Says what is left, and lets go of what was moved away where nothing is. */
async function finish(
  context: Context,
  store: SessionStore,
  { clients }: StoredReport,
): Promise<RepairReport["left"]> {
  const after = await check(context);
  const left = damageIn(after);
  const isWhole = left.length === 0 && clients.every(({ unequal }) => unequal === 0);
  // What is still wrong may come from a source that is put back later: the next sync reads them all.
  if (!isWhole) await store.forgetMarks();
  // Of a lost table of states nothing may be missed only where every session has one again.
  else if (clients.every(({ unrecorded, strays }) => unrecorded + strays === 0)) await forgetWhatWas(after);
  return left;
}

/** Until nothing keeps the tables from being opened: what is moved away may bring older damage to light. */
async function clearAll(context: Context, found: readonly TableCheck[]): Promise<Cleared> {
  using _ = await hold(context, "sync");
  const done: string[] = [];
  let isDoubtful = false;
  for (let [round, checks] = [0, found]; round < MOST_ROUNDS; round++) {
    const cleared = await clearTheWay(checks);
    done.push(...cleared.done);
    isDoubtful ||= cleared.isDoubtful;
    if (cleared.done.length === 0) break;
    checks = await check(context);
    if (!checks.some(({ damage }) => damage.some(keepsShut))) break;
  }
  return { done, isDoubtful };
}

const keepsShut = ({ holds, what }: Damage): boolean => holds === "version" && what !== "missing";

function takenOutLine(table: string, files: number, rows: number): string {
  const [verb, noun] = files === 1 ? ["was", "file"] : ["were", "files"];
  return `${table}: ${files} damaged ${noun} ${verb} removed, with ${rows} ${rows === 1 ? "row" : "rows"}`;
}

function check(context: Context): Promise<TableCheck[]> {
  return checkFiles(context.address, { deep: true, signal: context.signal });
}

/** Waits for every other one of its kind. */
function hold({ config, address, clock, signal }: Context, kind: "repair" | "sync"): Promise<Disposable> {
  const { url, namespace } = address;
  const name = kind === "sync" ? `${url} ${namespace}` : `${kind} ${url} ${namespace}`;
  return acquireLock(config.paths.state, hash("sha256", name), {
    clock,
    signal,
    wait: true,
  });
}

async function remakeIndexes(
  store: SessionStore,
  checks: readonly TableCheck[],
  done: string[],
): Promise<void> {
  for (const { table, damage } of checks) {
    const names = damage.flatMap(({ holds, index, isCurrent }) =>
      holds === "index" && isCurrent && index !== undefined ? [index] : [],
    );
    if (names.length === 0) continue;
    await store.table(table)?.remakeIndexes(new Set(names));
    done.push(`${table}: rebuilt: ${[...new Set(names)].join(", ")}`);
  }
}

/** The fragments of the newest versions that cannot be trusted, by table. */
async function damagedFragments(
  context: Context,
  store: SessionStore,
  checks: readonly TableCheck[],
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const damaged = new Map<string, Set<number>>();
  for (const { table, damage, suspects } of checks) {
    const own = new Set<number>();
    for (const { fragment, isCurrent } of damage) if (fragment !== undefined && isCurrent) own.add(fragment);
    for (const fragment of suspects)
      if (!own.has(fragment) && (await isBad(context, store.table(table), fragment))) own.add(fragment);
    if (own.size > 0) damaged.set(table, own);
  }
  return damaged;
}

/** Of a file without a checksum from when it was written: it cannot be read, or a session in it is not what was read. */
async function isBad(
  context: Context,
  table: ReturnType<SessionStore["table"]>,
  fragment: number,
): Promise<boolean> {
  if (table === undefined) return false;
  if (!(await table.isReadable(fragment))) return true;
  for (const id of await table.firstKeysOf([fragment]))
    if (await isDisproven(context, sessionId(id)).catch(() => true)) return true;
  return false;
}

/**
 * The sessions with rows in damaged files that are as they were read all the same, by their digests, and that no source here
 * can say again: digests cover what a record says, and not the id of its row.
 */
async function provenIn(
  context: Context,
  store: SessionStore,
  damaged: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>();
  for (const [name, fragments] of damaged)
    for (const id of (await store.table(name)?.firstKeysOf([...fragments])) ?? []) sessions.add(id);
  const hasNoSourceHere = ({ history }: StateViews): boolean =>
    !history.sources.some(({ latest }) => existsSync(latest?.path ?? ""));
  const proven = new Set<string>();
  for (const id of sessions) {
    context.signal.throwIfAborted();
    if (await isProven(context, sessionId(id), hasNoSourceHere).catch(() => false)) proven.add(id);
  }
  return proven;
}
