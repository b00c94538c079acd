/**
 * The stage `embed` of a sync (spec.md#sync-stages): a vector for every message with text, from what is stored alone
 * (spec.md#session-embed-from-canonical). What it cannot do is in its report, and left to the next sync: it ends no import.
 */
import { hash } from "node:crypto";
import type { PondError } from "../../base/errors.ts";
import { isPondError, toPondError } from "../../base/errors.ts";
import type { Embedder } from "../../embeddings/index.ts";
import type { Vectors } from "../../sessions/vectors/index.ts";
import { isEmbedded, rememberEmbedded } from "../../state/besides.ts";
import { acquireLock, readerId } from "../../state/index.ts";
import type { EmbedProgress, EmbedReport, EmbedRun } from "../../wire/sync.ts";
import type { Context, Embeddings } from "../context/context.ts";

export interface EmbedStage {
  /** What the store is remembered as, and how many syncs have stored something in it; absent where that is not known. */
  readonly store: { readonly name: string; readonly changes: number } | undefined;
  readonly force: boolean;
  readonly wait: boolean;
  readonly onProgress: (progress: EmbedProgress) => void;
}

export interface EmbedAnswer {
  readonly report: EmbedReport;
  /** Why it failed, for people. */
  readonly failure?: PondError;
}

export async function embed(
  context: Context,
  embeddings: Embeddings,
  stage: EmbedStage,
): Promise<EmbedAnswer> {
  const { state } = context.config.paths;
  const { store } = stage;
  const done = store && { settings: embeddings.settings, changes: store.changes };
  const isDone = store !== undefined && done !== undefined && isEmbedded(state, store.name, done);
  // Nothing was ever stored: nothing is made for what is not there.
  if ((isDone && !stage.force) || (await context.existingStore()) === undefined)
    return { report: { outcome: "nothing to do" } };
  using lock = await lockOf(context, stage);
  if (lock === undefined) return { report: { outcome: "busy" } };
  let embedder: Embedder;
  try {
    embedder = await embeddings.open();
  } catch (error) {
    return failed(toPondError(error));
  }
  const { run, failure } = await embedAll(context, embedder, stage);
  if (context.signal.aborted) return { report: { outcome: "interrupted", run } };
  if (failure !== undefined) return failed(failure, run);
  if (store !== undefined && done !== undefined) rememberEmbedded(state, store.name, done);
  return { report: { outcome: run.messages + run.without > 0 ? "embedded" : "nothing to do", run } };
}

function failed(failure: PondError, run?: EmbedRun): EmbedAnswer {
  const { code, message, hint } = failure;
  const error = { code, message, ...(hint === undefined ? {} : { hint }) };
  return { report: { outcome: "failed", error, ...(run === undefined ? {} : { run }) }, failure };
}

/** The same texts would be embedded twice, and stored once. Undefined where another sync is at it. */
async function lockOf({ config, address, clock, signal }: Context, { wait }: EmbedStage) {
  const name = hash("sha256", `embed ${address.url} ${address.namespace}`);
  try {
    return await acquireLock(config.paths.state, name, { clock, wait, signal });
  } catch (error) {
    if (isPondError(error) && error.reason === "busy") return undefined;
    throw error;
  }
}

interface Embedded {
  readonly run: EmbedRun;
  readonly failure: PondError | undefined;
}

async function embedAll(context: Context, embedder: Embedder, stage: EmbedStage): Promise<Embedded> {
  const vectors = await (await context.store()).vectors();
  if (stage.force) await vectors.drop(embedder);
  try {
    return await embedInto(context, vectors, { ...stage, embedder });
  } catch (error) {
    // What is damaged here can be made again; where it is something else, this is no help.
    if (!isPondError(error) || error.reason !== "corrupt" || (await vectors.isReadable(embedder)))
      throw error;
    await vectors.drop(embedder);
    return embedInto(context, vectors, { ...stage, embedder });
  }
}

async function embedInto(
  context: Context,
  vectors: Vectors,
  { embedder, onProgress }: EmbedStage & { readonly embedder: Embedder },
): Promise<Embedded> {
  const { clock, signal } = context;
  const reader = readerId(context.config.paths.state);
  const table = await vectors.writable(embedder);
  const mark = await table.mark();
  // Whose it is must be known before it is complete: another machine lets go of what nobody fills.
  if (mark === undefined) await table.leaveMark({ version: 0, reader });
  const version = await vectors.version();
  const missing = await table.missing(mark);
  const { embedMessages } = await import("./embed-messages.ts");
  const { failure, ...counts } = await embedMessages({ embedder, table, clock, signal, onProgress }, missing);
  const isComplete = counts.left === 0 && !signal.aborted;
  if (isComplete && mark?.version !== version) await table.leaveMark({ version, reader });
  const dropped = isComplete ? await vectors.dropOthers(embedder, reader) : [];
  return { run: { model: embedder.name, ...counts, dropped }, failure };
}
