/**
 * `repair`: everything that can be done about damaged files of a local store (spec.md#keep-repair). Indexes and summaries are
 * made again. Rows of damaged files are taken out; those whose sessions are proven by their digests go back at once, the
 * others are read again from their sources, and what no source has any more goes back as far as it could be read. At the end
 * everything is proven anew, and what is still wrong is named.
 */
import { hash } from "node:crypto";
import { adapterNamed } from "../adapters/index.ts";
import type { SessionId } from "../model/index.ts";
import { sessionId } from "../model/index.ts";
import type { Cleared, Damage, SessionStore, TableCheck } from "../sessions/index.ts";
import { checkFiles, clearTheWay, forgetWhatWas, letGo } from "../sessions/index.ts";
import { acquireLock } from "../state/index.ts";
import type { Context } from "./context.ts";
import { requireStore } from "./existing.ts";
import type { FileDamage } from "./file-damage.ts";
import { damageIn } from "./file-damage.ts";
import { proveState } from "./prove-state.ts";
import type { ClientReport } from "./sync-report.ts";
import { sync } from "./sync.ts";
import type { StoredReport } from "./verify-stored.ts";
import { verifyStored } from "./verify-stored.ts";

export interface RepairReport {
  /** What was found. */
  readonly damage: readonly FileDamage[];
  /** What was done about it, in the order it was done, for people. */
  readonly done: readonly string[];
  /** Rows of damaged files, and what became of them. */
  readonly rows: {
    readonly taken_out: number;
    readonly readable: number;
    /** Proven by their digests, and stored again as they were. */
    readonly proven: number;
    /** Read again from their sources. */
    readonly read_again: number;
    /** In no source any more, and stored again as they could be read. */
    readonly put_back: number;
    /** Not stored again: their sessions are whole without them, so their keys are damaged; or no session has them. */
    readonly left_out: number;
  };
  readonly clients: readonly ClientReport[];
  /** Files that are still damaged, and what is stored as its digests prove it now. */
  readonly left: readonly FileDamage[];
  readonly stored: StoredReport;
}

export interface RepairHooks {
  readonly onStep?: (step: string) => void;
}

/** Each may bring another version to light. */
const MOST_ROUNDS = 8;

export async function repair(context: Context, hooks: RepairHooks = {}): Promise<RepairReport> {
  // One at a time: a second one would find the files of the first half moved.
  using _ = await hold(context, "repair");
  return await repairAlone(context, hooks);
}

async function repairAlone(context: Context, hooks: RepairHooks): Promise<RepairReport> {
  const step = (text: string): void => hooks.onStep?.(text);
  step("reading every file");
  const found = await check(context);
  const cleared = await clearAll(context, found);
  const done = [...cleared.done];
  // Of a store elsewhere there are no files to look at, but what is stored can be proven.
  if (found.length === 0) await requireStore(context);
  const store = await context.store();
  const rows = { taken_out: 0, readable: 0, proven: 0, read_again: 0, put_back: 0, left_out: 0 };
  {
    using _ = await hold(context, "sync");
    const checks = await check(context);
    await remakeIndexes(store, checks, done);
    step("proving the sessions of damaged files");
    const damaged = fragmentsOf(checks);
    if (damaged.size > 0) {
      const proven = await provenIn(context, store, damaged);
      for (const [name, fragments] of damaged) {
        const out = await store.table(name)?.takeOut([...fragments], (session) => proven.has(session));
        rows.taken_out += out?.rows ?? 0;
        rows.readable += out?.kept ?? 0;
        done.push(takenOutLine(name, fragments.size, out?.rows ?? 0));
      }
      await store.dropSummaries();
    }
    // Other machines' cursors call rows stored that are not stored any more.
    if (damaged.size > 0 || cleared.isDoubtful) await store.forgetMarks();
    // Also those of a repair that was cut off.
    rows.proven = (await store.putBackProven()).inserted;
  }
  // Without a reason to doubt everything a sync looks whether the store went back, as one does that a torn commit left.
  const isCutOff = found.some((each) => each.isCutOff);
  const isDoubtful = isCutOff || rows.taken_out > 0 || cleared.isDoubtful;
  step(isDoubtful ? "reading every source again" : "looking for what the store lacks");
  const { clients } = await sync(context, { verify: isDoubtful, wait: true });
  rows.read_again = clients.reduce(
    (sum, { stored }) => sum + stored.sessions.inserted + stored.messages.inserted + stored.parts.inserted,
    0,
  );
  const back = await store.putBackUnproven((session) => isProven(store, session).catch(() => false));
  rows.put_back = back.inserted;
  rows.left_out = back.leftOut;
  step("bringing the indexes up to date");
  await store.updateIndexes();
  await letGo(await check(context));
  step("proving everything that is stored");
  const stored = await verifyStored(context, {});
  const after = await check(context);
  const left = damageIn(after);
  // What is still wrong may come from a source that is put back later: the next sync reads them all.
  const isWhole = left.length === 0 && stored.clients.every(({ unequal }) => unequal === 0);
  if (!isWhole) await store.forgetMarks();
  // Of a lost table of states nothing may be missed only where every session has one again.
  else if (stored.clients.every(({ unrecorded }) => unrecorded === 0)) await forgetWhatWas(after);
  return { damage: damageIn(found), done, rows, clients, left, stored };
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
  return `${table}: ${files} damaged ${noun} ${verb} taken out, with ${rows} ${rows === 1 ? "row" : "rows"}`;
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
    done.push(`${table}: made again: ${[...new Set(names)].join(", ")}`);
  }
}

/** The fragments of the newest versions that cannot be trusted, by table. */
function fragmentsOf(checks: readonly TableCheck[]): ReadonlyMap<string, ReadonlySet<number>> {
  const damaged = new Map<string, Set<number>>();
  for (const { table, damage } of checks)
    for (const { fragment, isCurrent } of damage)
      if (fragment !== undefined && isCurrent)
        damaged.set(table, (damaged.get(table) ?? new Set()).add(fragment));
  return damaged;
}

/** The sessions with rows in damaged files that are as they were read all the same, by their digests. */
async function provenIn(
  context: Context,
  store: SessionStore,
  damaged: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>();
  for (const [name, fragments] of damaged)
    for (const id of (await store.table(name)?.firstKeysOf([...fragments])) ?? []) sessions.add(id);
  const proven = new Set<string>();
  for (const id of sessions) {
    context.signal.throwIfAborted();
    if (await isProven(store, sessionId(id)).catch(() => false)) proven.add(id);
  }
  return proven;
}

/** Every row of it is of a state that restores with its recorded digests. */
async function isProven(store: SessionStore, id: SessionId): Promise<boolean> {
  const views = await store.views(id);
  if (views === undefined || !views.history.isRecorded) return false;
  if (views.everything().damage.length > 0) return false;
  const heads = views.history.sources.flatMap(({ all }) => all);
  const held = new Set<string>();
  for (const head of heads) {
    const adapter = adapterNamed(head.adapter);
    if (adapter === undefined || !head.whole) return false;
    const view = views.view(head);
    if ((await proveState(adapter, head, view)).faults.length > 0) return false;
    for (const { message } of view.state.messages) held.add(message.id);
  }
  return views.everything().state.messages.every(({ message }) => held.has(message.id));
}
