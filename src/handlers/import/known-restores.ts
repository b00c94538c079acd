/**
 * What pond restored into a client, for whoever reads the client (spec.md#sources-restored-cost): which sessions, at once; which
 * messages, only of the sessions that a source may be.
 */
import type { Session, SessionId } from "../../model/index.ts";
import type { RestoredMessage, RestoreHead, SessionStore } from "../../sessions/index.ts";

/** A restored session, as threads send it to each other. */
export interface KnownRestore {
  readonly session: SessionId;
  readonly from: SessionId;
  /** The restored session that it is a subagent of, and the one above all: itself where it is a subagent of none. */
  readonly parent?: SessionId;
  readonly root: SessionId;
  /** It is a session of the store, under this label. */
  readonly isStored: boolean;
  readonly label?: string;
  /** When, the last time; microseconds since 1970. */
  readonly restoredAt: number;
  /** The files that hold it, on whatever machine. */
  readonly paths: readonly string[];
  /** Who wrote which of them, as often as they did; the same one again after it was deleted. */
  readonly writes?: readonly Pick<RestoreHead, "reader" | "path">[];
  /** It is the same session with mapped paths, as often as it was restored so: the digests of what was written. */
  readonly digests?: readonly string[];
  /** It is a session of the client itself, written as it is stored. */
  readonly isNative?: true;
}

/** What was written of a restored session. */
export interface RestoredList {
  readonly session: SessionId;
  readonly messages: readonly (readonly [id: string, said: RestoredMessage | null])[];
  /** In which forms. */
  readonly forms: readonly string[];
}

/** What was restored into a client, without its messages. */
export async function knownRestores(store: SessionStore, adapter: string): Promise<readonly KnownRestore[]> {
  const heads = await store.restoresInto(adapter);
  if (heads.length === 0) return [];
  const newestFirst = heads.toSorted((a, b) => b.restored_at - a.restored_at);
  const foreign = newestFirst.filter(({ session, from }) => session !== from);
  const ids = foreign.flatMap(({ session, from }) => [session, from]);
  const families = new Families(foreign, await store.sessions(new Set(ids)));
  const others = [...Map.groupBy(foreign, ({ session }) => session)].flatMap(([session, restores]) => {
    const [newest] = restores;
    if (newest === undefined) return [];
    const { from, restored_at: restoredAt } = newest;
    const paths = restores.map(({ path }) => path);
    const writes = restores.map(({ reader, path }) => ({ reader, path }));
    return [{ session, from, ...families.placeOf(newest), restoredAt, paths, writes }];
  });
  const natives = newestFirst.filter(({ session, from }) => session === from);
  const own = [...Map.groupBy(natives, ({ session }) => session)].map(([session, restores]): KnownRestore => {
    const digests = restores.flatMap(({ digest }) => digest ?? []);
    return {
      session,
      from: session,
      root: session,
      isStored: true,
      restoredAt: restores[0]?.restored_at ?? 0,
      paths: [],
      writes: restores.map(({ reader, path }) => ({ reader, path })),
      ...(digests.length === 0 ? { isNative: true as const } : { digests }),
    };
  });
  return [...own, ...others];
}

/** What was written of some of them. The same session may have been restored more than once, from other states of the other one. */
export async function restoredLists(
  store: SessionStore,
  sessions: readonly SessionId[],
): Promise<readonly RestoredList[]> {
  const records = await store.restoreRecords(sessions);
  return [...Map.groupBy(records, ({ session }) => session)].map(([session, own]) => ({
    session,
    messages: [...new Map(own.flatMap(({ messages }) => [...messages]))],
    forms: own.flatMap(({ form }) => form ?? []),
  }));
}

/** Which restored sessions are subagents of which. */
class Families {
  readonly #targets: ReadonlyMap<SessionId, SessionId>;
  readonly #sessions: ReadonlyMap<SessionId, Session>;

  constructor(newestFirst: readonly RestoreHead[], sessions: ReadonlyMap<SessionId, Session>) {
    this.#targets = new Map(newestFirst.toReversed().map(({ from, session }) => [from, session]));
    this.#sessions = sessions;
  }

  placeOf({ session, from }: RestoreHead): Pick<KnownRestore, "parent" | "root" | "isStored" | "label"> {
    const row = this.#sessions.get(session);
    const stored = row === undefined ? { isStored: false } : { isStored: true, label: row.source_agent };
    const parent = this.#above(from);
    const target = parent === undefined ? undefined : this.#targets.get(parent);
    if (parent === undefined || target === undefined) return { root: session, ...stored };
    let top = parent;
    for (const passed = new Set([from]); !passed.has(top);) {
      passed.add(top);
      top = this.#above(top) ?? top;
    }
    return { parent: target, root: this.#targets.get(top) ?? target, ...stored };
  }

  /** The session that one is a subagent of, where that was restored, too. A fork is no part of what it was forked from. */
  #above(from: SessionId): SessionId | undefined {
    const origin = this.#sessions.get(from);
    if (origin?.relation === "fork" || origin?.relation === "resume") return undefined;
    const parent = origin?.parent_session_id;
    return parent !== undefined && this.#targets.has(parent) ? parent : undefined;
  }
}
