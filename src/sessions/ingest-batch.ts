/**
 * Rows on their way into the store. They go straight into the column buffers that the engine takes: what a batch holds
 * is bytes, and no object of an event outlives it.
 */
import type { Message } from "../model/index.ts";
import type { Added, BatchBuilder } from "../substrate/index.ts";
import type { MessageFacts, SessionRow } from "./encode.ts";
import { messageRow } from "./encode.ts";
import type { MESSAGES, PARTS } from "./schema.ts";
import type { IngestTables, Labels } from "./tables.ts";

export class IngestBatch {
  readonly messages: BatchBuilder<typeof MESSAGES>;
  readonly parts: BatchBuilder<typeof PARTS>;
  /** Those that go with this batch. */
  readonly sessions = new Map<string, SessionRow>();
  /** Of every session that has rows here, as its source says. */
  readonly labels = new Map<string, Labels>();
  readonly checkpoints: (() => void)[] = [];
  /** Of each message row. */
  readonly messageIds: string[] = [];
  readonly #owners: string[] = [];
  /** Of each session's row, how many checkpoints came before it. */
  readonly #checkpointsBefore = new Map<string, number>();
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

  /** The first one of a session counts, as it does in the store. */
  addSession(session: SessionRow): "added" | "repeated" | "relabelled" {
    const { id, source_agent, project } = session;
    const labels = this.labels.get(id) ?? { source_agent, project };
    this.labels.set(id, labels);
    if (!isSameLabels(session, labels)) return "relabelled";
    if (this.sessions.has(id)) return "repeated";
    this.sessions.set(id, session);
    this.#checkpointsBefore.set(id, this.checkpoints.length);
    this.#sessionBytes += session.options.length;
    return "added";
  }

  /**
   * Keeps the row of a session that goes on back for the next batch, and with it the sources that were read to their end
   * since the row came: it may be theirs, too, and then they are not durable without it.
   */
  holdBack(id: string, next: IngestBatch): boolean {
    const session = this.sessions.get(id);
    if (session === undefined) return false;
    this.sessions.delete(id);
    next.addSession(session);
    next.checkpoints.push(...this.checkpoints.splice(this.#checkpointsBefore.get(id) ?? 0));
    return true;
  }

  addMessage(message: Message, facts: Omit<MessageFacts, keyof Labels>): Added {
    const { source_agent, project } = this.labels.get(message.session_id) ?? UNLABELLED;
    const added = this.messages.add(messageRow(message, { ...facts, source_agent, project }));
    if (added === "added") {
      this.messageIds.push(message.id);
      this.#owners.push(message.session_id);
    }
    return added;
  }

  /** Messages are stored under the labels that their session is stored with, whatever its source says now. */
  relabel(stored: ReadonlyMap<string, Labels>): void {
    const isSame = ([id, said]: [string, Labels]): boolean => isSameLabels(said, stored.get(id) ?? said);
    if ([...this.labels].every(isSame)) return;
    const labels = this.#owners.map((id) => stored.get(id) ?? UNLABELLED);
    for (const column of ["source_agent", "project"] as const)
      this.messages.refill(
        column,
        labels.map((each) => each[column]),
      );
  }
}

/** Never stored: a message comes after its session. */
const UNLABELLED: Labels = { source_agent: "", project: "" };

/** A column cannot spell a lone surrogate. */
export function isSameLabels(a: Labels, b: Labels): boolean {
  return a.source_agent === b.source_agent && a.project.toWellFormed() === b.project.toWellFormed();
}
