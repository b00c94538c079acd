/**
 * What a source holds of what pond restored (spec.md#sources-restored): restored sessions, as they were written or carried on,
 * and sessions that copy their messages. What a client notes when it only opens a session is no turn; a message that was
 * changed is. In another form than it was written in (a database that imported it) values cannot be compared.
 */
import type { AdapterYield } from "../../adapters/index.ts";
import type { Relation, SessionId } from "../../model/index.ts";
import type { RestoredMessage } from "../../sessions/index.ts";
import type { KnownRestore } from "./known-restores.ts";
import type { RestoredCopies, Written } from "./restored-copies.ts";

/** What was restored into the client. */
export interface Restores {
  /** Sessions of others. */
  readonly known: ReadonlyMap<SessionId, KnownRestore>;
  /** Its own with mapped paths, with the digests of what was written. */
  readonly mapped: ReadonlyMap<SessionId, ReadonlySet<string>>;
  readonly copies: RestoredCopies;
}

/** What a client recorded of where a session belongs. */
export interface Recorded {
  readonly parent?: SessionId | undefined;
  readonly relation?: Relation | undefined;
}

/** A session that copies messages of a restored one, or that its client calls a descendant of it. */
export interface CopiedSession extends Recorded {
  readonly restored: SessionId;
  /** Its messages, as far as they were restored. */
  readonly messages: Map<string, RestoredMessage | null>;
  /** It copies more of the restored session than was restored: its client carried that on. */
  isBeyond: boolean;
}

interface Inspected {
  hasNewTurn: boolean;
  hasChanged: boolean;
  form: string | undefined;
  /** It is the native restore with mapped paths, as it was written. */
  isAsMapped: boolean;
}

interface Place {
  record: string | undefined;
  /** Of the record among all of its session, and of the message in it. */
  index: number;
  piece: number;
}

export interface InspectionResult {
  /** Restored sessions that are as they were written. */
  readonly untouched: ReadonlySet<SessionId>;
  /** Those of them that are native restores with mapped paths. */
  readonly mapped: ReadonlySet<SessionId>;
  /** Restored sessions that were carried on. */
  readonly changed: ReadonlySet<SessionId>;
  readonly copies: ReadonlyMap<SessionId, CopiedSession>;
  readonly recorded: ReadonlyMap<SessionId, Recorded>;
}

export class SourceInspection {
  readonly #restores: Restores;
  readonly #looked = new Map<SessionId, Inspected>();
  readonly #recorded = new Map<SessionId, Recorded>();
  readonly #copies = new Map<SessionId, CopiedSession>();
  readonly #places = new Map<SessionId, Place>();
  readonly #written = new Map<SessionId, Written>();

  constructor(restores: Restores) {
    this.#restores = restores;
  }

  async see(item: AdapterYield): Promise<void> {
    const session = sessionOf(item);
    if (session === undefined) return;
    if (item.kind === "session") {
      const { parent_session_id: parent, relation } = item.session;
      this.#recorded.set(session, { parent, relation });
    }
    const { known, mapped } = this.#restores;
    if (known.has(session) || mapped.has(session)) await this.#seeRestored(item, session);
    else await this.#seeOther(item, session);
  }

  result(): InspectionResult {
    const untouched = new Set<SessionId>();
    const mapped = new Set<SessionId>();
    const changed = new Set<SessionId>();
    for (const [session, { hasNewTurn, hasChanged, form, isAsMapped }] of this.#looked) {
      const isComparable = form !== undefined && this.#written.get(session)?.forms.has(form) === true;
      const isChanged = hasNewTurn || (hasChanged && isComparable);
      if (isAsMapped) mapped.add(session);
      if (isAsMapped || (this.#restores.known.has(session) && !isChanged)) untouched.add(session);
      else changed.add(session);
    }
    return { untouched, mapped, changed, copies: this.#copies, recorded: this.#recorded };
  }

  async #seeRestored(item: AdapterYield, session: SessionId): Promise<void> {
    const { known, mapped } = this.#restores;
    const found: Inspected = this.#looked.get(session) ?? {
      hasNewTurn: false,
      hasChanged: false,
      form: undefined,
      isAsMapped: false,
    };
    this.#looked.set(session, found);
    if (item.kind === "state") {
      found.form = item.state.form;
      found.isAsMapped = mapped.get(session)?.has(item.state.digest) === true;
    }
    if (!known.has(session) || (item.kind !== "message" && item.kind !== "record")) return;
    const { messages } = await this.#writtenInto(session);
    // What is stored as it is, and was not restored, was written by its client before.
    if (item.kind === "record") found.hasNewTurn ||= !messages.has(item.record.id);
    if (item.kind !== "message" || item.message.role === "system") return;
    const restored = messages.get(item.message.id);
    if (restored === undefined) found.hasNewTurn = true;
    else if (item.record !== undefined && restored?.hash !== undefined)
      found.hasChanged ||= !item.record.hash.startsWith(restored.hash);
  }

  async #seeOther(item: AdapterYield, session: SessionId): Promise<void> {
    if (item.kind === "session") {
      const { parent } = this.#recorded.get(session) ?? {};
      if (parent !== undefined && this.#restores.known.has(parent)) this.#copyIn(session, parent);
    }
    if (item.kind === "record") this.#placeOf(session, item.record.id);
    if (item.kind !== "message") return;
    const { message, record } = item;
    const { index, piece } = this.#placeOf(session, record?.id ?? message.id);
    const claim = await this.#restores.copies.claimOf(message);
    if (claim === undefined) return;
    const copy = this.#copyIn(session, claim.session);
    const written = await this.#writtenInto(claim.session);
    const restored = claim.id === undefined ? written.places[index]?.[piece] : written.messages.get(claim.id);
    if (restored !== undefined) copy.messages.set(message.id, restored);
    else if (claim.id !== undefined && message.role !== "system") copy.isBeyond = true;
  }

  #copyIn(session: SessionId, restored: SessionId): CopiedSession {
    const known = this.#copies.get(session);
    if (known !== undefined) return known;
    const copy = { ...this.#recorded.get(session), restored, messages: new Map(), isBeyond: false };
    this.#copies.set(session, copy);
    return copy;
  }

  #placeOf(session: SessionId, record: string): Place {
    const place = this.#places.get(session) ?? { record: undefined, index: -1, piece: 0 };
    this.#places.set(session, place);
    if (place.record === record) place.piece += 1;
    else {
      place.record = record;
      place.index += 1;
      place.piece = 0;
    }
    return place;
  }

  async #writtenInto(session: SessionId): Promise<Written> {
    const written = this.#written.get(session) ?? (await this.#restores.copies.written(session));
    this.#written.set(session, written);
    return written;
  }
}

/** The session that something told is of. */
export function sessionOf(item: AdapterYield): SessionId | undefined {
  if (item.kind === "session") return item.session.id;
  if (item.kind === "message") return item.message.session_id;
  if (item.kind === "part") return item.part.session_id;
  return item.kind === "record" || item.kind === "state" ? item.session : undefined;
}
