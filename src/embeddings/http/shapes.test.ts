/** What each service is sent, where, and how its answer is read, by a server on loopback; and what the settings lack. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EmbeddingServer, openAiAnswer, vectorOf } from "../../../test/support/embedding-server.ts";
import type { Asked, Reply } from "../../../test/support/embedding-server.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { systemClock } from "../../base/clock.ts";
import type { Embedder, EmbeddingSettings } from "../index.ts";
import { openEmbedder } from "../index.ts";

async function open(settings: EmbeddingSettings): Promise<Embedder> {
  const embedder = await openEmbedder(settings, { clock: systemClock });
  if (embedder === undefined) throw new Error("no embedder");
  return embedder;
}

const { signal } = new AbortController();
const ollamaAnswer = ({ body }: Asked): Reply => ({ body: { embeddings: body.input.map(vectorOf) } });
const cohereAnswer = ({ body }: Asked): Reply => ({
  body: { embeddings: { float: body.texts.map(vectorOf) } },
});
const geminiAnswer = ({ body }: Asked): Reply => ({
  body: {
    embeddings: body.requests.map((each: { content: { parts: { text: string }[] } }) => ({
      values: vectorOf(each.content.parts[0]?.text ?? ""),
    })),
  },
});

describe("each service is asked in its own way", () => {
  const bearer = { authorization: "Bearer k1" };
  const wire = (kind: string, dimension?: number): unknown => ({
    requests: ["a", "bb"].map((text) => ({
      model: "models/m",
      content: { parts: [{ text }] },
      taskType: kind,
      ...(dimension !== undefined && { outputDimensionality: dimension }),
    })),
  });
  test.each([
    {
      provider: "openai",
      answer: openAiAnswer,
      path: "/base/embeddings",
      headers: bearer,
      query: { model: "m", input: ["a", "bb"], dimensions: 3 },
      document: { model: "m", input: ["a", "bb"], dimensions: 3 },
      kinds: "one kind",
      window: 8191,
    },
    {
      provider: "ollama",
      answer: ollamaAnswer,
      path: "/base/api/embed",
      headers: bearer,
      query: { model: "m", input: ["a", "bb"], truncate: false, dimensions: 3 },
      document: { model: "m", input: ["a", "bb"], truncate: false, dimensions: 3 },
      kinds: "one kind",
      window: 512,
    },
    {
      provider: "voyage",
      answer: openAiAnswer,
      path: "/base/embeddings",
      headers: bearer,
      query: { model: "m", input: ["a", "bb"], input_type: "query", truncation: false, output_dimension: 3 },
      document: {
        model: "m",
        input: ["a", "bb"],
        input_type: "document",
        truncation: false,
        output_dimension: 3,
      },
      kinds: "query+document",
      window: 32000,
    },
    {
      provider: "cohere",
      answer: cohereAnswer,
      path: "/base/embed",
      headers: bearer,
      query: {
        model: "m",
        texts: ["a", "bb"],
        input_type: "search_query",
        embedding_types: ["float"],
        output_dimension: 3,
        truncate: "NONE",
      },
      document: {
        model: "m",
        texts: ["a", "bb"],
        input_type: "search_document",
        embedding_types: ["float"],
        output_dimension: 3,
        truncate: "NONE",
      },
      kinds: "query+document",
      window: 32000,
    },
    {
      provider: "gemini",
      answer: geminiAnswer,
      path: "/base/models/m:batchEmbedContents",
      headers: { "x-goog-api-key": "k1" },
      query: wire("RETRIEVAL_QUERY", 3),
      document: wire("RETRIEVAL_DOCUMENT", 3),
      kinds: "query+document",
      window: 2048,
    },
  ] as const)("$provider", async ({ provider, answer, path, headers, query, document, kinds, window }) => {
    await using server = await EmbeddingServer.start(answer);
    await using embedder = await open({
      provider,
      model: provider === "gemini" ? "models/m" : "m",
      url: `${server.url}/base/`,
      dimension: 3,
      api_key: "k1",
    });
    for (const kind of ["query", "document"] as const) {
      const { vectors, cut } = await embedder.embed(["a", "bb"], { kind, signal });
      expect(vectors.map((vector) => vector && Math.hypot(...vector).toFixed(6))).toEqual([
        "1.000000",
        "1.000000",
      ]);
      expect(vectors[0]?.[0]).toBeCloseTo(2 / Math.hypot(...vectorOf("a")), 6);
      expect(cut).toBe(0);
    }
    expect(server.asked).toMatchObject([
      { path, headers },
      { path, headers },
    ]);
    expect(server.asked.map(({ body }) => body)).toEqual([query, document]);
    expect(embedder.name).toBe(`${provider}:m:3d:w${window}:${kinds}`);
    expect(embedder.name).not.toContain("k1");
  });

  test("without a dimension in the settings one word is embedded to learn it, and no dimension is asked for", async () => {
    await using server = await EmbeddingServer.start(ollamaAnswer);
    await using embedder = await open({
      provider: "ollama",
      model: "all-minilm",
      url: server.url,
      window: 99,
    });
    expect([embedder.dimension, embedder.name]).toEqual([3, "ollama:all-minilm:3d:w99:one kind"]);
    await embedder.embed(["a"], { kind: "document", signal });
    expect(server.asked.map(({ body, headers }) => [body, headers.authorization])).toEqual([
      [{ model: "all-minilm", input: ["pond"], truncate: false }, undefined],
      [{ model: "all-minilm", input: ["a"], truncate: false }, undefined],
    ]);
  });

  test("a server that cannot embed that word ends the opening", async () => {
    await using server = await EmbeddingServer.start({ status: 404, body: { error: "model not found" } });
    await expect(open({ provider: "ollama", model: "x", url: server.url })).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("model not found"),
      hint: expect.stringContaining("embeddings.model"),
    });
  });

  test("nothing is asked when a provider's own model is opened at its own address", async () => {
    await using embedder = await open({ provider: "openai", api_key: "k1" });
    expect([embedder.name, embedder.dimension]).toEqual([
      "openai:text-embedding-3-small:1536d:w8191:one kind",
      1536,
    ]);
  });
});

describe("settings that cannot be", () => {
  const [SECRET, url] = ["sk-Secret!", "http://127.0.0.1:9"];
  test.each<[string, EmbeddingSettings, RegExp, RegExp]>([
    ["no key", { provider: "cohere" }, /Cohere embeds with a key only/, /POND_EMBEDDINGS_API_KEY/],
    ["no model", { provider: "ollama" }, /embeddings\.model is not set/, /for example/],
    ["no model elsewhere", { provider: "openai", url }, /embeddings\.model is not set/, /for example/],
    [
      "no address",
      { provider: "ollama", model: "m", url: "localhost:11434" },
      /embeddings\.url cannot be/,
      /whole address/,
    ],
    [
      "a password in the address",
      { provider: "openai", model: "m", url: `https://me:${SECRET}@host/v1` },
      /name or password before host$/,
      /api_key/,
    ],
    [
      "a key that would be readable on its way",
      { provider: "openai", model: "m", url: "http://10.0.0.7/v1", api_key: SECRET },
      /^embeddings\.url is http:\/\/10\.0\.0\.7: the key/,
      /use https/,
    ],
    [
      "a key of two lines",
      { provider: "openai", api_key: `${SECRET}\nx` },
      /characters that a key cannot have/,
      /one word/,
    ],
    ["an empty key", { provider: "openai", api_key: "  " }, /has no key in it/, /one word/],
    [
      "a file that is not there",
      { provider: "openai", api_key_file: "/nowhere/key" },
      /\/nowhere\/key, which cannot be read \(ENOENT\)/,
      /file/,
    ],
  ])("%s", async (_, settings, message, hint) => {
    const error = await open(settings).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(String(error instanceof Error && error.stack)).not.toContain(SECRET);
  });

  test("without a key plain http is allowed, as to a server in one's own network", async () => {
    await using embedder = await open({
      provider: "ollama",
      model: "m",
      url: "http://10.0.0.7:1",
      dimension: 3,
    });
    expect(embedder.dimension).toBe(3);
  });

  test("a key from a file is sent without the line's end", async () => {
    await using folder = await tempDir();
    const file = join(folder.path, "key");
    await writeFile(file, "of-the-file\n");
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open({
      provider: "openai",
      model: "m",
      url: server.url,
      api_key_file: file,
    });
    expect(embedder.dimension).toBe(3);
    expect(server.asked[0]?.headers.authorization).toBe("Bearer of-the-file");
  });
});

test("with none there is no embedder", async () => {
  expect(await openEmbedder({ provider: "none" }, { clock: systemClock })).toBeUndefined();
});
