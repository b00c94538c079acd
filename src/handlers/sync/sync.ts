/**
 * `sync`: import, embed, update-indexes (spec.md#sync-stages). Import reads what changed since the last commit and nothing
 * else; when nothing changed, neither the store nor its engine is opened.
 */
import { hash } from "node:crypto";
import type { StoreFacts } from "../../state/index.ts";
import {
  acquireLock,
  Cursors,
  isLockLeftBehind,
  knownCursors,
  lastSync,
  readerId,
  rememberStore,
  rememberSync,
} from "../../state/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { isInMemory } from "../../sessions/peek.ts";
import type {
  ClientReport,
  EmbedProgress,
  EmbedReport,
  IndexUpdates,
  Stage,
  SyncProgress,
  SyncReport,
  SyncRequest,
  TableUpdate,
} from "../../wire/sync.ts";
import type { Context } from "../context/context.ts";
import { clientReport } from "../import/outcome.ts";
import type { IsWanted, Sweep } from "../sources/sweep.ts";
import { goneMessage, inspectStore, rememberedSync } from "../context/remembered.ts";
import { onlyStale, sweepSources } from "../sources/sweep.ts";
import { waitsToRemember } from "../sources/waits.ts";
import type { PondError } from "../../base/errors.ts";
import type { Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import type { EmbedStage } from "../embed/embed.ts";

export interface SyncHooks {
  readonly onProgress?: (progress: SyncProgress) => void;
  readonly onEmbed?: (progress: EmbedProgress) => void;
  /** The indexes are being brought up to date. */
  readonly onIndexes?: () => void;
  readonly onWait?: (holder: { readonly pid: number; readonly since: number }) => void;
  /** Which of the sources are read; all of them where it is absent. */
  readonly isWanted?: IsWanted | undefined;
}

const ALL_STAGES: readonly Stage[] = ["import", "embed", "update-indexes"];

export async function sync(
  context: Context,
  request: SyncRequest,
  hooks: SyncHooks = {},
): Promise<SyncReport> {
  const stages = request.stages ?? ALL_STAGES;
  const notes: Sentence[] = [];
  const started = context.clock.now();
  const imported = stages.includes("import")
    ? await importStage(context, request, { ...hooks, notes })
    : { clients: [] };
  const { clients, store: name } = imported;
  const importedAt = context.clock.now();
  const { state } = context.config.paths;
  const before = name === undefined ? undefined : lastSync(state, name);
  const changes = before?.changes ?? 0;
  const embed = await embedStage(context, request, {
    wanted: stages.includes("embed"),
    store: name === undefined ? undefined : { name, changes },
    notes,
    onProgress: (progress) => hooks.onEmbed?.(progress),
  });
  const embeddedAt = context.clock.now();
  const isNew = clients.some(({ stored }) => stored.commits > 0) || (embed.run?.messages ?? 0) > 0;
  const isDue = isNew || before?.isIndexDue === true;
  const indexing = { wanted: stages.includes("update-indexes"), isDue, stages };
  const indexes = await indexStage(context, indexing, hooks);
  // From here on a sync with nothing new need not look at the indexes; another one may have stored something meanwhile.
  const last = name === undefined ? undefined : lastSync(state, name);
  if (
    name !== undefined &&
    last?.isIndexDue === true &&
    (last.changes ?? 0) === changes &&
    ["updated", "nothing to do"].includes(indexes.outcome)
  )
    rememberSync(state, name, { ...last, isIndexDue: false });
  const took = {
    import: importedAt - started,
    embed: embeddedAt - importedAt,
    "update-indexes": context.clock.now() - embeddedAt,
  };
  return {
    dry_run: request.dry_run === true,
    interrupted: context.signal.aborted,
    clients,
    embed,
    indexes,
    took: Object.fromEntries(stages.map((stage) => [stage, took[stage]])),
    notes,
  };
}

/** With embeddings off nothing of them is loaded. */
async function embedStage(
  context: Context,
  request: SyncRequest,
  stage: Omit<EmbedStage, "force" | "wait"> & { readonly wanted: boolean; readonly notes: Sentence[] },
): Promise<EmbedReport> {
  const { embeddings, signal } = context;
  if (!stage.wanted || request.dry_run === true) return { outcome: "skipped" };
  if (embeddings === undefined) return { outcome: "off" };
  if (signal.aborted) return { outcome: "interrupted" };
  const { embed } = await import("../embed/embed.ts");
  const { report, failure } = await embed(context, embeddings, {
    ...stage,
    force: request.force_embed === true,
    wait: request.wait === true,
  });
  if (failure !== undefined) stage.notes.push(failureNote(failure, report));
  return report;
}

function failureNote({ sentences: { message, hint } }: PondError, { run }: EmbedReport): Sentence {
  const left = run?.left ?? 0;
  const rest =
    left === 0 ? "" : `; ${left} ${left === 1 ? "message is" : "messages are"} left to the next sync`;
  return hint === undefined
    ? sentence`embed: ${message}${rest}`
    : sentence`embed: ${message}: ${hint}${rest}`;
}

interface Imported {
  readonly clients: readonly ClientReport[];
  /** What the store is remembered as; absent where it is not. */
  readonly store?: string;
}

async function importStage(
  context: Context,
  request: SyncRequest,
  hooks: SyncHooks & { readonly notes: Sentence[] },
): Promise<Imported> {
  const { state } = context.config.paths;
  const { url, namespace } = context.address;
  const known = await rememberedSync(context);
  const remembered = typeof known === "string" ? undefined : known;
  const cursors = remembered?.cursors;
  noteDamage(cursors, hooks.notes);
  const filter = { ...request, isWanted: hooks.isWanted };
  await using sweeps = await sweepSources(context, filter, request.verify === true ? undefined : cursors);
  const sweep = sweeps.clients;
  const hasStale = sweep.some(({ stale }) => stale.length > 0);
  if (known === "gone back") hooks.notes.push(GONE_BACK);
  if (known === "unnamed") hooks.notes.push(UNNAMED);
  if (known === "gone")
    hooks.notes.push(`${goneMessage(context)}; ${hasStale ? MADE_ANEW : NOTHING_TO_MAKE}`);
  // That nothing is left to be read is to be told and remembered, too: or the store would be called older for ever.
  const isDue = known === "gone back" || known === "unnamed" || remembered?.isSettled === false;
  // Hashed: an address as it is would be too long for a file's name where folders are many or not ASCII.
  const lock = hash("sha256", `${url} ${namespace}`);
  const isAfterKill = isLockLeftBehind(state, lock);
  // A sync that was killed may have stored everything and told nobody.
  const hasWork =
    hasStale || isDue || (cursors?.damaged ?? 0) > 0 || (isAfterKill && remembered !== undefined);
  if (request.dry_run === true || !hasWork) {
    if (request.dry_run !== true && remembered !== undefined) rememberLook(context, remembered.name, sweep);
    const clients = sweep.map((each) => clientReport(each, []));
    return request.dry_run === true || remembered === undefined
      ? { clients }
      : { clients, store: remembered.name };
  }
  using _ = await acquireLock(state, lock, {
    clock: context.clock,
    wait: request.wait === true,
    signal: context.signal,
    ...(hooks.onWait === undefined ? {} : { onWait: hooks.onWait }),
  });
  (await import("../../state/besides.ts")).removeAbandoned(state, context.clock.now());
  const store = await context.store();
  // Under the lock: another sync may just have finished, or this store is new under its address.
  const now = await rememberedSync(context, remembered);
  const held = typeof now === "string" ? undefined : now;
  // One in memory begins with each process, and lacks nothing.
  const isFirst = isInMemory(url) || knownCursors(state, context.address).length === 0;
  const isSettled = held?.isSettled ?? isFirst;
  const facts = await factsOf(context, store);
  const name = rememberStore(state, context.address, { ...facts, cursors: held?.name, isSettled });
  const current = held?.cursors ?? Cursors.open(state, name);
  current.repair();
  const reports = await importAll(
    context,
    {
      sweep,
      cursors: current,
      verify: request.verify === true,
      // Also where such a sync was cut off, or the first one of this machine failed: nothing is known to be stored.
      isDoubtful: held === undefined || !isSettled || current.size === 0 || request.verify === true,
      isAfterKill,
    },
    hooks,
  );
  const isEnded = !context.signal.aborted;
  if (isEnded && current.mark === undefined) current.advance([], await store.leaveMark(readerId(state)));
  if (isEnded) {
    const { noteLost } = await import("../verify/lost-sources.ts");
    hooks.notes.push(...(await noteLost(context, store, { name, isSettled, cursors: current })));
  }
  const after = await factsOf(context, store);
  rememberStore(state, context.address, { ...after, cursors: name, isSettled: isSettled || isEnded });
  const last = lastSync(state, name);
  const isNew = isAfterKill || reports.some(({ stored }) => stored.commits > 0);
  rememberSync(state, name, {
    at: context.clock.now(),
    messages: reports.reduce((sum, { stored }) => sum + stored.messages.inserted, 0),
    issues: reports.flatMap(({ issues }) => Object.values(issues)).reduce((sum, n) => sum + n, 0),
    interrupted: context.signal.aborted,
    isIndexDue: isNew || last?.isIndexDue === true,
    changes: (last?.changes ?? 0) + (isNew ? 1 : 0),
    waits: waitsToRemember(
      reports.flatMap(({ waits }) => waits),
      last?.waits ?? [],
      context.clock.now(),
    ),
  });
  return { clients: reports, store: name };
}

const MADE_ANEW = "sync makes a new one from the sources on this machine";
const NOTHING_TO_MAKE = "no source is on this machine to make a new one from";

const MINUTE_MS = 60_000;

/** A sync that found nothing new is a sync, too. Not within a minute, which nobody sees, and at no price: it is for status. */
function rememberLook({ clock, config }: Context, name: string, sweep: readonly Sweep[]): void {
  const { state } = config.paths;
  const at = clock.now();
  try {
    const last = lastSync(state, name);
    if (last?.interrupted === false && Math.abs(at - last.at) < MINUTE_MS) return;
    const issues = sweep.flatMap((each) => each.issues).length;
    const waits = waitsToRemember([], last?.waits ?? [], at);
    const { isIndexDue = false, changes = 0 } = last ?? {};
    rememberSync(state, name, { at, messages: 0, issues, interrupted: false, isIndexDue, changes, waits });
  } catch {
    // A state folder that cannot be written keeps no time.
  }
}

interface ImportPlan {
  readonly sweep: readonly Sweep[];
  readonly cursors: Cursors;
  readonly verify: boolean;
  readonly isDoubtful: boolean;
  /** The sync before was killed. */
  readonly isAfterKill: boolean;
}

async function importAll(
  context: Context,
  plan: ImportPlan,
  hooks: SyncHooks,
): Promise<readonly ClientReport[]> {
  const work = plan.sweep.map((sweep) => (plan.verify ? sweep : onlyStale(sweep, plan.cursors)));
  const files = work.reduce((sum, { staleUnits }) => sum + staleUnits, 0);
  const bytes = work.reduce((sum, { staleBytes }) => sum + staleBytes, 0);
  const done = { files: 0, bytes: 0, messages: 0 };
  const { importClient } = await import("../import/client.ts");
  const reports: ClientReport[] = [];
  for (const sweep of work) {
    if (sweep.stale.length === 0 || context.signal.aborted) {
      reports.push(clientReport(sweep, []));
      continue;
    }
    const report = await importClient(context, sweep, {
      cursors: plan.cursors,
      verify: plan.verify,
      isDoubtful: plan.isDoubtful,
      isAfterKill: plan.isAfterKill,
      onUnit: (unit) => {
        done.files += 1;
        done.bytes += unit.bytes;
        const messages = done.messages + unit.messages;
        hooks.onProgress?.({
          client: sweep.adapter.title,
          files_done: done.files,
          files,
          bytes_done: done.bytes,
          bytes,
          messages,
        });
      },
    });
    done.messages += report.stored.messages.inserted + report.stored.messages.matched;
    reports.push(report);
  }
  return reports;
}

export const GONE_BACK =
  "the store lacks what was stored in it before: an older copy is in its place, or a commit was lost; every source is read again";

const UNNAMED =
  "the store has lost its identity: it is given a new one, and every source is read again, here and on other machines";

function noteDamage(cursors: Cursors | undefined, notes: Sentence[]): void {
  if (cursors !== undefined && cursors.damaged > 0)
    notes.push(`damaged cursors: ${cursors.damaged} dropped; their sources are read again from the start`);
}

/** Of a store in memory nothing can be looked at from outside. */
async function factsOf(context: Context, store: SessionStore): Promise<StoreFacts> {
  return (await inspectStore(context)) ?? { id: await store.id(), versions: {}, commitOf: () => undefined };
}

/**
 * Only after something was written, by this sync or one that did not come to it, or when it is the one stage asked for: a
 * sync with nothing to do loads no engine.
 */
async function indexStage(
  context: Context,
  stage: { readonly wanted: boolean; readonly isDue: boolean; readonly stages: readonly Stage[] },
  { onIndexes }: SyncHooks,
): Promise<IndexUpdates> {
  if (!stage.wanted) return { outcome: "skipped", tables: [] };
  if (context.signal.aborted) return { outcome: "interrupted", tables: [] };
  if (!stage.isDue && stage.stages.includes("import")) return { outcome: "nothing to do", tables: [] };
  onIndexes?.();
  const store = await context.store();
  // Asked for alone, it is to do everything that can be done, whether or not it would pay now.
  const reports = await store.updateIndexes({ force: stage.stages.length === 1 });
  const tables = reports.map(({ table, done, left, bytesRemoved }): TableUpdate => ({
    table,
    done,
    left,
    bytes_removed: bytesRemoved,
  }));
  return { outcome: tables.some(({ done }) => done.length > 0) ? "updated" : "nothing to do", tables };
}
