/** What the thread of a model is asked, and where a model that runs in it is. Plain data: it travels between threads. */
import type { ModelWanted } from "./model-folder.ts";

export interface Opening extends ModelWanted {
  /** The package, or the file that a test has in its place. */
  readonly runtime: string;
  readonly threads: number;
}

export interface Opened {
  readonly name: string;
  readonly window: number;
  readonly dimension: number;
}

/** Vectors one after the other in one array; `places` says of which text each is. */
export interface ThreadVectors {
  readonly numbers: Float32Array;
  readonly places: readonly number[];
  readonly cut: number;
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface is no table of calls
export type ModelCalls = {
  readonly open: (opening: Opening) => Promise<Opened>;
  readonly embed: (texts: readonly string[]) => Promise<ThreadVectors>;
};
