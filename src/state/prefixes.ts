/**
 * What readers know of the committed prefixes of large logs (spec.md#sync-prefix), one file a source. A prefix is asked
 * for by the digest that stands with the source's cursor, so that a stale, torn or foreign file is as good as none.
 * Losing any of them costs time, never rows.
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unlessFailed } from "../base/errors.ts";
import { makeFolders, PRIVATE_FILE } from "../base/files/folders.ts";
import { removeIfOld } from "./abandoned.ts";

/** A log that did not grow for so long rarely does again; until then its prefix is worth its place on the disk. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

export class Prefixes {
  readonly #root: string;
  readonly #folder: string;
  #isSwept = false;

  /** Those of one store, by its name; all are below the root. */
  constructor(root: string, store: string) {
    this.#root = root;
    this.#folder = join(root, store);
  }

  /** The prefix of a source, if it is the one with this digest. */
  read(source: string, digest: string): string | undefined {
    const text = unlessFailed(() => readFileSync(this.#pathOf(source), "utf8"));
    return text !== undefined && digestOf(text) === digest ? text : undefined;
  }

  /** Keeps a prefix instead of the one before and says its digest; undefined where it could not be kept. */
  write(source: string, text: string): string | undefined {
    const path = this.#pathOf(source);
    // Not forced to the disk: what a crash leaves of it has another digest.
    const digest = unlessFailed(() => {
      makeFolders(this.#folder);
      writeFileSync(`${path}.new`, text, { mode: PRIVATE_FILE });
      renameSync(`${path}.new`, path);
      return digestOf(text);
    });
    if (!this.#isSwept) unlessFailed(() => this.#sweep(statSync(path).mtimeMs));
    this.#isSwept = true;
    return digest;
  }

  remove(source: string): void {
    unlessFailed(() => rmSync(this.#pathOf(source), { force: true }));
  }

  /** Removes what was written long before `now`: logs and stores that are gone leave their prefixes behind. */
  #sweep(now: number): void {
    for (const entry of readdirSync(this.#root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) continue;
      if (entry.name.endsWith(".new")) removeIfOld(path, now);
      else if (statSync(path).mtimeMs < now - KEPT_MS) rmSync(path, { force: true });
    }
  }

  #pathOf(source: string): string {
    return join(this.#folder, `${digestOf(source)}.json`);
  }
}

function digestOf(text: string): string {
  // Loaded here, as a sync with nothing to do needs no digest.
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex").slice(0, 32);
}
