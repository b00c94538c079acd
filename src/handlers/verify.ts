/**
 * `verify`: proof, source by source, that what is stored restores equal to what is on disk
 * (spec.md#adapter-native-restore-lossless). Every session is restored natively in memory and compared record by
 * record; nothing is written.
 */
import { join, posix } from "node:path";
import type { Adapter, FileComparison, Issue, Place, Unit } from "../adapters/index.ts";
import {
  brandOf,
  committedSession,
  describeDifference,
  FileComparer,
  isEqualFile,
} from "../adapters/index.ts";
import { toPondError } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import type { Session } from "../model/index.ts";
import { describeKey, loadTree, stateOf } from "../model/index.ts";
import type { DamagedSession, SessionStore } from "../sessions/index.ts";
import type { Cursors } from "../state/index.ts";
import type { Context } from "./context.ts";
import { requireStore } from "./existing.ts";
import { rememberedSync } from "./remembered.ts";
import type { SourceFilter } from "./sources.ts";
import type { Sweep } from "./sweep.ts";
import { isCursor, isFresh, sourceName, sweepSources } from "./sweep.ts";

export interface VerifyReport {
  readonly clients: readonly ClientVerification[];
}

export interface ClientVerification {
  readonly adapter: string;
  /** Sources on disk. */
  readonly sources: number;
  /** Sources of which no session is stored: not synced yet, or refused with an issue. */
  readonly unstored: number;
  readonly sessions: number;
  readonly files: number;
  readonly records: number;
  readonly equal: number;
  readonly unequal: number;
  /** Of the unequal files those that only have fewer records than are stored of them: the client took some away. */
  readonly shrunk: number;
  /** Sources with unequal files that were written to since the last sync, which may be all there is to it. */
  readonly changed: number;
  /** The first differences, located. */
  readonly differences: readonly string[];
  /** What could not be looked at. */
  readonly issues: readonly Issue[];
}

const MAX_DIFFERENCES = 20;

export interface VerifyProgress {
  readonly client: string;
  readonly done: number;
  readonly total: number;
}

export async function verify(
  context: Context,
  filter: SourceFilter,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<VerifyReport> {
  const store = await requireStore(context);
  const remembered = await rememberedSync(context);
  const clients: ClientVerification[] = [];
  for (const sweep of await sweepSources(context, filter, undefined))
    clients.push(await verifyClient(context, { store, sweep, cursors: remembered?.cursors }, onProgress));
  return { clients };
}

interface Job {
  readonly store: SessionStore;
  readonly sweep: Sweep;
  readonly cursors: Cursors | undefined;
}

async function verifyClient(
  context: Context,
  { store, sweep, cursors }: Job,
  onProgress: (progress: VerifyProgress) => void,
): Promise<ClientVerification> {
  const { adapter } = sweep;
  const tally = {
    unstored: 0,
    sessions: 0,
    files: 0,
    records: 0,
    equal: 0,
    unequal: 0,
    shrunk: 0,
    changed: 0,
  };
  const differences: string[] = [];
  const addUnequal = (lines: readonly string[]): void => {
    tally.unequal += 1;
    differences.push(...lines.slice(0, MAX_DIFFERENCES - differences.length));
  };
  const stored = await storedSessions(store, adapter, ({ id, message }) =>
    addUnequal([`${describeKey({ id })} cannot be read: ${message}`]),
  );
  await using comparer = new FileComparer(context.machine.scratch, context.clock.now());
  for (const [done, { unit, place }] of sweep.stale.entries()) {
    context.signal.throwIfAborted();
    const source = sourceName(adapter, place, unit);
    const sessions = sessionsIn(stored, unit, cursors?.get(source));
    const { unequal } = tally;
    if (sessions.length === 0) tally.unstored += 1;
    for (const session of sessions) {
      tally.sessions += 1;
      const job = { store, adapter, unit, place, session, comparer };
      const { comparisons, damage } = await verifySession(context, job);
      if (damage.length > 0) addUnequal(damage);
      for (const comparison of comparisons) {
        tally.files += 1;
        tally.records += comparison.records;
        tally.equal += comparison.equal;
        if (comparison.extra !== undefined) tally.shrunk += 1;
        if (!isEqualFile(comparison)) addUnequal([describeDifference(comparison)]);
      }
    }
    const isOld = cursors === undefined || isFresh(cursors, source, unit);
    if (tally.unequal > unequal && !isOld) tally.changed += 1;
    onProgress({ client: adapter.title, done: done + 1, total: sweep.stale.length });
  }
  return { adapter: adapter.name, sources: sweep.seen, ...tally, differences, issues: sweep.issues };
}

interface SessionJob {
  readonly store: SessionStore;
  readonly adapter: Adapter;
  readonly unit: Unit;
  readonly place: Place;
  readonly session: Session;
  readonly comparer: FileComparer;
}

interface SessionProof {
  readonly comparisons: readonly FileComparison[];
  /** What of the session cannot be read: then there is nothing to compare. */
  readonly damage: readonly string[];
}

/** Each session alone: its own files against its own source, so that memory is bounded by one session. */
async function verifySession(
  context: Context,
  { store, adapter, unit, place, session, comparer }: SessionJob,
): Promise<SessionProof> {
  if (adapter.restore.kind === "unsupported") return { comparisons: [], damage: [] };
  const { value, issues } = await loadTree(store.tree(), session.id, { depth: 0 });
  // Its children are verified by their own sources.
  const damage = issues.filter(({ kind }) => kind !== "cut");
  const state = stateOf(value);
  if (damage.length > 0 || state === undefined)
    return {
      comparisons: [],
      damage: damage.map(({ key, message }) => `${describeKey(key)} cannot be read: ${message}`),
    };
  try {
    const restored = await adapter.restore.serialize(
      { state, children: [] },
      { fidelity: "native", layout: "source", mapPath: (path) => path, now: context.clock.now() },
    );
    const comparisons: FileComparison[] = [];
    // The session may have been read by a shorter or a longer path to the same folder.
    const before = posix.dirname(pathOf(session) ?? unit.key);
    const folder = join(place.root, posix.dirname(unit.key));
    for (const file of restored.files) {
      const path = join(folder, posix.relative(before, file.path));
      comparisons.push(await comparer.compare(file, sourceOf(unit, path)));
    }
    return { comparisons, damage: [] };
  } catch (error) {
    const { message } = toPondError(error);
    return { comparisons: [], damage: [`${describeKey(session)} cannot be restored: ${message}`] };
  }
}

/** Where the source is now: clients compress old logs under the same name with `.zst`. */
function sourceOf(unit: Unit, path: string): string {
  return unit.files.find((file) => file.path === `${path}.zst`)?.path ?? path;
}

/** The stored sessions of a client. */
interface Stored {
  readonly byId: ReadonlyMap<string, Session>;
  readonly byPath: ReadonlyMap<string, readonly Session[]>;
}

/** The session that the cursor of a source names; else all that were read from such a path, which other places may have too. */
function sessionsIn({ byId, byPath }: Stored, unit: Unit, cursor: JsonValue | undefined): readonly Session[] {
  const id = isCursor(cursor) ? committedSession(cursor) : undefined;
  if (id === undefined) return byPath.get(unit.key) ?? [];
  const session = byId.get(id);
  return session === undefined ? [] : [session];
}

async function storedSessions(
  store: SessionStore,
  adapter: Adapter,
  onDamage: (session: DamagedSession) => void,
): Promise<Stored> {
  const byId = new Map<string, Session>();
  const byPath = new Map<string, Session[]>();
  const isOwn = ({ source_agent }: { readonly source_agent: string }): boolean =>
    brandOf(source_agent) === adapter.name;
  const sessions = store.allSessions((damaged) => (isOwn(damaged) ? onDamage(damaged) : undefined));
  for await (const session of sessions) {
    if (!isOwn(session)) continue;
    byId.set(session.id, session);
    const path = pathOf(session);
    if (path !== undefined) byPath.set(path, [...(byPath.get(path) ?? []), session]);
  }
  return { byId, byPath };
}

/** Below the place where it was read first. */
function pathOf({ options: { source } }: Session): string | undefined {
  const path = isJsonObject(source) ? source["path"] : undefined;
  return typeof path === "string" ? path : undefined;
}
