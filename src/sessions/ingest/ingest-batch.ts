/**
 * Rows on their way into the store. They go straight into the column buffers that the engine takes: what a batch holds
 * is bytes, and no object of an event outlives it. Beside them stand the claims of the messages: what decides under which
 * id each is stored, and what their sources' states are made of.
 */
import type { Message, RecordPiece } from "../../model/index.ts";
import { repeatsOfVersion } from "../../model/derived/index.ts";
import type { Added, BatchBuilder } from "../../substrate/index.ts";
import { joinKey } from "../../substrate/index.ts";
import type { Claim, StoredVersion, StoredVersions } from "../tables/claim.ts";
import { placeOf, versionIdOf } from "../tables/claim.ts";
import type { MessageFacts, PartRow, SessionRow } from "../tables/encode.ts";
import { hashNumber, messageRow } from "../tables/encode.ts";
import type { MESSAGES, PARTS } from "../tables/schema.ts";
import type { StateDraft, StateNote } from "../tables/state-draft.ts";
import type { IngestTables, Labels } from "../tables/tables.ts";

/** Something that a state holds, in the order it was told: a row of this batch, or one that is stored already. */
type Held =
  | { readonly claim: Claim }
  | {
      readonly draft: StateDraft;
      readonly session: string;
      readonly record: RecordPiece;
      readonly positioned: boolean;
    };

/** A state that was told to its end. */
export interface EndedState<S> {
  readonly draft: StateDraft;
  readonly note: StateNote;
  /** What it was read from, as whoever reads names it. */
  readonly source: S;
}

/** `C`: checkpoints, `S`: sources, both values of whoever reads: a batch carries them and knows nothing of them. */
export class IngestBatch<C, S> {
  readonly messages: BatchBuilder<typeof MESSAGES>;
  readonly parts: BatchBuilder<typeof PARTS>;
  /** Those that go with this batch. */
  readonly sessions = new Map<string, SessionRow>();
  /** Of every session that has rows here, as its source says. */
  readonly labels = new Map<string, Labels>();
  readonly checkpoints: C[] = [];
  readonly states: EndedState<S>[] = [];
  /** One a message row, in order; and of each part row the claim of its message. */
  readonly claims: Claim[] = [];
  readonly partClaims: Claim[] = [];
  readonly #partIds: string[] = [];
  readonly held: Held[] = [];
  /** Messages and parts that are equal to others of this batch. */
  readonly repeated = { messages: 0, parts: 0 };
  readonly #byKey = new Map<string, Claim>();
  /** Of each session's row, how many checkpoints and states came before it. */
  readonly #before = new Map<string, { readonly checkpoints: number; readonly states: number }>();
  #sessionBytes = 0;

  constructor(tables: IngestTables) {
    this.messages = tables.messages.batch();
    this.parts = tables.parts.batch();
  }

  get rows(): number {
    return this.messages.rows + this.parts.rows + this.sessions.size;
  }

  get bytes(): number {
    return this.messages.bytes + this.parts.bytes + this.#sessionBytes;
  }

  /** The ids under which something of this batch may be stored, or is. */
  get ids(): string[] {
    const ids = new Set<string>();
    for (const { id, record, first } of this.claims) {
      ids.add(id);
      if (first === undefined) ids.add(record.id);
      const version = versionIdOf(record);
      ids.add(first === undefined ? version : `${version}/${record.piece}`);
    }
    for (const entry of this.held)
      if (!("claim" in entry)) ids.add(entry.record.id).add(versionIdOf(entry.record));
    return [...ids];
  }

  /** True where it must be known what is stored of whole sessions, and not of these messages alone. */
  get needsSessions(): boolean {
    return this.states.some(({ draft }) => draft.needsVersions) || this.held.some(isKept);
  }

  /** The first one of a session counts, as it does in the store. */
  addSession(session: SessionRow): "added" | "repeated" | "relabelled" {
    const { id, source_agent, project } = session;
    const labels = this.labels.get(id) ?? { source_agent, project };
    this.labels.set(id, labels);
    if (!isSameLabels(session, labels)) return "relabelled";
    if (this.sessions.has(id)) return "repeated";
    this.sessions.set(id, session);
    this.#before.set(id, { checkpoints: this.checkpoints.length, states: this.states.length });
    this.#sessionBytes += session.options.length;
    return "added";
  }

  /**
   * Keeps the row of a session that goes on back for the next batch, and with it the sources that were read to their end
   * since the row came: it may be theirs, too, and then they are not durable without it.
   */
  holdBack(id: string, next: IngestBatch<C, S>): boolean {
    const session = this.sessions.get(id);
    if (session === undefined) return false;
    this.sessions.delete(id);
    next.addSession(session);
    const { checkpoints = 0, states = 0 } = this.#before.get(id) ?? {};
    next.checkpoints.push(...this.checkpoints.splice(checkpoints));
    next.states.push(...this.states.splice(states));
    return true;
  }

  /** `full`: nothing was added. Of a message that is equal to one of this batch no row is added, nor are its parts. */
  addMessage(claim: Claim, message: Message, facts: Omit<MessageFacts, keyof Labels>): Added {
    const other = this.#byKey.get(claim.key);
    if (other !== undefined && claim.first === undefined) {
      if (other.record.hash !== claim.record.hash && claim.id !== claim.versionId) {
        claim.id = claim.versionId;
        return this.addMessage(claim, message, facts);
      }
      claim.same = other;
    } else if (other !== undefined) claim.same = other;
    else {
      const { source_agent, project } = this.labels.get(message.session_id) ?? UNLABELLED;
      const row = messageRow(message, { ...facts, source_agent, project });
      const named = claim.id === row.id ? row : { ...row, id: claim.id, repeats: this.#repeatsOf(claim) };
      if (this.messages.add(named) === "full") return "full";
      this.claims.push(claim);
      this.#byKey.set(claim.key, claim);
    }
    if (claim.same !== undefined) this.repeated.messages += 1;
    if (claim.draft !== undefined && claim.record.piece === 0) this.held.push({ claim });
    return claim.same === undefined ? "added" : "duplicate";
  }

  addPart(row: PartRow, claim: Claim): Added {
    if (claim.same !== undefined) {
      this.repeated.parts += 1;
      return "duplicate";
    }
    const added = this.parts.add(claim.id === row.message_id ? row : { ...row, message_id: claim.id });
    if (added === "added") {
      this.partClaims.push(claim);
      this.#partIds.push(row.id);
    } else if (added === "duplicate") this.repeated.parts += 1;
    return added;
  }

  /** A record that is stored as it is, or stays as the state before had it. */
  addStored(entry: Extract<Held, { readonly draft: StateDraft }>): void {
    this.held.push(entry);
  }

  /** Messages are stored under the labels that their session is stored with, whatever its source says now. */
  relabel(stored: ReadonlyMap<string, Labels>): void {
    const isSame = ([id, said]: [string, Labels]): boolean => isSameLabels(said, stored.get(id) ?? said);
    if ([...this.labels].every(isSame)) return;
    const labels = this.claims.map(({ session }) => stored.get(session) ?? UNLABELLED);
    for (const column of ["source_agent", "project"] as const)
      this.messages.refill(
        column,
        labels.map((each) => each[column]),
      );
  }

  /** Leaves the message rows that are to be written, each under the id that was decided for it. */
  keepOpenMessages(): void {
    const kept = Int32Array.from(this.claims.keys()).filter((row) => this.claims[row]?.outcome === "open");
    this.messages.keep(kept);
    const open = Array.from(kept, (row) => this.claims[row]).filter((claim) => claim !== undefined);
    if (!open.some(({ isVersion }) => isVersion)) return;
    this.messages.rekey(open.map(({ session, id }) => [session, id]));
    this.messages.refill(
      "repeats",
      open.map((claim) => this.#repeatsOf(claim)),
    );
  }

  /** Leaves the parts of the messages that pass, under the ids that were decided for these. */
  keepParts(passes: (claim: Claim) => boolean): void {
    const kept = Int32Array.from(this.partClaims.keys()).filter((row) => {
      const claim = this.partClaims[row];
      return claim !== undefined && passes(claim);
    });
    const isRenamed = this.partClaims.some(({ isVersion }) => isVersion);
    this.parts.keep(kept);
    if (!isRenamed) return;
    this.parts.rekey(
      Array.from(kept, (row) => [
        this.partClaims[row]?.session ?? "",
        this.partClaims[row]?.id ?? "",
        this.#partIds[row] ?? "",
      ]),
    );
  }

  /** Says of each state where its records are; everything is decided by now. */
  tell(versions: StoredVersions): void {
    for (const entry of this.held) {
      if ("claim" in entry) {
        const { claim } = entry;
        if (claim.seq === undefined)
          claim.draft?.appendSide(claim.record.id, claim.place === undefined ? undefined : claim.rowId);
        else claim.draft?.append(claim.place);
        continue;
      }
      const { draft, record, positioned, session } = entry;
      if (record.hash === "") {
        draft.keep(record.id, positioned);
        continue;
      }
      const own = versions.get(joinKey([session, record.id]));
      const stored =
        own !== undefined && isOf(own, record) ? own : versions.get(joinKey([session, versionIdOf(record)]));
      if (positioned) draft.append(stored === undefined ? undefined : placeOf(stored));
      else draft.appendSide(record.id, stored?.id);
    }
  }

  #repeatsOf(claim: Claim): string {
    return claim.isVersion ? repeatsOfVersion(claim.repeats, claim.record.id) : claim.repeats;
  }
}

const isKept = (entry: Held): boolean => !("claim" in entry) && entry.record.hash === "";

function isOf({ hash }: StoredVersion, { hash: given }: RecordPiece): boolean {
  return hash === null || hash === hashNumber(given);
}

/** Never stored: a message comes after its session. */
const UNLABELLED: Labels = { source_agent: "", project: "" };

/** A column cannot spell a lone surrogate. */
export function isSameLabels(a: Labels, b: Labels): boolean {
  return a.source_agent === b.source_agent && a.project.toWellFormed() === b.project.toWellFormed();
}
