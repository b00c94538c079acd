/**
 * Sessions that pond restored from those of other clients, when their client is read (spec.md#sources-restored). What holds
 * nothing but what was restored is no session of its own; what its client carried on resumes the one it was restored from,
 * its subagents with it; a fork of it resumes that one, too. What was restored replays it, wherever it is copied to.
 */
import type { AdapterYield, OpenedPlace, Unit } from "../../adapters/index.ts";
import type { Message, Part, Relation, Session, SessionId } from "../../model/index.ts";
import { withFacts, withoutFacts } from "../../model/derived/index.ts";
import type { Below, RestoredMessage, RestoredMessages } from "../../sessions/index.ts";
import { asRestoredFrom } from "../../sessions/index.ts";
import type { KnownRestore } from "./known-restores.ts";
import type { LoadLists } from "./restored-copies.ts";
import { RestoredCopies } from "./restored-copies.ts";
import type { CopiedSession, Recorded } from "./source-inspection.ts";
import { sessionOf, SourceInspection } from "./source-inspection.ts";

/** What was found out about a source. */
export interface Verdict {
  /** Sessions that are as they were restored. */
  readonly untouched: ReadonlySet<SessionId>;
  /** Those of them that are not to be stored. */
  readonly skipped: ReadonlySet<SessionId>;
  /** What is known of the others. */
  readonly links: ReadonlyMap<SessionId, Link>;
  /** A restored session is to be stored for the first time: from its start. */
  readonly isNew: boolean;
  /** A restored session was carried on, and not all that belongs to it is stored: it may be in other sources. */
  readonly isIncomplete: boolean;
}

/** How a session hangs together with what was restored. */
export interface Link {
  /** The session that it was restored from; absent where its client says all that there is to say of it. */
  readonly from?: SessionId;
  readonly below?: Below;
  readonly messages: RestoredMessages;
  /** Of its row, where it is stored. */
  readonly label?: string | undefined;
}

type Write = NonNullable<KnownRestore["writes"]>[number];

export class RestoredSessions {
  readonly #known: ReadonlyMap<SessionId, KnownRestore>;
  readonly #mapped: ReadonlyMap<SessionId, ReadonlySet<string>>;
  /** Of sessions of the client itself: who wrote them where. */
  readonly #ownWrites: ReadonlyMap<SessionId, readonly Write[]>;
  readonly #copies: RestoredCopies;
  /** The sessions above all of those of which one is stored. */
  readonly #storedRoots: Set<SessionId>;
  readonly #stored: Set<SessionId>;

  constructor(known: readonly KnownRestore[] = [], load: LoadLists = () => Promise.resolve([])) {
    const foreign = known.filter(({ digests, isNative }) => digests === undefined && isNative !== true);
    const own = known.filter(({ digests, isNative }) => digests !== undefined || isNative === true);
    this.#ownWrites = new Map(own.map(({ session, writes = [] }) => [session, writes]));
    this.#known = new Map(foreign.map((restore) => [restore.session, restore]));
    this.#mapped = new Map(
      known.flatMap(({ session, digests }) => (digests ? [[session, new Set(digests)]] : [])),
    );
    this.#copies = new RestoredCopies(this.#known, load);
    const stored = foreign.filter(({ isStored }) => isStored);
    this.#stored = new Set(stored.map(({ session }) => session));
    this.#storedRoots = new Set(stored.map(({ root }) => root));
  }

  /** False where nothing was restored into the client. */
  get isAny(): boolean {
    return this.#known.size + this.#mapped.size > 0;
  }

  /** True where pond restored a session of this id here. */
  knows(session: SessionId): boolean {
    return this.#known.has(session) || this.#mapped.has(session);
  }

  /**
   * How often a reader wrote the file of a session after it had been there, and was deleted or moved away: what is there now
   * never held what its client made of those, so that it is a source of its own (spec.md#sources-restored-again). Without a
   * path: into a database, which takes in files from wherever they are.
   */
  timesBefore(session: SessionId, written: { readonly reader: string; readonly path?: string }): number {
    const isIt = ({ reader, path }: Write): boolean =>
      reader === written.reader && (written.path === undefined || path === written.path);
    const count = (writes: readonly Write[] = []): number => writes.filter(isIt).length;
    // The first copy of a session of another client was never there before; its own client has written its own.
    return Math.max(0, count(this.#known.get(session)?.writes) - 1) + count(this.#ownWrites.get(session));
  }

  /** True where a source is to be looked at before it is read: it is named by a restored session, or is a database. */
  mayBeIn({ key }: Unit, opened: OpenedPlace): boolean {
    if (!this.isAny) return false;
    if (opened.inventory !== undefined) return true;
    const sessions = [...this.#mapped.keys(), ...this.#known.keys()];
    return sessions.some((session) => key.includes(session));
  }

  /** True where a batch has to do with what was restored, and nobody has looked at its source. */
  async isInDoubt(batch: readonly AdapterYield[]): Promise<boolean> {
    for (const item of batch) {
      if (item.kind === "session" && this.#isOfRestored(item.session)) return true;
      if (item.kind === "message" && (await this.#copies.claimOf(item.message)) !== undefined) return true;
    }
    return false;
  }

  #isOfRestored({ id, parent_session_id: parent }: Session): boolean {
    return this.knows(id) || (parent !== undefined && this.#known.has(parent));
  }

  /** What a source holds of what was restored, and what is to be stored of it. */
  async lookAt(batches: AsyncIterable<readonly AdapterYield[]>): Promise<Verdict> {
    const inspection = new SourceInspection({
      known: this.#known,
      mapped: this.#mapped,
      copies: this.#copies,
    });
    for await (const batch of batches) for (const item of batch) await inspection.see(item);
    const found = inspection.result();
    const { untouched, changed, copies } = found;
    for (const session of changed) this.#carryOn(session);
    // A subagent that its client started there carries a session on.
    for (const { restored, relation } of copies.values())
      if (relation !== undefined && !isFork(relation)) this.#carryOn(restored);
    const skipped = new Set(found.mapped);
    const links = new Map<SessionId, Link>();
    let isNew = false;
    for (const session of [...untouched, ...changed]) {
      const restore = this.#known.get(session);
      if (restore === undefined || skipped.has(session)) continue;
      const isAlone = !this.#storedRoots.has(restore.root);
      if (untouched.has(session) && (restore.isStored || isAlone)) skipped.add(session);
      else {
        isNew ||= !restore.isStored;
        this.#stored.add(session);
        const { messages } = await this.#copies.written(session);
        links.set(session, this.#linkOf(restore, { ...found.recorded.get(session), messages }));
      }
    }
    for (const [session, copy] of copies) {
      const restore = this.#known.get(copy.restored);
      if (restore !== undefined) links.set(session, this.#linkOfCopy(restore, copy));
    }
    return { untouched, skipped, links, isNew, isIncomplete: links.size > 0 && this.#isIncomplete() };
  }

  /** What was restored together is stored together. */
  #carryOn(session: SessionId): void {
    const root = this.#known.get(session)?.root;
    if (root !== undefined) this.#storedRoots.add(root);
  }

  #isIncomplete(): boolean {
    return [...this.#known.values()].some(
      ({ session, root }) => this.#storedRoots.has(root) && !this.#stored.has(session),
    );
  }

  #linkOf({ from, parent, label }: KnownRestore, session: Recorded & Pick<Link, "messages">): Link {
    const { messages } = session;
    const spawned = parent === undefined ? undefined : ({ parent, relation: "spawn" } as const);
    const below = this.#belowOf(session, spawned ?? resumeOf(from, messages));
    return { from, ...(below === undefined ? {} : { below }), messages, label };
  }

  #linkOfCopy({ from }: KnownRestore, copy: CopiedSession): Link {
    const { messages } = copy;
    const below = copy.isBeyond && copy.parent !== undefined ? undefined : resumeOf(from, messages);
    const own = below === undefined ? undefined : this.#belowOf(copy, below);
    return own === undefined ? { messages } : { from, below: own, messages };
  }

  /** Where a session belongs is for its client to say, unless it says nothing or names a restored session that is not stored. */
  #belowOf({ parent, relation }: Recorded, below: Below): Below | undefined {
    if (parent === undefined) return below;
    return isFork(relation) && this.#known.has(parent) && !this.#stored.has(parent) ? below : undefined;
  }

  /** What of a batch is to be stored: all but what is as it was restored, with what is known of the others. */
  take(batch: readonly AdapterYield[], { skipped, links }: Verdict): readonly AdapterYield[] {
    if (skipped.size + links.size === 0) return batch;
    return batch.flatMap((item): readonly AdapterYield[] => {
      const session = sessionOf(item);
      if (session !== undefined && skipped.has(session)) return [];
      const link = session === undefined ? undefined : links.get(session);
      return [link === undefined ? item : linked(item, link)];
    });
  }
}

const isFork = (relation: Relation | undefined): boolean => relation === "fork" || relation === "resume";

function resumeOf(from: SessionId, messages: RestoredMessages): Below {
  const last = [...messages.values()].findLast((restored) => restored?.session_id === from);
  return { parent: from, message: last?.id, relation: "resume" };
}

function linked(item: AdapterYield, { from, below, messages, label }: Link): AdapterYield {
  if (item.kind === "session") {
    if (from === undefined) return item;
    const restored = { session: from, ...(below === undefined ? {} : { below }), label };
    return { ...item, session: asRestoredFrom(item.session, restored) };
  }
  if (item.kind === "part") {
    const restored = messages.get(item.part.message_id);
    return restored === undefined || restored === null
      ? item
      : { ...item, part: asRestored(item.part, restored) };
  }
  if (item.kind !== "message") return item;
  const restored = messages.get(item.message.id);
  return restored === undefined || restored === null
    ? item
    : { ...item, message: replaying(item.message, restored) };
}

/** A text as what it was in the session that it was restored from, whatever its client takes it for. */
function asRestored(part: Part, { isInjected, kinds }: RestoredMessage): Part {
  if (part.type !== "text") return part;
  // As a pond before noted it: of the whole message, without a kind.
  if (kinds === undefined) return isInjected === true ? { ...part, provenance: "injected" } : part;
  const recorded = kinds.find(([ordinal]) => ordinal === part.ordinal);
  if (recorded === undefined) return part;
  const [, kind] = recorded;
  // Whoever its client takes for the author is the author of what it takes it for.
  const options = withoutFacts(part.options, ["injected", "author"]);
  if (kind === null) return { ...part, provenance: "conversational", options };
  return { ...part, provenance: "injected", options: withFacts(options, { injected: kind }) };
}

function replaying<M extends Message>(message: M, { others = [], ...original }: RestoredMessage): M {
  const also = others.map(({ session_id, id }) => ({ session_id, message_id: id }));
  const restored = {
    session_id: original.session_id,
    message_id: original.id,
    ...(also.length === 0 ? {} : { also }),
  };
  return { ...message, options: withFacts(message.options, { restored }) };
}
