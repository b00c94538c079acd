/** Services on loopback that answer rightly and wrongly in every way, asked by the real client. */
import { describe, expect, test } from "vitest";
import { EmbeddingServer, openAiAnswer, vectorOf } from "../../../test/support/embedding-server.ts";
import type { Asked, Reply } from "../../../test/support/embedding-server.ts";
import type { Clock } from "../../base/clock.ts";
import type { Embedded, Embedder, EmbeddingSettings } from "../index.ts";
import { openEmbedder } from "../index.ts";

const KEY = "sk-Very.Secret-1234";

/** Pauses end at once and are written down; the time limit of a request does not end, unless it is to. */
class TestClock implements Clock {
  readonly pauses: number[] = [];
  readonly #limitEnds: boolean;
  constructor({ limitEnds = false } = {}) {
    this.#limitEnds = limitEnds;
  }
  now = (): number => 1_700_000_000_000;
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const isLimit = ms >= 60_000 && signal !== undefined;
    if (!isLimit) this.pauses.push(ms);
    if (!isLimit || this.#limitEnds) return Promise.resolve();
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
}

async function open(
  server: EmbeddingServer,
  settings: Partial<EmbeddingSettings> = {},
  clock: Clock = new TestClock(),
): Promise<Embedder> {
  const embedder = await openEmbedder(
    { provider: "openai", model: "m", url: `${server.url}/v1`, dimension: 3, ...settings },
    { clock, random: () => 1 },
  );
  if (embedder === undefined) throw new Error("no embedder");
  return embedder;
}

const embed = (
  embedder: Embedder,
  texts: readonly string[],
  signal = new AbortController().signal,
): Promise<Embedded> => embedder.embed(texts, { kind: "document", signal });

function unit(values: readonly number[]): number[] {
  const length = Math.hypot(...values);
  return values.map((value) => Math.fround(value / length));
}

const rows = (...embeddings: readonly unknown[]): Reply => ({
  body: { data: embeddings.map((embedding, index) => ({ index, embedding })) },
});
const refusal = (status: number, message = "no", headers = {}): Reply => ({
  status,
  headers,
  body: { error: { message } },
});

describe("right answers", () => {
  test("vectors have length 1 and are in the order of the texts; empty texts have none and are not sent", async () => {
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open(server, { api_key: KEY });
    const { vectors, cut } = await embed(embedder, ["alpha", "", "be", " \n"]);
    expect(vectors.map((vector) => vector && [...vector])).toEqual([
      unit(vectorOf("alpha")),
      undefined,
      unit(vectorOf("be")),
      undefined,
    ]);
    expect(cut).toBe(0);
    expect(server.asked).toMatchObject([
      {
        path: "/v1/embeddings",
        headers: { authorization: `Bearer ${KEY}` },
        body: { model: "m", input: ["alpha", "be"], dimensions: 3 },
      },
    ]);
  });

  test("an answer in another order is put in order by its indexes", async () => {
    await using server = await EmbeddingServer.start((asked) => ({
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made above
      body: { data: (openAiAnswer(asked).body as { data: unknown[] }).data.toReversed() },
    }));
    await using embedder = await open(server);
    const { vectors } = await embed(embedder, ["alpha", "be"]);
    expect(vectors.map((vector) => vector && [...vector])).toEqual([
      unit(vectorOf("alpha")),
      unit(vectorOf("be")),
    ]);
  });

  test("nothing is asked for no texts", async () => {
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open(server);
    expect(await embed(embedder, ["", ""])).toEqual({ vectors: [undefined, undefined], cut: 0 });
    expect(server.asked).toEqual([]);
  });

  test("more texts than a request takes are asked for in several", async () => {
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open(server);
    const texts = Array.from({ length: embedder.batch.texts + 1 }, (_, at) => `t${at}`);
    const { vectors } = await embed(embedder, texts);
    expect(vectors.map((vector) => vector && [...vector])).toEqual(texts.map((text) => unit(vectorOf(text))));
    expect(server.asked.map(({ body }) => body.input.length)).toEqual([embedder.batch.texts, 1]);
  });

  test("a vector of zeros is no vector", async () => {
    await using server = await EmbeddingServer.start(rows([0, 0, 0]));
    await using embedder = await open(server);
    expect((await embed(embedder, ["a"])).vectors).toEqual([undefined]);
  });
});

describe("wrong answers end the call, are not asked again, and give no vector", () => {
  const hugeNumber = '{"data": [{"index": 0, "embedding": [1, 2, 1e999]}]}';
  test.each<[string, unknown, RegExp]>([
    ["too few vectors", { data: [] }, /0 vectors for 1 texts/],
    ["too many vectors", rows([1, 2, 3], [1, 2, 3]).body, /2 vectors for 1 texts/],
    ["another dimension", rows([1, 2]).body, /2 numbers for a text instead of 3/],
    ["a number too large for a double", hugeNumber, /something else than a list of numbers/],
    ["null in a vector", rows([1, null, 3]).body, /something else than a list of numbers/],
    ["NaN as text in a vector", rows([1, "NaN", 3]).body, /something else than a list of numbers/],
    ["null for a vector", rows(null).body, /something else than a list of numbers/],
    ["base64 for a vector", rows("AACAPw==").body, /something else than a list of numbers/],
    ["an index twice", { data: [{ index: 1, embedding: [1, 2, 3] }] }, /not one of OpenAI/],
    ["another shape", { embeddings: [[1, 2, 3]] }, /not one of OpenAI/],
    ["null", null, /not one of OpenAI/],
    ["NaN, which is not JSON", '{"data": [{"index": 0, "embedding": [NaN, 1, 2]}]}', /not JSON/],
    ["a page", "<html>log in</html>", /"<html>log in<\/html>", which is not JSON/],
  ])("%s", async (_, body, message) => {
    await using server = await EmbeddingServer.start({ body });
    await using embedder = await open(server);
    await expect(embed(embedder, ["a"])).rejects.toMatchObject({
      code: "storage_unavailable",
      reason: "model_unavailable",
      message: expect.stringMatching(message),
      hint: expect.stringContaining("embeddings.url"),
    });
    expect(server.asked.length).toBe(1);
  });

  test("an answer that does not end is not read to its end", async () => {
    await using server = await EmbeddingServer.start("endless");
    await using embedder = await open(server);
    await expect(embed(embedder, ["a"])).rejects.toThrow("an answer of more than 64 MiB");
  });
});

describe("trying again", () => {
  test.each([408, 429, 500, 503])("HTTP %d is asked again after growing pauses", async (status) => {
    await using server = await EmbeddingServer.start(refusal(status), refusal(status), openAiAnswer);
    const clock = new TestClock();
    await using embedder = await open(server, {}, clock);
    expect((await embed(embedder, ["a"])).vectors.length).toBe(1);
    expect(clock.pauses).toEqual([500, 1000]);
  });

  test("a pause that the server names is kept, in seconds, milliseconds or as a date", async () => {
    const date = new Date(1_700_000_000_000 + 9000).toUTCString();
    await using server = await EmbeddingServer.start(
      refusal(429, "slow down", { "retry-after": "7" }),
      refusal(429, "slow down", { "retry-after": date }),
      refusal(429, "slow down", { "retry-after-ms": "250" }),
      refusal(429, "slow down", { "retry-after": "soon" }),
      openAiAnswer,
    );
    const clock = new TestClock();
    await using embedder = await open(server, {}, clock);
    await embed(embedder, ["a"]);
    expect(clock.pauses).toEqual([7000, 9000, 250, 4000]);
  });

  test("who asks to wait for longer than a minute is not waited for", async () => {
    await using server = await EmbeddingServer.start(refusal(429, "daily quota", { "retry-after": "3600" }));
    const clock = new TestClock();
    await using embedder = await open(server, {}, clock);
    await expect(embed(embedder, ["a"])).rejects.toMatchObject({
      reason: "model_unavailable",
      hint: "it asks to wait 3600 s: try again then",
    });
    expect(clock.pauses).toEqual([]);
  });

  test("a connection that is cut is asked again", async () => {
    await using server = await EmbeddingServer.start("cut", openAiAnswer);
    await using embedder = await open(server);
    expect((await embed(embedder, ["a"])).vectors.length).toBe(1);
    expect(server.asked.length).toBe(2);
  });

  test("tries end: six for documents, two for a question, and the error says how often and what", async () => {
    await using server = await EmbeddingServer.start(refusal(500, "out of memory"));
    await using embedder = await open(server);
    await expect(embed(embedder, ["a"])).rejects.toMatchObject({
      code: "storage_unavailable",
      reason: "model_unavailable",
      message: expect.stringMatching(
        /^m at 127\.0\.0\.1:\d+ did not embed: HTTP 500: .*out of memory.* \(asked 6 times\)$/,
      ),
      data: { attempts: 6 },
    });
    await expect(
      embedder.embed(["a"], { kind: "query", signal: new AbortController().signal }),
    ).rejects.toMatchObject({ data: { attempts: 2 } });
    expect(server.asked.length).toBe(8);
  });

  test("a server that is not there is asked again, and the error says that nobody listens", async () => {
    const server = await EmbeddingServer.start(openAiAnswer);
    const embedder = await open(server);
    await server[Symbol.asyncDispose]();
    await expect(embed(embedder, ["a"])).rejects.toThrow(/ECONNREFUSED.*\(asked 6 times\)/);
  });

  test("a server that does not answer is left after the time limit", async () => {
    await using server = await EmbeddingServer.start("silence");
    await using embedder = await open(server, {}, new TestClock({ limitEnds: true }));
    await expect(embed(embedder, ["a"])).rejects.toThrow(/no answer in 60 s \(asked 6 times\)/);
  });

  test("the signal ends a request that waits for its answer, with its reason", async () => {
    const stop = new AbortController();
    await using server = await EmbeddingServer.start(() => {
      stop.abort(new Error("stopped"));
      return "silence";
    });
    await using embedder = await open(server);
    await expect(embed(embedder, ["a"], stop.signal)).rejects.toThrow("stopped");
    expect(server.asked.length).toBe(1);
  });

  test("the signal ends a pause", async () => {
    const stop = new AbortController();
    const clock: Clock = {
      now: () => 0,
      sleep: (ms, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
          if (ms === 500) stop.abort(new Error("stopped"));
        }),
    };
    await using server = await EmbeddingServer.start(refusal(500));
    await using embedder = await open(server, {}, clock);
    await expect(embed(embedder, ["a"], stop.signal)).rejects.toThrow("stopped");
    expect(server.asked.length).toBe(1);
  });

  test("closing it ends what it waits for", async () => {
    const asked = Promise.withResolvers<void>();
    await using server = await EmbeddingServer.start(() => {
      asked.resolve();
      return "silence";
    });
    const embedder = await open(server);
    const waiting = embed(embedder, ["a"]);
    waiting.catch(() => undefined);
    await asked.promise;
    await embedder[Symbol.asyncDispose]();
    await expect(waiting).rejects.toThrow("was closed while it embedded");
  });
});

describe("refusals", () => {
  test.each([400, 401, 403, 404, 409, 422])(
    "HTTP %d is not asked again, and the key is in no message",
    async (status) => {
      const echo = ({ headers }: Asked): Reply => refusal(status, `bad: ${headers.authorization}, ${KEY}`);
      await using server = await EmbeddingServer.start(echo);
      await using embedder = await open(server, { api_key: KEY });
      const error = await embed(embedder, ["a"]).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "validation_failed", data: { status } });
      expect(error).toMatchObject({
        message: expect.stringMatching(/^m at 127\.0\.0\.1:\d+ refused to embed: HTTP \d+: /),
        hint: expect.any(String),
      });
      expect(String(error instanceof Error && error.stack)).not.toContain(KEY);
      expect(JSON.stringify(error)).not.toContain(KEY);
      expect(server.asked.length).toBe(1);
    },
  );

  test("texts and key do not follow to another address", async () => {
    await using other = await EmbeddingServer.start(openAiAnswer);
    await using server = await EmbeddingServer.start(
      refusal(307, "moved", { location: `${other.url}/v1/embeddings` }),
    );
    await using embedder = await open(server, { api_key: KEY });
    await expect(embed(embedder, ["a"])).rejects.toMatchObject({
      code: "validation_failed",
      hint: "it moved: set embeddings.url to its new address",
    });
    expect(other.asked).toEqual([]);
  });
});

describe("texts that are too long", () => {
  const takesAtMost =
    (characters: number) =>
    (asked: Asked): Reply =>
      asked.body.input.some((text: string) => text.length > characters)
        ? refusal(400, "the input length exceeds the context length")
        : openAiAnswer(asked);

  test("are cut to the window before they are sent, and counted", async () => {
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open(server, { window: 20 });
    const { cut } = await embed(embedder, ["x".repeat(61), "x".repeat(60), "\u4e2d".repeat(21), "a"]);
    expect(cut).toBe(2);
    expect(server.asked[0]?.body.input).toEqual(["x".repeat(60), "x".repeat(60), "\u4e2d".repeat(20), "a"]);
  });

  test("that the server refuses: the batch is halved, then each asked for alone, and that one cut and counted", async () => {
    await using server = await EmbeddingServer.start(takesAtMost(10));
    await using embedder = await open(server);
    const texts = ["aa", "bb", "cc", "d".repeat(30), "ee"];
    const { vectors, cut } = await embed(embedder, texts);
    expect(cut).toBe(1);
    expect(vectors.map((vector) => vector && [...vector])).toEqual(
      ["aa", "bb", "cc", "d".repeat(8), "ee"].map((text) => unit(vectorOf(text))),
    );
    const lengths = server.asked.map(({ body }) => body.input.map((text: string) => text.length));
    expect(lengths).toEqual([[2, 2, 2, 30, 2], [2, 2, 2], [30, 2], [30], [15], [8], [2]]);
  });

  test("that it refuses however short they are end with its error", async () => {
    await using server = await EmbeddingServer.start(refusal(400, "too many tokens"));
    await using embedder = await open(server);
    await expect(embed(embedder, ["word ".repeat(20)])).rejects.toMatchObject({ code: "validation_failed" });
    expect(server.asked.length).toBe(5);
  });

  test("a request that is too large as a whole is two requests", async () => {
    await using server = await EmbeddingServer.start(refusal(413), openAiAnswer);
    await using embedder = await open(server);
    expect(await embed(embedder, ["a", "b"])).toMatchObject({ cut: 0 });
    expect(server.asked.map(({ body }) => body.input)).toEqual([["a", "b"], ["a"], ["b"]]);
  });

  test("half a character is never sent", async () => {
    await using server = await EmbeddingServer.start(openAiAnswer);
    await using embedder = await open(server);
    await embed(embedder, ["a\ud800b"]);
    expect(server.asked[0]?.body.input).toEqual(["a\ufffdb"]);
  });
});
