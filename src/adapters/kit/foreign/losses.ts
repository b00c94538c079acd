/** What a foreign target cannot express (spec.md#adapter-restore), counted by kind, and which parts are among it. */
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";

/**
 * What may be lost, in the same words for every client, and whom it matters to: the model, or only the record of it. A session
 * without a prompt and an unanswered call are there, too: their record is lost in what stands in for what was not said.
 */
const AFFECTS = {
  "failure of a tool": "model",
  "file in a prompt": "model",
  "file in a tool result": "model",
  "file in an answer": "model",
  "history before the fork": "model",
  "instructions from its client": "model",
  "middle of a long tool result": "model",
  "note from its client": "model",
  reasoning: "model",
  "summary of a compaction": "model",
  "text beside a summary": "model",
  "tool call that the provider ran": "model",
  "tool result without its call": "model",
  "answer that was broken off": "record",
  approval: "record",
  "copy of a session": "record",
  "file beside the session": "record",
  "link to a parent session": "record",
  "bookkeeping record": "record",
  "rows beside the session": "record",
  "session that it belongs to": "record",
  "session without a prompt": "record",
  "text kept from the model": "record",
  "system message": "record",
  title: "record",
  "turn of another branch": "record",
  "unanswered tool call": "record",
  "value that is not JSON": "record",
} as const;

export type LossKind = keyof typeof AFFECTS;

/** Something of the canonical session that the target cannot express, or that needs something beside it which nobody said. */
export interface Loss {
  readonly what: LossKind;
  readonly why: string;
  readonly count: number;
  /** `model`: the model knew it and does not know it any more. `record`: nothing that it was sent. */
  readonly affects: "model" | "record";
}

/** Parts of a session that its target does not say, or not as they were. */
export interface LostParts {
  /** Not said at all. */
  readonly parts: ReadonlySet<Part>;
  /** Results that are said, but not whether they are failures. */
  readonly failures: ReadonlySet<Part>;
}

/** Collects losses by kind, and which parts of the session at hand are among them. */
export class LossReport {
  readonly #losses = new Map<string, Omit<Loss, "count"> & { count: number }>();
  #past: ReadonlySet<Part> = new Set();
  #unflagged: ReadonlySet<Part> = new Set();
  #unsent: ReadonlySet<Part> = new Set();
  #pieces: ReadonlySet<Part> = new Set();
  #parts = new Set<Part>();
  #failures = new Set<Part>();

  /** Parts of the session at hand that its model no longer had: what is lost of them is no loss to another one. */
  setPast(messages: readonly MessageWithParts[]): void {
    this.#past = new Set(messages.flatMap(({ parts }) => parts));
  }

  /** Results of the session at hand whose failure its model was not told: that it is not told again is a loss to the record. */
  setUnflagged(parts: readonly Part[]): void {
    this.#unflagged = new Set(parts);
  }

  /** Thoughts of the session at hand: those that its client does not send again, and further pieces of one, which count once. */
  setThoughts({
    unsent,
    pieces,
  }: {
    readonly unsent: readonly Part[];
    readonly pieces: readonly Part[];
  }): void {
    this.#unsent = new Set(unsent);
    this.#pieces = new Set(pieces);
  }

  /** `part`: what is not said. It is not looked for when the restore is read back. */
  add(what: LossKind, why: string, part?: Part): void {
    if (part !== undefined) this.#parts.add(part);
    if (part !== undefined && this.#pieces.has(part)) return;
    const isSent = part === undefined || !this.#unsent.has(part);
    this.#count(what, isSent ? why : "its own client does not send it again", part);
  }

  /** A result that is said, but not that it is a failure. */
  addFailure(why: string, part: Part): void {
    this.#failures.add(part);
    const wasKnown = !this.#unflagged.has(part);
    this.#count("failure of a tool", wasKnown ? why : `${why}; its own model did not know either`, part);
  }

  /** A part that is said, and cut by the client when it sends it. */
  addCut(what: LossKind, why: string, part: Part): void {
    this.#count(what, why, part);
  }

  /** The parts that were lost since this was last asked: of one session, because a fork repeats its parent's. */
  takeParts(): LostParts {
    const lost = { parts: this.#parts, failures: this.#failures };
    this.#parts = new Set();
    this.#failures = new Set();
    this.#past = new Set();
    this.#unflagged = new Set();
    this.#unsent = new Set();
    this.#pieces = new Set();
    return lost;
  }

  #count(what: LossKind, why: string, part: Part | undefined): void {
    const wasUnknown = what === "failure of a tool" && part !== undefined && this.#unflagged.has(part);
    const isPast = part !== undefined && (this.#past.has(part) || this.#unsent.has(part));
    const affects = wasUnknown || isPast ? "record" : AFFECTS[what];
    const key = `${affects}\0${what}\0${why}`;
    const loss = this.#losses.get(key);
    if (loss === undefined) this.#losses.set(key, { what, why, affects, count: 1 });
    else loss.count += 1;
  }

  /** What the model loses first. */
  list(): readonly Loss[] {
    return [...this.#losses.values()].toSorted(
      (a, b) => Number(a.affects === "record") - Number(b.affects === "record"),
    );
  }
}
