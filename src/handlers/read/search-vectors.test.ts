/** Search by words and by vectors at once, with a model that takes a teapot for a kettle. */
import { expect, test } from "vitest";
import { fakeEmbedder, fakeVector } from "../../../test/support/fake-embedder.ts";
import { story } from "../../../test/support/story.ts";
import type { TempContext } from "../../../test/support/temp-context.ts";
import { tempContext } from "../../../test/support/temp-context.ts";
import { PondError } from "../../base/errors.ts";
import type { Embedder } from "../../embeddings/index.ts";
import { searchResponseSchema } from "../../wire/schema.ts";
import type { SearchRequest, SearchResponse } from "../../wire/index.ts";
import { explainSearch, search, sync } from "../index.ts";

const MODEL = { name: "kettles", dimension: 64 };

const model = (more: Parameters<typeof fakeEmbedder>[0] = {}): Embedder =>
  fakeEmbedder({
    ...MODEL,
    answer: (texts) => texts.map((text) => fakeVector(text.replaceAll("teapot", "kettle"), MODEL)),
    ...more,
  });

const TEXTS = ["kettle", "sails and ropes of a ship", "which port is open"];

/** A session a text; embedded. */
async function withTexts(
  texts: readonly string[] = TEXTS,
  embedder: Embedder = model(),
): Promise<TempContext> {
  const temp = await tempContext({ embedder });
  for (const [at, text] of texts.entries())
    await temp.ingest(
      story(`s${at}`)
        .user(text, { id: `m${at}` })
        .events(),
    );
  const { embed } = await sync(temp.context, { stages: ["embed"] });
  expect(embed.outcome).toBe("embedded");
  return temp;
}

async function find(temp: TempContext, request: SearchRequest): Promise<SearchResponse> {
  const response = await search(temp.context, request);
  expect(searchResponseSchema.safeParse(response).error).toBeUndefined();
  return response;
}

const ids = ({ sessions }: SearchResponse): readonly string[] =>
  sessions.flatMap(({ matches }) => matches.map(({ message_id }) => message_id));

/** The same home with another model in the settings. */
const reopened = ({ home }: TempContext, embedder?: Embedder): Promise<TempContext> =>
  tempContext({ home, ...(embedder === undefined ? {} : { embedder }) });

test("a text that shares no word with the query is found by what it means", async () => {
  await using temp = await withTexts();
  const found = await find(temp, { query: "teapot" });
  expect(ids(found)[0]).toBe("m0");
  expect(found.vectors).toEqual({ state: "used", model: "kettles", missing: 0, alone: 1 });
  await using words = await reopened(temp);
  expect(await find(words, { query: "teapot" })).toMatchObject({ sessions: [], vectors: { state: "off" } });
});

test("the word itself is before what is near", async () => {
  await using temp = await withTexts([...TEXTS, "a teapot of clay with a blue lid, from the market"]);
  expect(ids(await find(temp, { query: "teapot" }))).toEqual(["m3", "m0"]);
});

test("filters hold for vectors, and an index answers them", async () => {
  await using temp = await withTexts();
  const store = await temp.context.store();
  await store.maintain({ force: true });
  expect(ids(await find(temp, { query: "teapot", filters: { role: "assistant" } }))).toEqual([]);
  expect(ids(await find(temp, { query: "teapot", filters: { session_id: "s1" } }))).not.toContain("m0");
  const { plan, ranked, vectors } = await explainSearch(temp.context, {
    query: "teapot",
    filters: { role: "user", from_date: "2000-01-01" },
  });
  expect(vectors.state).toBe("used");
  const arm = plan.slice(plan.indexOf("vectors:"));
  expect(arm).toMatch(/ScalarIndexQuery.*role/);
  expect(ranked[0]).toMatchObject({ message_id: "m0", arms: { words: 0 } });
  expect(ranked[0]?.arms?.vectors).toBeGreaterThan(0.5);
});

const failures: readonly [string, Parameters<typeof fakeEmbedder>[0], object][] = [
  [
    "fails",
    {
      onCall: () =>
        Promise.reject(new PondError("storage_unavailable", "the model is gone", { hint: "start it" })),
    },
    { state: "failed", reason: "the model is gone" },
  ],
  ["answers nothing", { answer: () => [] }, { state: "unusable" }],
  ["answers with other dimensions", { answer: () => [new Float32Array(3)] }, { state: "unusable" }],
  [
    "answers with no numbers",
    { answer: () => [new Float32Array(64).fill(Number.NaN)] },
    { state: "unusable" },
  ],
];

test.each(failures)(
  "with a model that %s words alone are searched, and the answer says so",
  async (_, more, vectors) => {
    await using temp = await withTexts();
    // Another query: what was embedded once is not asked again.
    await using broken = await reopened(temp, model(more));
    const found = await find(broken, { query: `ropes ${JSON.stringify(vectors)}` });
    expect(ids(found)).toEqual(["m1"]);
    expect(found.vectors).toEqual(vectors);
  },
);

test("messages without a vector yet are found by words, and counted", async () => {
  await using temp = await withTexts();
  await temp.ingest(story("late").user("a kettle that came late", { id: "late" }).events());
  const found = await find(temp, { query: "kettle" });
  expect(ids(found).toSorted()).toEqual(["late", "m0"]);
  expect(found.vectors).toMatchObject({ state: "used", missing: 1 });
});

test("with nothing embedded under the configured model words alone are searched", async () => {
  await using temp = await withTexts();
  await using other = await reopened(temp, model({ name: "another" }));
  expect((await find(other, { query: "ropes" })).vectors).toEqual({ state: "none" });
});

test("pages together are what one large page is", async () => {
  const texts = Array.from({ length: 30 }, (_, at) => `${at % 3 === 0 ? "kettle" : "teapot"} number ${at}`);
  await using temp = await withTexts(texts);
  const all = ids(await find(temp, { query: "kettle", limit: 100 }));
  expect(all).toHaveLength(30);
  const paged: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const page: SearchResponse = await find(temp, {
      query: "kettle",
      limit: 7,
      ...(cursor === "" ? {} : { cursor }),
    });
    paged.push(...ids(page));
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all);
});

test("exact text and patterns ask no model", async () => {
  const embedder = model();
  await using temp = await withTexts(TEXTS, embedder);
  const { calls } = embedder as ReturnType<typeof fakeEmbedder>;
  expect(await find(temp, { query: "port", mode: "exact" })).not.toHaveProperty("vectors");
  expect((embedder as ReturnType<typeof fakeEmbedder>).calls).toBe(calls);
});

test("messages like a stored one are found by its vector, without it and without a model", async () => {
  await using temp = await withTexts([...TEXTS, "teapot"]);
  await using off = await reopened(temp);
  const found = await find(off, { similar_to: "m0" });
  expect([found.mode, ids(found)[0], ids(found).includes("m0")]).toEqual(["similar", "m3", false]);
});

test.each<[string, SearchRequest, object]>([
  ["a message that is not there", { similar_to: "nope" }, { code: "not_found" }],
  ["a query, too", { similar_to: "m0", query: "kettle" }, { data: { field: "query" } }],
  ["another mode", { similar_to: "m0", mode: "exact" }, { data: { field: "mode" } }],
  ["a session alone", { similar_to_session: "s0" }, { data: { field: "similar_to_session" } }],
])("likeness to %s is refused", async (_, request, refusal) => {
  await using temp = await withTexts();
  await expect(search(temp.context, request)).rejects.toMatchObject(refusal);
});

test.each(["fetchInvoice", "src/lib/a.ts", "E0308", "retry_budget"])(
  "the name %s is looked for by words, and no model is asked",
  async (query) => {
    const embedder = fakeEmbedder(MODEL);
    await using temp = await withTexts([...TEXTS, `call ${query} first`], embedder);
    const { calls } = embedder;
    const found = await find(temp, { query });
    expect([ids(found), found.vectors, embedder.calls]).toEqual([["m3"], { state: "name" }, calls]);
  },
);
