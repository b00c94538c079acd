/**
 * Which records of a fork repeat another session (spec.md#adapter-lineage). A fork that copies starts with its own
 * `session_meta`, then the parent's records from the parent's `session_meta` on, written anew in one go; its own life
 * begins with its own settings, its first own turn, or seconds after it was made. A paginated subagent says where its
 * own history starts.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Timestamp } from "../../../model/index.ts";
import { extractString, field, integerField } from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import type { RolloutRecord } from "./record.ts";

/** A copy of even a large history is on disk by then, and no person answers that fast. */
const COPY_MICROS = 5_000_000;

export class Replays {
  readonly #threadId: JsonValue | undefined;
  readonly #parentId: string | undefined;
  readonly #createdAt: Timestamp;
  readonly #firstOwnOrdinal: number | undefined;
  #replayed: string | undefined;
  #started = false;
  #ended = false;

  /** `before` is what `state` said of the records before the first that is asked for. */
  constructor(
    meta: JsonObject | undefined,
    session: { readonly parentId?: string | undefined; readonly createdAt: Timestamp },
    before?: JsonObject,
  ) {
    this.#threadId = meta === undefined ? undefined : field(meta, "id");
    this.#firstOwnOrdinal =
      meta === undefined ? undefined : integerField(meta, "subagent_history_start_ordinal");
    this.#parentId = session.parentId;
    this.#createdAt = session.createdAt;
    if (before === undefined) return;
    this.#replayed = extractString(before, "replayed");
    this.#started = field(before, "started") === true;
    this.#ended = field(before, "ended") === true;
  }

  state(): JsonObject {
    return { started: this.#started, ended: this.#ended, ...optional("replayed", this.#replayed) };
  }

  /** The session that this record repeats, or undefined for a record of the session's own. */
  sourceOf(view: RolloutRecord, timestamp: Timestamp | undefined): string | undefined {
    const isFirst = !this.#started;
    this.#started = true;
    if (isFirst || this.#ended) return undefined;
    if (this.#firstOwnOrdinal !== undefined) {
      const ordinal = integerField(view.record, "ordinal");
      return ordinal !== undefined && ordinal < this.#firstOwnOrdinal ? this.#parentId : undefined;
    }
    if (view.kind === "session_meta") this.#enter(view.item);
    if (this.#replayed !== undefined && this.#isOwn(view, timestamp)) {
      this.#ended = true;
      this.#replayed = undefined;
    }
    return this.#replayed;
  }

  #enter(meta: JsonObject): void {
    const id = field(meta, "id");
    if (this.#replayed === undefined && typeof id === "string" && id !== "" && id !== this.#threadId)
      this.#replayed = this.#parentId ?? id;
  }

  #isOwn(view: RolloutRecord, timestamp: Timestamp | undefined): boolean {
    if (timestamp !== undefined && timestamp > this.#createdAt + COPY_MICROS) return true;
    if (view.kind === "event_msg/thread_settings_applied")
      return field(view.item, "thread_id") === this.#threadId;
    const isTurn = view.kind === "turn_context" || view.kind === "event_msg/task_started";
    const madeAt = isTurn ? millisOfId(field(view.item, "turn_id")) : undefined;
    return madeAt !== undefined && madeAt * 1000 >= this.#createdAt;
  }
}

/** When a UUID of version 7 was made, in milliseconds since 1970. */
function millisOfId(id: JsonValue | undefined): number | undefined {
  const match = typeof id === "string" ? /^([0-9a-f]{8})-([0-9a-f]{4})-7/i.exec(id) : null;
  return match === null ? undefined : Number.parseInt(`${match[1]}${match[2]}`, 16);
}
