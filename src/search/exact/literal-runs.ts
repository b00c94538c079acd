/**
 * Texts that every match of a pattern contains (spec.md#search-signatures), so that what lacks them need not be looked through.
 * It knows as much of the syntax of Rust's regex as it takes to be sure; of anything else nothing is claimed, and the engine
 * alone decides. Pure.
 */

/** A match contains one of these, and of that one all runs; undefined where that cannot be told. */
export type LiteralRuns = readonly (readonly string[])[] | undefined;

export function literalRuns(pattern: string): LiteralRuns {
  const reader = new PatternReader(pattern);
  try {
    const alternatives = reader.alternatives(0);
    return alternatives.map((runs) => (reader.isAnyCase ? runs.flatMap(inOneCase) : runs));
  } catch (error) {
    if (error === UNKNOWN) return undefined;
    throw error;
  }
}

/** Thrown where the syntax is not known for sure. */
const UNKNOWN = Symbol("unknown syntax");
const MOST_NESTED = 50;

/**
 * Without what another letter equals in any case: signatures fold the letters of ASCII, and beyond it only the sign for kelvin
 * and the long s fold into it.
 */
const inOneCase = (run: string): readonly string[] =>
  run.split(/[ks\u0080-\u{10ffff}]/iu).filter((piece) => piece !== "");

type Quantifier = "none" | "may be absent" | "is there";

class PatternReader {
  readonly #chars: readonly string[];
  #at = 0;
  /** A flag in it says that case does not count, if only for a part of it. */
  isAnyCase = false;

  constructor(pattern: string) {
    this.#chars = Array.from(pattern);
  }

  /** To the end of the group, or of the pattern: the runs of each alternative. */
  alternatives(depth: number): readonly (readonly string[])[] {
    if (depth > MOST_NESTED) throw UNKNOWN;
    const all = [this.#sequence(depth)];
    while (this.#take("|")) all.push(this.#sequence(depth));
    const isEnd = depth === 0 ? this.#peek() === undefined : this.#take(")");
    if (!isEnd) throw UNKNOWN;
    return all;
  }

  #sequence(depth: number): readonly string[] {
    const runs: string[] = [];
    let run = "";
    const end = (): void => {
      if (run !== "") runs.push(run);
      run = "";
    };
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      this.#at += 1;
      const atom = next === "(" ? this.#group(depth) : this.#atom(next);
      const quantifier = this.#quantifier();
      if (typeof atom === "string") {
        if (quantifier !== "may be absent") run += atom;
        if (quantifier !== "none") end();
      } else {
        end();
        if (quantifier !== "may be absent") runs.push(...atom);
      }
    }
    end();
    return runs;
  }

  /** What one element of a pattern stands for: a character, or nothing that is known. */
  #atom(char: string): string | readonly string[] {
    if (char === "[") this.#skipClass();
    else if (char === "\\") return this.#escape();
    else if (char === "?" || char === "*" || char === "+" || char === "{") throw UNKNOWN;
    else if (char !== "." && char !== "^" && char !== "$") return char;
    return [];
  }

  /** The runs of a group, where it has no alternatives. */
  #group(depth: number): readonly string[] {
    if (this.#take("?") && this.#flags() === "alone") return [];
    const [only, ...others] = this.alternatives(depth + 1);
    return others.length > 0 ? [] : (only ?? []);
  }

  /** What follows "(?": up to where the group's own pattern begins, or past its end where it has none. */
  #flags(): "group" | "alone" {
    if (this.#take("P") || this.#peek() === "<") {
      if (!this.#take("<") || this.#peek() === "=" || this.#peek() === "!") throw UNKNOWN;
      this.#skipPast(">");
      return "group";
    }
    for (;;) {
      const flag = this.#next();
      if (flag === ":") return "group";
      if (flag === ")") return "alone";
      if (flag === "i") this.isAnyCase = true;
      // Not x, which has white space and comments left out, nor u.
      else if (!["m", "s", "U", "R", "-"].includes(flag)) throw UNKNOWN;
    }
  }

  #skipClass(): void {
    this.#take("^");
    // The first is a member even if it is a bracket.
    for (let isFirst = true; ; isFirst = false) {
      const char = this.#next();
      if (char === "[") throw UNKNOWN;
      if (char === "\\") this.#next();
      if (char === "]" && !isFirst) return;
    }
  }

  #escape(): string | readonly string[] {
    const char = this.#next();
    if (char === "n") return "\n";
    if (char === "t") return "\t";
    if (char === "r") return "\r";
    if (char === "p" || char === "P") {
      if (this.#take("{")) this.#skipPast("}");
      else this.#next();
      return [];
    }
    if (char === "x" || char === "u" || char === "U") {
      const digits = { x: 2, u: 4, U: 8 }[char];
      if (this.#take("{")) this.#skipPast("}");
      else for (let left = digits; left > 0; left--) this.#next();
      return [];
    }
    if (char === "b" && this.#peek() === "{") throw UNKNOWN;
    if ("dDwWsSbBAz<>afv".includes(char)) return [];
    if (/^[!-/:-@[-`{-~ ]$/.test(char)) return char;
    throw UNKNOWN;
  }

  /** All of those that follow each other, each of which is of the ones before. */
  #quantifier(): Quantifier {
    let found: Quantifier = "none";
    for (;;) {
      const least = this.#leastTimes();
      if (least === undefined) return found;
      this.#take("?");
      if (least === 0) found = "may be absent";
      else if (found === "none") found = "is there";
    }
  }

  #leastTimes(): number | undefined {
    if (this.#take("?") || this.#take("*")) return 0;
    if (this.#take("+")) return 1;
    if (!this.#take("{")) return undefined;
    const inside = this.#skipPast("}");
    const [, least] = /^([0-9]{1,9})(,[0-9]*)?$/.exec(inside) ?? [];
    if (least === undefined) throw UNKNOWN;
    return Number(least);
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw UNKNOWN;
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  /** Says what was before it. */
  #skipPast(char: string): string {
    let skipped = "";
    for (let next = this.#next(); next !== char; next = this.#next()) skipped += next;
    return skipped;
  }
}
