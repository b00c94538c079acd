/**
 * The times of restored files (spec.md#adapter-restore-times): a client lists its sessions by them, so each log gets the
 * time of its session's last record and is listed where it was.
 */
import type { Adapter, Lineage, Place } from "../../../adapters/index.ts";
import type { Restored } from "../../../adapters/restore.ts";
import type { SessionId } from "../../../model/index.ts";
import type { SessionState } from "../../../model/events/index.ts";
import { sessionsIn } from "../../../model/tree/index.ts";

/** A client that deletes old files may do so within days of its next start: what is that close to it is not dated back. */
const MARGIN_MS = 2 * 86_400_000;

export interface Timing {
  readonly adapter: Adapter;
  /** The client's own place, where it has one. */
  readonly place: Place | undefined;
  readonly lineage: Lineage;
  readonly restored: Restored;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface RestoredTimes {
  /** By the path of a file, in milliseconds since 1970; a file without one has the time of the restore. */
  readonly byPath: ReadonlyMap<string, number>;
  /** Days after which the client would delete the session, where that kept it from being listed where it was. */
  readonly deleted_after_days?: number;
}

export async function timesOf(timing: Timing): Promise<RestoredTimes> {
  const { adapter, place, lineage, restored, now } = timing;
  const last = new Map<SessionId, number>();
  for (const { state } of sessionsIn(lineage)) last.set(state.session.id, lastRecordOf(state));
  const root = last.get(lineage.state.session.id) ?? now;
  const lifetime = place && (await adapter.deletesAfter?.(place));
  const isShort = (time: number): boolean => lifetime !== undefined && now - time > lifetime - MARGIN_MS;
  if (lifetime !== undefined && isShort(root))
    return { byPath: new Map(), deleted_after_days: Math.round(lifetime / 86_400_000) };
  const sessions = new Map(restored.logs.map(({ path, session }) => [path, session]));
  const byPath = new Map<string, number>();
  for (const { path } of restored.files) {
    const session = sessions.get(path);
    const time = (session === undefined ? undefined : last.get(session)) ?? root;
    // A subagent that ended long before its session would be deleted from beside it.
    byPath.set(path, Math.min(now, isShort(time) ? root : time));
  }
  return { byPath };
}

/** Of the log itself: what is beside it may have the time of a file. */
function lastRecordOf({ session, messages }: SessionState): number {
  let last: number = session.created_at;
  for (const { message } of messages) if (message.seq !== undefined) last = Math.max(last, message.timestamp);
  return Math.floor(last / 1000);
}
