/**
 * Sessions that pond restored from those of other clients, when their client is read (spec.md#sources-restored). One that
 * holds nothing but what was restored is no session of its own; one that its client carried on resumes the one it was restored
 * from, and what was restored of it replays that.
 */
import type { Adapter, AdapterYield, Unit } from "../adapters/index.ts";
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
  /** In which forms it was written. */
  readonly forms?: readonly string[];
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
  const messages = [...new Map(own.flatMap((restore) => [...restore.messages]))];
  const forms = own.flatMap(({ form }) => form ?? []);
  return { session, from, messages, forms };
}

interface Restore {
  readonly from: SessionId;
  readonly messages: ReadonlyMap<string, RestoredMessage | null>;
  readonly forms: ReadonlySet<string>;
  readonly isStored: boolean;
}

/** What a source holds of a restored session. */
interface Looked {
  hasNewTurn: boolean;
  hasChanged: boolean;
  isUntouched: boolean;
}

export class RestoredSessions {
  readonly #restores: ReadonlyMap<SessionId, Restore>;
  readonly #mapped: ReadonlyMap<SessionId, ReadonlySet<string>>;

  constructor(known: readonly KnownRestore[]) {
    this.#restores = new Map(
      known.flatMap(({ session, from, messages, forms = [], isStored, digests }) =>
        digests === undefined
          ? [[session, { from, messages: new Map(messages), forms: new Set(forms), isStored }] as const]
          : [],
      ),
    );
    this.#mapped = new Map(
      known.flatMap(({ session, digests }) => (digests ? [[session, new Set(digests)]] : [])),
    );
  }

  /**
   * True where a source is to be looked at before it is read: it is named by a restored session, or is a database that may
   * hold one that is not stored.
   */
  mayBeIn({ key }: Unit, { inventory }: Adapter): boolean {
    if (inventory !== undefined) return this.#restores.values().some(({ isStored }) => !isStored);
    const sessions = [...this.#mapped.keys(), ...this.#restores.keys()];
    return sessions.some((session) => key.includes(session));
  }

  /** True where a batch begins a restored session, and nobody has looked whether it was carried on. */
  isInDoubt(batch: readonly AdapterYield[], { inventory }: Adapter): boolean {
    if (this.#restores.size === 0) return false;
    return batch.some((item) => {
      const restore = item.kind === "session" ? this.#restores.get(item.session.id) : undefined;
      return restore !== undefined && !(restore.isStored && inventory !== undefined);
    });
  }

  /**
   * The sessions of a source that are as they were restored, and those that are not stored and were carried on. What a
   * client notes when it only opens a session is no turn; a message that was changed is. In another form than it was
   * written in (a database that imported it) values cannot be compared.
   */
  async lookAt(batches: AsyncIterable<readonly AdapterYield[]>): Promise<Verdict> {
    const looked = new Map<SessionId, Looked>();
    for await (const batch of batches) for (const item of batch) this.#look(item, looked);
    const untouched = new Set<SessionId>();
    let isNew = false;
    for (const [session, { isUntouched }] of looked)
      if (isUntouched) untouched.add(session);
      else isNew ||= this.#restores.get(session)?.isStored === false;
    return { untouched, isNew };
  }

  #look(item: AdapterYield, looked: Map<SessionId, Looked>): void {
    const session = sessionOf(item);
    const restore = session === undefined ? undefined : this.#restores.get(session);
    if (session === undefined || (restore === undefined && !this.#mapped.has(session))) return;
    const found = looked.get(session) ?? { hasNewTurn: false, hasChanged: false, isUntouched: false };
    looked.set(session, found);
    if (item.kind === "message" && item.message.role !== "system") {
      const said = restore?.messages.get(item.message.id);
      if (said === undefined) found.hasNewTurn = true;
      else if (item.record !== undefined && said?.hash !== undefined)
        found.hasChanged ||= !item.record.hash.startsWith(said.hash);
    }
    if (item.kind !== "state") return;
    const isChanged = found.hasNewTurn || (found.hasChanged && restore?.forms.has(item.state.form) === true);
    found.isUntouched =
      this.#mapped.get(session)?.has(item.state.digest) === true || (restore !== undefined && !isChanged);
  }

  /** What of a batch is to be stored: all but what is as it was restored, with what is known of the others. */
  take(batch: readonly AdapterYield[], untouched: ReadonlySet<SessionId> = NONE): readonly AdapterYield[] {
    if (this.#restores.size + untouched.size === 0) return batch;
    return batch.flatMap((item): readonly AdapterYield[] => {
      const session = sessionOf(item);
      if (session !== undefined && untouched.has(session)) return [];
      const restore = session === undefined ? undefined : this.#restores.get(session);
      return [restore === undefined ? item : linked(item, restore)];
    });
  }

  /** True where pond restored a session of this id here. */
  knows(session: SessionId): boolean {
    return this.#restores.has(session) || this.#mapped.has(session);
  }
}

export interface Verdict {
  readonly untouched: ReadonlySet<SessionId>;
  /** One of the others is not stored yet: it is to be read from its start. */
  readonly isNew: boolean;
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
