/**
 * Which messages of a client are copies of what pond restored into it (spec.md#sources-restored-forks). A fork says whose messages
 * it copies, by the id of the restored session or, where the client copies what pond noted there, of the one before it; or it
 * has the very ids of the messages, which only counts where ids are never given twice.
 */
import type { AdapterYield } from "../../adapters/index.ts";
import { UUID_PATTERN } from "../../base/text.ts";
import type { Message, SessionId } from "../../model/index.ts";
import { pondFacts } from "../../model/derived/index.ts";
import { sessionId } from "../../model/index.ts";
import type { RestoredMessage, RestoredMessages } from "../../sessions/index.ts";
import type { KnownRestore, RestoredList } from "./known-restores.ts";

/** What is known of a restored session's messages. */
export interface Written {
  readonly messages: RestoredMessages;
  /** The same by the places of their records: a record may be told as several messages. */
  readonly places: readonly (readonly (RestoredMessage | null)[])[];
  readonly forms: ReadonlySet<string>;
}

/** A message that says that it copies one of a restored session. */
export interface Claim {
  readonly session: SessionId;
  /** The id that it has there; absent where only its place among the others tells which one it is. */
  readonly id?: string;
}

/** Whoever reads the lists of messages. */
export type LoadLists = (sessions: readonly SessionId[]) => Promise<readonly RestoredList[]>;

/** A copy is older than the restore that wrote its original: this much, as clocks of machines differ. */
const CLOCKS_MICROS = 86_400_000_000;

const UUID = new RegExp(`^${UUID_PATTERN}`, "i");

export class RestoredCopies {
  readonly #known: ReadonlyMap<SessionId, KnownRestore>;
  readonly #byOrigin: ReadonlyMap<SessionId, SessionId>;
  readonly #newest: number;
  readonly #load: LoadLists;
  readonly #written = new Map<SessionId, Written>();
  /** Of all messages, which session they were restored into; read when a message may be one of them. */
  #holders: Map<string, SessionId> | undefined;

  constructor(known: ReadonlyMap<SessionId, KnownRestore>, load: LoadLists) {
    this.#known = known;
    this.#load = load;
    this.#byOrigin = new Map([...known.values()].map(({ from, session }) => [from, session]));
    this.#newest = Math.max(0, ...[...known.values()].map(({ restoredAt }) => restoredAt));
  }

  /** What was written into a restored session. */
  async written(session: SessionId): Promise<Written> {
    const known = this.#written.get(session);
    if (known !== undefined) return known;
    this.#keep(await this.#load([session]));
    const written = this.#written.get(session) ?? NOTHING;
    this.#written.set(session, written);
    return written;
  }

  #keep(lists: readonly RestoredList[]): void {
    for (const { session, messages, forms } of lists)
      this.#written.set(session, {
        messages: new Map(messages),
        places: placesOf(messages),
        forms: new Set(forms),
      });
  }

  /** Whose copy a message of another session is; undefined for one that is none. */
  async claimOf(message: Message): Promise<Claim | undefined> {
    const { replays } = pondFacts(message.options);
    if (typeof replays === "object") return this.#named(replays.session_id, replays.message_id);
    const isUnique = replays === true || UUID.test(message.id);
    if (!isUnique || message.role === "system" || message.timestamp > this.#newest + CLOCKS_MICROS)
      return undefined;
    const session = (await this.#allHolders()).get(message.id);
    return session === undefined ? undefined : { session, id: message.id };
  }

  #named(name: string, id: string | undefined): Claim | undefined {
    const session = sessionId(name);
    if (id !== undefined) return this.#known.has(session) ? { session, id } : undefined;
    const restored = this.#byOrigin.get(session);
    return restored === undefined ? undefined : { session: restored };
  }

  async #allHolders(): Promise<ReadonlyMap<string, SessionId>> {
    if (this.#holders !== undefined) return this.#holders;
    this.#keep(await this.#load([...this.#known.keys()].filter((session) => !this.#written.has(session))));
    this.#holders = new Map();
    for (const [session, { messages }] of this.#written)
      for (const id of messages.keys()) this.#holders.set(id, session);
    return this.#holders;
  }
}

const NOTHING: Written = { messages: new Map(), places: [], forms: new Set() };

function placesOf(messages: RestoredList["messages"]): Written["places"] {
  const records: { readonly id: string; readonly pieces: (RestoredMessage | null)[] }[] = [];
  for (const [id, said] of messages) {
    const last = records.at(-1);
    if (last !== undefined && id.startsWith(`${last.id}/`)) last.pieces.push(said);
    else records.push({ id, pieces: [said] });
  }
  return records.map(({ pieces }) => pieces);
}

/** The same batches, each session with its first turn in the one that begins it: a copy begins with what it copies. */
export async function* withFirstTurns(
  batches: AsyncIterable<readonly AdapterYield[]>,
): AsyncGenerator<readonly AdapterYield[]> {
  let held: readonly AdapterYield[] = [];
  for await (const batch of batches) {
    held = held.length === 0 ? batch : [...held, ...batch];
    const last = held.findLastIndex(({ kind }) => kind === "session");
    if (last !== -1 && !held.slice(last).some(isTurnOrEnd)) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

function isTurnOrEnd(item: AdapterYield): boolean {
  if (item.kind === "message") return item.message.role !== "system";
  return item.kind === "state" || item.kind === "checkpoint";
}
