/**
 * What a session is, before its first record is told (spec.md#model-project): the first recorded directory, instant
 * and session id, and the point where a fork leaves its parent.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Timestamp } from "../../../model/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import { extractName, extractTimestamp, objectField } from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";

export interface Fork {
  readonly session: string;
  readonly message: string | undefined;
}

export interface Head {
  readonly directory: Extracted<string> | undefined;
  readonly instant: Timestamp | undefined;
  readonly session: string | undefined;
  readonly fork: Fork | undefined;
}

/** Collects a head from the batches of a log. */
export class HeadFinder {
  directory: Extracted<string> | undefined;
  instant: Timestamp | undefined;
  session: string | undefined;
  fork: Fork | undefined;
  /** True once the log held anything at all. */
  hasContent = false;
  /** While true, the records are copies of the parent's. */
  #isCopying: boolean;

  /** `before` is what `state` said of a prefix that holds all copies, of which there may be any number. */
  constructor(before: JsonObject = {}) {
    const fork = objectField(before, "fork");
    const session = fork && extractName(fork, "session");
    if (fork !== undefined && session !== undefined)
      this.fork = { session, message: extractName(fork, "message") };
    this.#isCopying = this.fork === undefined;
  }

  /** What need not be looked for again in a log that grew. */
  state(): JsonObject {
    if (this.fork === undefined) return {};
    const { session, message } = this.fork;
    return { fork: { session, ...optional("message", message) } };
  }

  /** True when nothing more is to be found. */
  see(items: readonly JsonlItem[]): boolean {
    for (const item of items) {
      if (item.kind !== "tail") this.hasContent = true;
      if (item.kind === "record") this.#seeRecord(item.value);
    }
    return this.isDecided && this.session !== undefined;
  }

  /** True when directory and instant are known, and where a fork ends. */
  get isDecided(): boolean {
    if (this.directory === undefined || this.instant === undefined) return false;
    return this.fork === undefined || !this.#isCopying;
  }

  #seeRecord(record: JsonValue): void {
    if (!isJsonObject(record)) return;
    this.directory ??= extractName(record, "cwd");
    this.instant ??= extractTimestamp(record, "timestamp");
    this.session ??= extractName(record, "sessionId");
    if (this.#isCopying) this.#seeFork(record);
  }

  #seeFork(record: JsonObject): void {
    if (extractName(record, "type") === "fork-context-ref") {
      const session = extractName(record, "parentSessionId");
      if (session !== undefined) this.fork = { session, message: extractName(record, "parentLastUuid") };
      this.#isCopying = false;
      return;
    }
    const origin = objectField(record, "forkedFrom");
    const session = origin === undefined ? undefined : extractName(origin, "sessionId");
    if (origin !== undefined && session !== undefined)
      this.fork = { session, message: extractName(origin, "messageUuid") };
    else if (extractName(record, "uuid") !== undefined) this.#isCopying = false;
  }
}
