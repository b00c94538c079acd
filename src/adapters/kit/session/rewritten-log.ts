/**
 * A session whose records are rewritten in place, and told again with each read (spec.md#model-revisions). While it is at
 * work a record that changed will change again, so it is held back until the session rests; what cannot be read now is
 * not gone. Of both, what was told before stays.
 */
import type { Timestamp } from "../../../model/index.ts";
import { timestampFromMillis } from "../../../model/index.ts";
import type { SourceFault } from "../sources/issue.ts";
import { issueOf } from "../sources/issue.ts";
import type { AdapterYield } from "../sources/reading.ts";
import type { LogRecord, SessionLog } from "./session-log.ts";
import type { Carrier, SideRecord } from "./side-record.ts";
import { carrierEntry } from "./side-record.ts";

/** How much is read before it is handed on. */
const BATCH_BYTES = 1024 * 1024;

export interface Rewriting {
  readonly adapter: string;
  /** Where a record tells no instant. */
  readonly created: Timestamp;
  readonly atWork: boolean;
  /** True when nothing of the session changed for long: what is not whole now will not be. */
  readonly isResting: boolean;
  /** What was found wrong since the last call. */
  readonly faults: () => readonly SourceFault[];
}

export class RewrittenLog {
  readonly log: SessionLog;
  readonly #rewriting: Rewriting;
  #bytes = 0;
  /** Something is left for the next read. */
  isHeld = false;
  /** Something of the session is there and could not be read. */
  hasFaults = false;

  constructor(log: SessionLog, rewriting: Rewriting) {
    this.log = log;
    this.#rewriting = rewriting;
  }

  /** True when enough was added to be handed on. */
  get isFull(): boolean {
    return this.#bytes >= BATCH_BYTES;
  }

  add(entry: LogRecord): void {
    this.#bytes += entry.bytes;
    const isHeld = this.#rewriting.atWork && this.log.isChanged(entry.id.text, entry.hash);
    if (!isHeld) return this.log.add(entry);
    this.isHeld = true;
    this.log.keep(entry.id.text, entry.positioned !== false);
  }

  /** A record that is not told now; `isTold` when it was before. */
  hold(
    record: string,
    { isUnreadable, isStored }: { readonly isUnreadable: boolean; readonly isStored: boolean },
  ): void {
    if (isUnreadable) this.hasFaults = true;
    else this.isHeld = true;
    if (isStored) this.log.keep(record, true);
  }

  addCarrier(carrier: Omit<Carrier, "timestamp"> & { readonly timestamp: Timestamp | undefined }): void {
    const timestamp = carrier.timestamp ?? this.#rewriting.created;
    this.add(carrierEntry(this.log, { ...carrier, timestamp }));
  }

  addSide({ source, isUnreadable, isStray, ...record }: SideRecord): void {
    const isComing = isStray === true && !this.#rewriting.isResting;
    if (isUnreadable !== true && !isComing)
      return this.addCarrier({ ...record, timestamp: timestampFromMillis(record.at), options: { source } });
    if (isUnreadable === true) this.hasFaults = true;
    else this.isHeld = true;
    this.log.keep(record.name, false);
  }

  drain(): readonly AdapterYield[] {
    this.#bytes = 0;
    const { adapter, faults } = this.#rewriting;
    return [...this.log.drain(), ...faults().map((fault) => issueOf(fault, adapter))];
  }
}
