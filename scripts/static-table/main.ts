/**
 * Makes the table of vectors that is shipped: `node scripts/static-table/main.ts <working folder> [target folder]`. The README beside says from
 * what, and how it is known to be the same again.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tableBytes } from "../../src/embeddings/static/table.ts";
import type { Lesson, Recipe } from "./rows.ts";
import { asBytes, madeRows } from "./rows.ts";
import { pairsOf } from "./sentences.ts";
import { ALL, MODEL, unpacked } from "./sources.ts";
import { Teacher, vocabularyOf } from "./teacher.ts";

const RUNTIME = "onnxruntime-node@1.30.0";
/** 160 axes and some 46,000 rows are 8 MB. */
const RECIPE: Recipe = {
  dimension: 160,
  epochs: 5,
  budget: { words: 900, beginnings: 600, runs: 2500 },
};
/** Ids of the tokens around a text. */
const [OPENING, CLOSING] = [101, 102];
/** Tokens of a sentence that the teacher is asked for, with those that open and close it. */
const WINDOW = 50;

const folder = process.argv[2];
if (folder === undefined)
  throw new Error("usage: node scripts/static-table/main.ts <working folder> [target folder]");
mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, "node_modules/onnxruntime-node"))) {
  writeFileSync(join(folder, "package.json"), "{}");
  // Its install script fetches what is not needed here.
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", RUNTIME], { cwd: folder });
}
write(await lesson(folder));

async function lesson(place: string): Promise<Lesson> {
  const pairs = pairsOf(place);
  const model = unpacked(MODEL, place);
  const { tokens, pieces } = vocabularyOf(model);
  const teacher = new Teacher(model, place);
  const sentences = new Map([...new Set(pairs.map(({ english }) => english))].map((text, at) => [text, at]));
  const ids = [...sentences.keys()].map((text) => pieces.encode(text, WINDOW).ids);
  const hash = createHash("sha256").update(JSON.stringify(ids)).digest("hex").slice(0, 16);
  return {
    pairs,
    tokens,
    tokenVectors: await teacher.vectors(
      tokens.map((_, id) => [OPENING, id, CLOSING]),
      join(place, "tokens.f32"),
    ),
    sentences,
    sentenceVectors: await teacher.vectors(ids, join(place, `sentences-${hash}.f32`)),
  };
}

function write(taught: Lesson): void {
  const { dimension } = RECIPE;
  const { pieces, weights } = madeRows(taught, RECIPE);
  const { scales, values } = asBytes(weights, dimension);
  const data = tableBytes(scales, values, pieces);
  const header = {
    format: 1,
    dimension,
    rows: pieces.length,
    sha256: createHash("sha256").update(data).digest("hex"),
    made_from: ALL.map(({ package: name, licence, sha256 }) => ({ package: name, licence, sha256 })),
    recipe: RECIPE,
  };
  const target = process.argv[3] ?? join(import.meta.dirname, "../../data/static-table");
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "table.bin"), data);
  writeFileSync(join(target, "table.json"), `${JSON.stringify(header, undefined, 2)}\n`);
  console.log(`${pieces.length} rows, ${data.length} bytes, ${header.sha256}`);
}
