/**
 * Sessions that pond restored from those of other clients, when their client is read (spec.md#sources-restored). One that
 * holds nothing but what was restored is no session of its own; one that its client carried on resumes the one it was restored
 * from, and what was restored of it replays that.
 */
import type { Adapter, AdapterYield, ToldState, Unit } from "../adapters/index.ts";
import type { Message, MessageKey, SessionId } from "../model/index.ts";
import { pondOf } from "../model/index.ts";
import type { RestoredMessage, RestoreRecord, SessionStore } from "../sessions/index.ts";
import { asResumeOf } from "../sessions/index.ts";

/** A restored session, as threads send it to each other. */
export interface KnownRestore {
  readonly session: SessionId;
  readonly from: SessionId;
  readonly messages: readonly (readonly [id: string, said: RestoredMessage | null])[];
  /** It was carried on, and is a session of the store. */
  readonly isStored: boolean;
  /** It is the same session with mapped paths, as often as it was restored so: the digests of what was written. */
  readonly digests?: readonly string[];
}

/** What was restored into a client. */
export async function knownRestores(store: SessionStore, adapter: string): Promise<readonly KnownRestore[]> {
  const records = await store.restoresInto(adapter);
  if (records.length === 0) return [];
  const stored = await store.sessions(new Set(records.map(({ session }) => session)));
  const mapped = Map.groupBy(
    records.filter(({ digest }) => digest !== undefined),
    ({ session }) => session,
  );
  const foreign = Map.groupBy(
    records.filter(({ digest }) => digest === undefined),
    ({ session }) => session,
  );
  const mappedOnes = [...mapped].map(([session, restores]): KnownRestore => {
    const digests = restores.flatMap(({ digest }) => digest ?? []);
    return { session, from: session, messages: [], isStored: true, digests };
  });
  const others = [...foreign].flatMap(([session, own]): readonly KnownRestore[] => {
    const newest = own.toSorted((a, b) => b.restored_at - a.restored_at)[0];
    return newest === undefined ? [] : [{ ...restoreOf(own, newest), isStored: stored.has(session) }];
  });
  return [...mappedOnes, ...others];
}

/** The same session may have been restored more than once, from other states of the other one. */
function restoreOf(
  own: readonly RestoreRecord[],
  { session, from }: RestoreRecord,
): Omit<KnownRestore, "isStored"> {
  return { session, from, messages: [...new Map(own.flatMap(({ messages }) => [...messages]))] };
}

interface Restore {
  readonly from: SessionId;
  readonly messages: ReadonlyMap<string, RestoredMessage | null>;
  isCarriedOn: boolean;
}

export class RestoredSessions {
  readonly #restores: ReadonlyMap<SessionId, Restore>;
  readonly #mapped: ReadonlyMap<SessionId, ReadonlySet<string>>;

  constructor(known: readonly KnownRestore[]) {
    this.#restores = new Map(
      known.flatMap(({ session, from, messages, isStored, digests }) =>
        digests === undefined
          ? [[session, { from, messages: new Map(messages), isCarriedOn: isStored }] as const]
          : [],
      ),
    );
    this.#mapped = new Map(
      known.flatMap(({ session, digests }) => (digests ? [[session, new Set(digests)]] : [])),
    );
  }

  /** True where a source may be a session of this client that was restored with mapped paths, by its name. */
  mayBeMapped({ key }: Unit): boolean {
    return this.#mapped.keys().some((session) => key.includes(session));
  }

  /** True for what a restore with mapped paths wrote, untouched. */
  isMapped(session: SessionId, { digest }: Pick<ToldState, "digest">): boolean {
    return this.#mapped.get(session)?.has(digest) === true;
  }

  /** The sessions of a source that are such restores. */
  async mappedIn(batches: AsyncIterable<readonly AdapterYield[]>): Promise<ReadonlySet<SessionId>> {
    const found = new Set<SessionId>();
    for await (const batch of batches)
      for (const item of batch)
        if (item.kind === "state" && this.isMapped(item.session, item.state)) found.add(item.session);
    return found;
  }

  /** True where a source is worth a look before it is read: it is named by such a session, or holds many. */
  mayBeIn({ key }: Unit, { inventory }: Adapter): boolean {
    const inDoubt = this.#restores.entries().filter(([, { isCarriedOn }]) => !isCarriedOn);
    return inDoubt.some(([session]) => inventory !== undefined || key.includes(session));
  }

  /** True where what follows can only be read once it is known whether its client carried a session on. */
  isInDoubt(batch: readonly AdapterYield[]): boolean {
    if (this.#restores.size === 0) return false;
    return batch.some((item) => item.kind === "session" && this.isInDoubtOf(item.session.id));
  }

  /** As far as was looked, the session holds nothing but what was restored. */
  isInDoubtOf(session: SessionId): boolean {
    return this.#restores.get(session)?.isCarriedOn === false;
  }

  /** Looks for turns that were not restored. What a client notes when it only opens a session is none. */
  async examine(batches: AsyncIterable<readonly AdapterYield[]>): Promise<void> {
    for await (const batch of batches)
      for (const item of batch) {
        if (item.kind !== "message" || item.message.role === "system") continue;
        const restore = this.#restores.get(item.message.session_id);
        if (restore !== undefined && !restore.messages.has(item.message.id)) restore.isCarriedOn = true;
      }
  }

  /** What of a batch is to be stored: all but sessions that nobody carried on, with what is known of the others. */
  take(batch: readonly AdapterYield[], mapped: ReadonlySet<SessionId> = NONE): readonly AdapterYield[] {
    if (this.#restores.size + mapped.size === 0) return batch;
    return batch.flatMap((item): readonly AdapterYield[] => {
      const session = sessionOf(item);
      if (session !== undefined && mapped.has(session)) return [];
      const restore = session === undefined ? undefined : this.#restores.get(session);
      if (restore === undefined) return [item];
      return restore.isCarriedOn ? [linked(item, restore)] : [];
    });
  }
}

const NONE: ReadonlySet<SessionId> = new Set();

function sessionOf(item: AdapterYield): SessionId | undefined {
  if (item.kind === "session") return item.session.id;
  if (item.kind === "message") return item.message.session_id;
  if (item.kind === "part") return item.part.session_id;
  return item.kind === "record" || item.kind === "state" ? item.session : undefined;
}

function linked(item: AdapterYield, { from, messages }: Restore): AdapterYield {
  if (item.kind === "session") {
    const last = [...messages.values()].findLast((said) => said?.session_id === from);
    return { ...item, session: asResumeOf(item.session, { session: from, message: last?.id }) };
  }
  if (item.kind === "part") {
    const isInjected = messages.get(item.part.message_id)?.isInjected === true && item.part.type === "text";
    return isInjected ? { ...item, part: { ...item.part, provenance: "injected" } } : item;
  }
  if (item.kind !== "message") return item;
  const said = messages.get(item.message.id);
  return said === undefined || said === null ? item : { ...item, message: replaying(item.message, said) };
}

function replaying<M extends Message>(message: M, { session_id, id }: MessageKey): M {
  const pond = { ...pondOf(message.options), restored: { session_id, message_id: id } };
  return { ...message, options: { ...message.options, pond } };
}
