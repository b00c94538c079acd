/**
 * Retrieval by vectors (spec.md#search-hybrid): the messages whose vectors are nearest to the query, with the whole scope as a
 * prefilter. Whatever goes wrong with the model costs the vectors and nothing else: words find what they find, and the answer
 * says why it was they alone.
 */
import { isPondError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import { TimeLimit, unlessAborted } from "../../base/waiting.ts";
import type { CosineScale, Embedder } from "../../embeddings/index.ts";
import type { SessionStore, SummaryList } from "../../sessions/index.ts";
import type { NearMessage, VectorChoice, VectorTable } from "../../sessions/vectors/index.ts";
import { vectorsFor } from "../../sessions/vectors/index.ts";
import type { Scope } from "../hits/scope.ts";
import { scaleOf } from "./fuse.ts";

/** The model that queries are embedded with, opened when it is first asked for. */
export interface VectorSource {
  readonly open: () => Promise<Embedder>;
  readonly nprobes?: number | undefined;
  readonly refineFactor?: number | undefined;
}

/** What vectors had to do with an answer. */
export type VectorUse =
  /** Missing: messages that have none yet, found by words alone. Alone: messages that were found by their vectors only. */
  | { readonly state: "used"; readonly model: string; readonly missing: number; readonly alone: number }
  /** Off: no model is configured. None: nothing is embedded under the one that is. Unusable: it can make nothing of the query. Name: the query is one, which words find. */
  | { readonly state: "off" | "none" | "unusable" | "name" }
  | { readonly state: "failed"; readonly reason: string };

export interface NearTexts {
  readonly use: VectorUse;
  /** The nearest first. */
  readonly messages: readonly NearMessage[];
  readonly scale: CosineScale;
}

const NOTHING = { messages: [], scale: { least: 0, most: 0, alone: 0 } };

export interface NearRequest {
  readonly text: string;
  readonly scope: Scope;
  readonly summaries: SummaryList;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Messages that an arm of vectors gives. */
export const MOST_NEAR = 200;
/** Where filters on parts leave few of them, so many are asked for. */
const MOST_ASKED = 12_800;
const STEP = 8;
/** A query is short; a service that takes longer than this is waited for in vain. */
const TIME_MS = 5000;

export async function nearTexts(
  store: SessionStore,
  source: VectorSource | undefined,
  request: NearRequest,
): Promise<NearTexts> {
  if (source === undefined) return { use: { state: "off" }, ...NOTHING };
  if (isName(request.text)) return { use: { state: "name" }, ...NOTHING };
  try {
    using time = new TimeLimit(request.clock, TIME_MS);
    const answer = await unlessAborted(request.signal, time.of(nearest(store, source, request)));
    if (answer !== "late") return answer;
    return failed(`the embedding model did not answer in ${TIME_MS / 1000} seconds`);
  } catch (error) {
    request.signal.throwIfAborted();
    if (!isPondError(error)) throw error;
    return failed(error.message);
  }
}

/** One word with marks, digits or capitals inside: a model was never told what it means. */
const isName = (text: string): boolean =>
  /^[!-~]+$/.test(text) && /[_./\\:#@-]|\d|[a-z][A-Z]|[A-Z]{2}/.test(text);

const failed = (reason: string): NearTexts => ({ use: { state: "failed", reason }, ...NOTHING });

async function nearest(store: SessionStore, source: VectorSource, request: NearRequest): Promise<NearTexts> {
  const embedder = await source.open();
  const table = await (await store.vectors()).existing(embedder);
  const choice = table && (await choiceOf(store, table, request.summaries));
  if (table === undefined || choice?.kind !== "vectors") return { use: { state: "none" }, ...NOTHING };
  const vector = await vectorOfQuery(embedder, request);
  if (vector === undefined) return { use: { state: "unusable" }, ...NOTHING };
  const messages = await nearestInScope(table, { vector, source, scope: request.scope });
  return {
    use: { state: "used", model: embedder.name, missing: choice.missing, alone: 0 },
    messages,
    scale: embedder.scale ?? scaleIn(messages),
  };
}

/** The engine's plan of the arm; undefined where there is none. */
export async function explainNear(
  store: SessionStore,
  source: VectorSource | undefined,
  { text, scope, signal }: Pick<NearRequest, "text" | "scope" | "signal">,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  try {
    const embedder = await source.open();
    const table = await (await store.vectors()).existing(embedder);
    const vector = table && (await vectorOfQuery(embedder, { text, signal }));
    return vector && (await table.explain({ vector, limit: MOST_NEAR, where: scope.messages }));
  } catch (error) {
    signal.throwIfAborted();
    if (!isPondError(error)) throw error;
    return error.message;
  }
}

/** Of a message that is stored: by the largest model that has it, whichever is configured. */
export async function nearMessage(
  store: SessionStore,
  { session_id, id }: Pick<NearMessage, "session_id" | "id">,
  { source, scope }: { readonly source: VectorSource | undefined; readonly scope: Scope },
): Promise<NearTexts> {
  const vectors = await store.vectors();
  for (const { model } of await vectors.held()) {
    const table = await vectors.existing(model);
    const vector = await table?.vectorOf(session_id, id);
    if (table === undefined || vector === undefined) continue;
    const found = await nearestInScope(table, { vector, source, scope });
    const messages = found.filter((each) => each.session_id !== session_id || each.id !== id);
    return {
      use: { state: "used", model: model.name, missing: 0, alone: 0 },
      messages,
      scale: scaleIn(messages),
    };
  }
  return { use: { state: "none" }, ...NOTHING };
}

interface Nearest {
  readonly vector: Float32Array;
  readonly source: VectorSource | undefined;
  readonly scope: Scope;
}

async function nearestInScope(
  table: VectorTable,
  { vector, source, scope }: Nearest,
): Promise<readonly NearMessage[]> {
  const { nprobes, refineFactor } = source ?? {};
  for (let limit = MOST_NEAR; ; limit *= STEP) {
    const found = await table.nearest({ vector, limit, where: scope.messages, nprobes, refineFactor });
    const { parts } = scope;
    const inScope = parts === undefined ? found : found.filter(({ row }) => parts.rows.has(row));
    if (parts === undefined || inScope.length >= MOST_NEAR || found.length < limit || limit >= MOST_ASKED)
      return inScope.slice(0, MOST_NEAR);
  }
}

const scaleIn = (messages: readonly NearMessage[]): CosineScale =>
  scaleOf(
    messages.map(({ similarity }) => similarity),
    MOST_NEAR,
  );

/** Vectors of queries by model: pages of one search, and what agents ask twice. */
const queries = new Map<string, Float32Array>();
const MOST_QUERIES = 200;

async function vectorOfQuery(
  embedder: Embedder,
  { text, signal }: Pick<NearRequest, "text" | "signal">,
): Promise<Float32Array | undefined> {
  const name = `${embedder.name}\0${text}`;
  const known = queries.get(name);
  if (known !== undefined) return known;
  const [vector] = (await embedder.embed([text], { kind: "query", signal })).vectors;
  if (vector === undefined || vector.length !== embedder.dimension || !vector.every(Number.isFinite))
    return undefined;
  if (queries.size >= MOST_QUERIES) queries.clear();
  queries.set(name, vector);
  return vector;
}

/** Kept for a state of the store where nothing is missing: more vectors may come without another message. */
const complete = new WeakMap<SummaryList, Set<string>>();

async function choiceOf(
  store: SessionStore,
  table: VectorTable,
  summaries: SummaryList,
): Promise<VectorChoice> {
  const { model } = table;
  const known = complete.get(summaries) ?? new Set();
  if (known.has(model.name)) return { kind: "vectors", model, missing: 0 };
  const vectors = await store.vectors();
  const [counts, texts] = await Promise.all([table.counts(), vectors.texts()]);
  const choice = vectorsFor(model, { held: [{ model, ...counts }], texts });
  if (choice.kind === "vectors" && choice.missing === 0) complete.set(summaries, known.add(model.name));
  return choice;
}
