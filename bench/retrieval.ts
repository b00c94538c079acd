/**
 * How often search has the right session first, among five, and at what mean reciprocal rank, by class of question: over the
 * corpus that was written for it, and over the sample sessions where POND_SAMPLES names them; by words alone, then with vectors of
 * the shipped table, compared with that.
 * `npm run bench -- retrieval [tune|test|both] [ranks.json]`: the file keeps every rank; one that is there already is
 * compared with, question by question (sign test).
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Embedder } from "../src/embeddings/embedder.ts";
import { openStaticEmbedder } from "../src/embeddings/static/static-embedder.ts";
import type { Corpus } from "./retrieval/corpus.ts";
import { writtenCorpus } from "./retrieval/corpus.ts";
import type { Question } from "./retrieval/evaluate.ts";
import { compare, halfOf, qualityOf, rankOf } from "./retrieval/evaluate.ts";
import { sampleCorpus } from "./retrieval/samples.ts";
import { CorpusStore } from "./retrieval/store.ts";

type Ranks = Record<string, number>;

export async function run(): Promise<void> {
  const half = process.argv[3] ?? "test";
  const file = process.argv[4];
  const before: Ranks = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const all: Ranks = {};
  const corpora = [
    ["written", writtenCorpus()],
    ["samples", await sampleCorpus(process.env["POND_SAMPLES"])],
  ] as const;
  for (const [name, corpus] of corpora) {
    if (corpus === undefined) {
      console.log("samples: skipped, POND_SAMPLES names no folder");
      continue;
    }
    const questions = corpus.questions.filter((each) => half === "both" || halfOf(each) === half);
    const title = `${name}: ${corpus.sessions.length} sessions, ${half} half`;
    const ranks = await ranksOf(corpus, questions);
    show(`${title}, words`, questions, { ranks, before, name });
    const words = Object.fromEntries(
      questions.map(({ query }, at) => [`${name} ${query}`, finite(ranks[at] ?? 0)]),
    );
    await using embedder = await openStaticEmbedder();
    const fused = await ranksOf(corpus, questions, embedder);
    show(`${title}, words and vectors against words`, questions, { ranks: fused, before: words, name });
    for (const [at, { query }] of questions.entries()) all[`${name} ${query}`] = finite(ranks[at] ?? 0);
  }
  if (file !== undefined && !existsSync(file)) writeFileSync(file, JSON.stringify(all));
}

/** By words alone, or with the vectors of the table that is shipped, too. */
async function ranksOf(
  corpus: Corpus,
  questions: readonly Question[],
  embedder?: Embedder,
): Promise<readonly number[]> {
  await using store = await CorpusStore.open(corpus, embedder);
  const ranks: number[] = [];
  for (const { query, answers } of questions) ranks.push(rankOf(await store.ask(query), answers));
  return ranks;
}

/** JSON has no infinity. */
const finite = (rank: number): number => (Number.isFinite(rank) ? rank : 1e9);

interface Shown {
  readonly name: string;
  readonly ranks: readonly number[];
  readonly before: Ranks;
}

function show(title: string, questions: readonly Question[], { name, ranks, before }: Shown): void {
  console.log(`\n${title}`);
  console.log("class            n   hit@1  hit@5    MRR   won:lost@1  won:lost@5");
  const classes = [...new Set(questions.map((question) => question.class)), "all"];
  for (const each of classes) {
    const chosen = questions.flatMap((question, at) =>
      each === "all" || question.class === each ? [at] : [],
    );
    const now = chosen.map((at) => ranks[at] ?? Number.POSITIVE_INFINITY);
    const then = chosen.map((at) => before[`${name} ${questions[at]?.query ?? ""}`]);
    const { n, hit1, hit5, mrr } = qualityOf(now);
    const known = then.filter((rank) => rank !== undefined);
    const paired =
      known.length === now.length ? `   ${[1, 5].map((k) => pairOf(known, now, k)).join("  ")}` : "";
    const figures = [hit1, hit5].map((share) => (share * 100).toFixed(1).padStart(5)).join("  ");
    console.log(`${each.padEnd(14)} ${String(n).padStart(3)}   ${figures}  ${mrr.toFixed(3)}${paired}`);
  }
}

function pairOf(before: readonly number[], now: readonly number[], within: number): string {
  const { won, lost, p } = compare(before, now, within);
  return `${won}:${lost} p=${p.toFixed(3)}`;
}
