/**
 * Embeds what has no vector yet, the newest messages first, in bounded memory. What is embedded is stored within seconds, so
 * that a signal, a kill or a failure costs little; a call that fails leaves its messages to the next run.
 */
import type { Clock } from "../../base/clock.ts";
import type { PondError } from "../../base/errors.ts";
import { toPondError } from "../../base/errors.ts";
import type { Embedder } from "../../embeddings/index.ts";
import type { EmbeddedMessage, Missing, VectorTable } from "../../sessions/vectors/index.ts";
import type { EmbedProgress, EmbedRun } from "../../wire/sync.ts";
import { askEmbedder } from "./ask-embedder.ts";
import type { Vector } from "./known-vectors.ts";
import { KnownVectors } from "./known-vectors.ts";
import type { TextOf } from "./text-batches.ts";
import { batchesOf, textsOf } from "./text-batches.ts";

export interface Run {
  readonly embedder: Embedder;
  readonly table: VectorTable;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EmbedProgress) => void;
}

export interface EmbedCounts extends Omit<EmbedRun, "model" | "dropped"> {
  /** The first of them; those after it were tried all the same. */
  readonly failure: PondError | undefined;
}

/** Few and full files are faster to search; what is not stored yet is lost with a kill. */
const STORED = { bytes: 16_000_000, withinMs: 5000 };
/** One call may fail for what is in its texts; where so many do in a row, it is not the texts. */
const MOST_FAILURES = 3;

export async function embedMessages(run: Run, missing: Missing): Promise<EmbedCounts> {
  const writer = new VectorWriter(run, missing.count);
  for await (const messages of missing.read()) {
    const texts = writer.addKnown(textsOf(messages));
    for (const batch of batchesOf(texts, run.embedder.batch)) {
      if (run.signal.aborted || writer.hasGivenUp) break;
      await writer.embed(batch);
    }
    await writer.storeIfDue();
    if (run.signal.aborted || writer.hasGivenUp) break;
  }
  await writer.store();
  return writer.counts();
}

class VectorWriter {
  readonly #run: Run;
  readonly #total: number;
  readonly #known: KnownVectors;
  #pending: EmbeddedMessage[] = [];
  #storedAt: number;
  #done = 0;
  #without = 0;
  #texts = 0;
  #cut = 0;
  #failed = 0;
  #failure: PondError | undefined;
  #failuresInRow = 0;

  constructor(run: Run, total: number) {
    this.#run = run;
    this.#total = total;
    this.#known = new KnownVectors(run.embedder.dimension);
    this.#storedAt = run.clock.now();
  }

  get hasGivenUp(): boolean {
    return this.#failuresInRow >= MOST_FAILURES;
  }

  /** The texts that are not known yet. */
  addKnown(texts: readonly TextOf[]): readonly TextOf[] {
    return texts.filter((each) => {
      const isKnown = this.#known.has(each.text);
      if (isKnown) this.#add(each, this.#known.get(each.text));
      return !isKnown;
    });
  }

  async embed(batch: readonly TextOf[]): Promise<void> {
    const { embedder, signal } = this.#run;
    const texts = batch.map(({ text }) => text);
    try {
      const { vectors, cut } = await askEmbedder(embedder, texts, signal);
      for (const [at, each] of batch.entries()) {
        this.#known.add(each.text, vectors[at]);
        this.#add(each, vectors[at]);
      }
      this.#texts += batch.length;
      this.#cut += cut;
      this.#failuresInRow = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#failure ??= toPondError(error);
      this.#failed += batch.reduce((sum, { messages }) => sum + messages.length, 0);
      this.#failuresInRow += 1;
    }
    await this.storeIfDue();
  }

  async storeIfDue(): Promise<void> {
    const { embedder, clock } = this.#run;
    const bytes = this.#pending.length * embedder.dimension * Float32Array.BYTES_PER_ELEMENT;
    if (bytes >= STORED.bytes || clock.now() - this.#storedAt >= STORED.withinMs) await this.store();
  }

  async store(): Promise<void> {
    const { table, clock, onProgress } = this.#run;
    const pending = this.#pending;
    this.#pending = [];
    await table.add(pending);
    this.#storedAt = clock.now();
    this.#done += pending.length;
    this.#without += pending.filter(({ vector }) => vector === undefined).length;
    onProgress({ messages_done: this.#done, messages: this.#total });
  }

  counts(): EmbedCounts {
    return {
      messages: this.#done - this.#without,
      texts: this.#texts,
      cut: this.#cut,
      without: this.#without,
      // Of those that were tried some may be gone meanwhile: these are not left.
      left: this.#run.signal.aborted || this.hasGivenUp ? this.#total - this.#done : this.#failed,
      failure: this.#failure,
    };
  }

  #add({ messages }: TextOf, vector: Vector): void {
    for (const { text: _, ...message } of messages) this.#pending.push({ ...message, vector });
  }
}
