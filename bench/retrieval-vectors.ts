/**
 * What vectors add to words, by class of question, over the corpus that was written for it: words as search ranks them, the
 * vectors of the shipped table alone, and both (bench/retrieval/README.md). `npm run bench -- retrieval-vectors [folder of
 * another table]`: the weight is chosen on one half and reported on the other, question by question against words alone.
 */
import { openStaticEmbedder } from "../src/embeddings/static/static-embedder.ts";
import type { Corpus } from "./retrieval/corpus.ts";
import { writtenCorpus } from "./retrieval/corpus.ts";
import type { Half, Question } from "./retrieval/evaluate.ts";
import { compare, halfOf, qualityOf, rankOf } from "./retrieval/evaluate.ts";
import type { Fusion } from "./retrieval/fusion.ts";
import { fused, nearest } from "./retrieval/fusion.ts";
import { sampleCorpus } from "./retrieval/samples.ts";
import { CorpusStore } from "./retrieval/store.ts";
import { CorpusTexts, VectorsArm } from "./retrieval/vectors-arm.ts";
import type { WordsArm } from "./retrieval/words-arm.ts";
import { wordsArm } from "./retrieval/words-arm.ts";

const VECTORS_ALONE: Fusion = { weight: 1, isOpen: false, scale: "candidates" };
const TRIED: readonly Fusion[] = (["fixed", "candidates"] as const).flatMap((scale) => [
  ...[0.1, 0.2, 0.3, 0.4].map((weight) => ({ weight, isOpen: false, scale })),
  ...[0.2, 0.4, 0.6, 0.8, 1].map((weight) => ({ weight, isOpen: true, scale })),
]);

export async function run(): Promise<void> {
  const embedder = await openStaticEmbedder(process.argv[3]);
  const corpora = { written: writtenCorpus(), samples: await sampleCorpus(process.env["POND_SAMPLES"]) };
  for (const [name, corpus] of Object.entries(corpora)) {
    if (corpus === undefined) continue;
    console.log(`\n${name}: ${corpus.sessions.length} sessions, ${embedder.name}`);
    const texts = new CorpusTexts(corpus);
    report(texts, await askedOf(corpus, texts, await VectorsArm.of(texts, embedder)));
  }
}

interface Asked {
  readonly question: Question;
  readonly half: Half;
  /** Of the search as it is. */
  readonly rank: number;
  readonly words: WordsArm;
  readonly near: ReadonlyMap<number, number>;
}

async function askedOf(corpus: Corpus, texts: CorpusTexts, vectors: VectorsArm): Promise<readonly Asked[]> {
  await using corpusStore = await CorpusStore.open(corpus);
  const store = await corpusStore.context.store();
  const asked: Asked[] = [];
  for (const question of corpus.questions) {
    const rank = rankOf(await corpusStore.ask(question.query), question.answers);
    const words = await wordsArm(store, question.query, texts);
    const cosines = await vectors.cosines(question.query);
    const near = cosines === undefined ? new Map<number, number>() : nearest(cosines);
    asked.push({ question, half: halfOf(question), rank, words, near });
  }
  return asked;
}

function report(texts: CorpusTexts, asked: readonly Asked[]): void {
  const tune = asked.filter(({ half }) => half === "tune");
  const test = asked.filter(({ half }) => half === "test");
  const ranksOf = (of: readonly Asked[], how: Fusion): readonly number[] =>
    of.map((each) => rankOf(fused({ ...each, texts }, how), each.question.answers));
  const before = tune.map(({ rank }) => rank);
  const worth = TRIED.map((how) => {
    const pairs = [1, 5].map((within) => compare(before, ranksOf(tune, how), within));
    const won = pairs.reduce((sum, pair) => sum + pair.won, 0);
    const lost = pairs.reduce((sum, pair) => sum + pair.lost, 0);
    return { how, won, lost };
  });
  for (const { how, won, lost } of worth) console.log(`tune, ${nameOf(how)}: won ${won}, lost ${lost}`);
  // What was found must not get lost: a question lost counts twice.
  const ordered = worth.toSorted((a, b) => b.won - 2 * b.lost - (a.won - 2 * a.lost));
  const [{ how: best } = { how: VECTORS_ALONE }] = ordered;
  for (const how of [VECTORS_ALONE, best]) {
    console.log(`\n${nameOf(how)}, test half, against words alone`);
    show(test, ranksOf(test, how));
  }
}

const nameOf = ({ weight, isOpen, scale }: Fusion): string =>
  `${weight} of vectors${isOpen ? " by what is not covered" : ""}, ${scale} scale`;

function show(asked: readonly Asked[], ranks: readonly number[]): void {
  console.log("class            n   words hit@1/5   now hit@1/5   won:lost@1  won:lost@5");
  for (const each of [...new Set(asked.map(({ question }) => question.class)), "all"]) {
    const places = [...asked.keys()].filter((at) => each === "all" || asked[at]?.question.class === each);
    const before = places.map((at) => asked[at]?.rank ?? Number.POSITIVE_INFINITY);
    const now = places.map((at) => ranks[at] ?? Number.POSITIVE_INFINITY);
    const figures = [before, now].map((of) => {
      const { hit1, hit5 } = qualityOf(of);
      return [hit1, hit5].map((share) => (share * 100).toFixed(1).padStart(5)).join("/");
    });
    const pairs = [1, 5].map((within) => {
      const { won, lost, p } = compare(before, now, within);
      return `${won}:${lost} p=${p.toFixed(3)}`;
    });
    const line = [each.padEnd(14), String(places.length).padStart(3), ...figures, ...pairs];
    console.log(line.join("   "));
  }
}
