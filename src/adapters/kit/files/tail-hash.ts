/** The hash of what stands before an offset of a log, by which growth is told from rewriting (spec.md#sync-change-detection). */
import { createHash } from "node:crypto";

/** A log of up to this size is compared record by record with what an earlier read committed of it. */
export const HELD_BYTES = 4 * 1024 * 1024;

const TAIL_BYTES = 4096;

/** What before an offset is hashed: all of it, but for logs whose records are compared anyway. */
export function hashedFrom(offset: number): number {
  return offset > HELD_BYTES ? 0 : Math.max(0, offset - TAIL_BYTES);
}

/** Over bytes at hand, from `hashedFrom` on: for sources that cannot seek. */
export class TailHash {
  readonly #hash = createHash("sha256");
  /** Behind the last byte that was added. */
  end: number;

  constructor(start: number) {
    this.end = start;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.end += bytes.length;
  }

  text(): string {
    return this.#hash.copy().digest("hex").slice(0, 32);
  }
}
