/** Words of scripts that are written without spaces, as the system's own dictionary divides them. */

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Particles and endings of Japanese, and single characters: they are in every text. */
const PARTICLE = /^(?:\p{Script=Hiragana}{1,3}|\p{Script=Han})$/u;

/** Words of Chinese and Japanese that say nothing by themselves. */
const EMPTY = new Set(
  `的 了 是 我们 我 你 他 它 怎么 怎样 如何 为什么 什么 哪个 哪次 哪些 哪里 那个 那次 这个 这次 时候 在 和 与 吗 呢 把 被 有 没有 后来 之前
  之后 以后 之后 上次 每次 太多 很多 越来越 只有 问题 解决 因为 所以 如果 可以 不能 出现 后 里 中 上 下 会 要 用 对 就 都 也 还 又 到 从 给 让 当时 最后 一个 一次 何 時 方 件 的 際 場合 理由 原因 方法`.split(
    /\s+/,
  ),
);

let segmenter: Intl.Segmenter | undefined;

/** The words of a run of letters: itself where its script has spaces. */
export function segmentsOf(run: string): readonly string[] {
  if (!UNSPACED.test(run)) return [run];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words = [...segmenter.segment(run)].map(({ segment }) => segment);
  const telling = words.filter((word) => !PARTICLE.test(word) && !EMPTY.has(word));
  return telling.length === 0 ? words : telling;
}
