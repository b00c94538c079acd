/** What is stored of vectors, for `status` and `doctor`: a model at a time, and what is still to be embedded. */
import type { SessionStore } from "../../sessions/index.ts";
import { sentence } from "../../base/sentence.ts";
import type { Finding } from "../../wire/health.ts";
import type { VectorsReport } from "../../wire/status.ts";
import type { Context } from "../context/context.ts";

export async function vectorsReport(store: SessionStore): Promise<readonly VectorsReport[]> {
  const vectors = await store.vectors();
  const held = await vectors.held();
  if (held.length === 0) return [];
  const texts = await vectors.texts();
  return held.map(({ model, table, vectors: messages, without, bytes }) => ({
    model: model.name,
    dimension: model.dimension,
    table,
    messages,
    without,
    missing: Math.max(0, texts - messages - without),
    bytes,
  }));
}

export async function vectorFindings(context: Context, store: SessionStore): Promise<readonly Finding[]> {
  const held = await vectorsReport(store);
  const [first, ...others] = held;
  if (context.embeddings === undefined)
    return held.map(({ model, bytes }) => ({
      topic: "vectors",
      status: "ok",
      message: `those of ${model} (${megabytes(bytes)}) are not used: embeddings are off`,
    }));
  if (first === undefined || first.messages === 0)
    return [
      { ...DUE, message: "a model is configured, and no message is embedded: search is by words alone" },
    ];
  if (others.length > 0)
    return [
      {
        ...DUE,
        message: `they are of ${held.length} models: those of the one that is not configured go when those of the other are complete`,
        details: held.map((each) => `${each.model}: ${each.messages} messages, ${megabytes(each.bytes)}`),
      },
    ];
  const { model, messages, missing } = first;
  if (missing > 0)
    return [
      { ...DUE, message: `${missing} messages have none of ${model} yet: they are found by words alone` },
    ];
  return [{ topic: "vectors", status: "ok", message: `${messages} messages have one of ${model}` }];
}

const DUE = { topic: "vectors", status: "warn", fix: sentence`${{ do: "sync", stages: "embed" }}` } as const;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
