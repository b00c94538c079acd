/**
 * Synthetic sessions with the entropy of real text: English-like words by Zipf's law mixed with code, records of about
 * 2 KB of source, a fifth of them tool output. Deterministic, generated as a stream, so that any size fits in memory.
 */
import type { Event, Part, Session } from "../src/model/index.ts";
import { messageId, partId, sessionId } from "../src/model/index.ts";
import { sealExtracted, sealExtractedJson } from "../src/model/extracted.ts";

export interface Shape {
  readonly name: string;
  readonly sessions: number;
  readonly messages: number;
}

const EPOCH = 1_760_000_000_000_000;

/** Events of a whole corpus, session by session. */
export function* corpus(shape: Shape): Generator<Event> {
  for (const memory of [PHRASES, LINES, COMMANDS]) memory.forget();
  const random = xorshift(12_345);
  for (let s = 0; s < shape.sessions; s++) yield* session(shape, s, random);
}

function* session(shape: Shape, index: number, random: () => number): Generator<Event> {
  const id = sessionId(uuid(random));
  const project = `/home/someone/projects/${WORDS[index % 50] ?? "pond"}`;
  const start = EPOCH + index * 3_600_000_000;
  yield {
    kind: "session",
    session: {
      id,
      source_agent: "claude-code",
      created_at: start as Session["created_at"],
      project: sealExtracted(project),
      options: { source: { path: `${index}.jsonl` } },
    },
  };
  for (let m = 0; m < shape.messages; m++) yield* message({ id, project, index: m, start }, random);
}

interface At {
  readonly id: Session["id"];
  readonly project: string;
  readonly index: number;
  readonly start: number;
}

/** A fifth are tool results of 4 to 8 KB; the others carry 300 to 1,500 characters of text or a tool call. */
function* message(at: At, random: () => number): Generator<Event> {
  const id = messageId(uuid(random));
  const kind = at.index % 5;
  const role = kind === 0 ? ("user" as const) : kind === 2 ? ("tool" as const) : ("assistant" as const);
  const record = {
    parentUuid: uuid(random),
    isSidechain: false,
    userType: "external",
    cwd: at.project,
    sessionId: at.id,
    version: "2.1.200",
    gitBranch: "main",
    requestId: `req_${uuid(random)}`,
  };
  const usage = {
    input_tokens: int(random, 5000),
    output_tokens: int(random, 900),
    cache_read_input_tokens: int(random, 90_000),
  };
  const options =
    role === "assistant"
      ? { source: { record }, anthropic: { model: "claude-opus-4", usage } }
      : { source: { record } };
  yield {
    kind: "message",
    message: {
      id,
      session_id: at.id,
      seq: at.index,
      timestamp: (at.start + at.index * 5_000_000) as Session["created_at"],
      role,
      options,
    },
  };
  const base = { id: partId("0"), session_id: at.id, message_id: id, ordinal: 0, options: {} };
  const call = `toolu_${at.index - (at.index % 5)}`;
  yield { kind: "part", part: partOf(kind, { ...base, call }, random) };
}

function partOf(
  kind: number,
  {
    call,
    ...base
  }: Pick<Part, "id" | "session_id" | "message_id" | "ordinal" | "options"> & { call: string },
  random: () => number,
): Part {
  if (kind === 1)
    return {
      ...base,
      type: "tool_call",
      provenance: "conversational",
      call_id: sealExtracted(call),
      name: sealExtracted(int(random, 3) === 0 ? "Edit" : "Bash"),
      params: sealExtractedJson({
        command: prose(random, 300, COMMANDS),
        description: prose(random, 60, COMMANDS),
      }),
    };
  if (kind === 2)
    return {
      ...base,
      type: "tool_result",
      provenance: "injected",
      call_id: sealExtracted(call),
      name: sealExtracted("Bash"),
      is_failure: sealExtracted(int(random, 10) === 0),
      result: sealExtractedJson(code(random, 4000 + int(random, 4000))),
    };
  return {
    ...base,
    type: "text",
    provenance: "conversational",
    text: sealExtracted(prose(random, 300 + int(random, 1200))),
  };
}

const WORDS = vocabulary(20_000);

function prose(random: () => number, length: number, memory: Memory = PHRASES): string {
  let text = "";
  while (text.length < length)
    text += memory.recall(random, () => `${zipf(random)} ${zipf(random)} ${zipf(random)} ${zipf(random)} `);
  return text;
}

function code(random: () => number, length: number): string {
  let text = "";
  while (text.length < length)
    text += LINES.recall(
      random,
      () =>
        `${" ".repeat(int(random, 3) * 2)}const ${zipf(random)} = ${zipf(random)}(${int(random, 100_000)}, "${zipf(random)}/${zipf(random)}.ts");\n`,
    );
  return text;
}

/** What was written before and how often it comes again: people and tools repeat themselves. */
class Memory {
  readonly #share: number;
  readonly #size: number;
  readonly #pieces: string[] = [];

  constructor({ share, size }: { readonly share: number; readonly size: number }) {
    this.#share = share;
    this.#size = size;
  }

  forget(): void {
    this.#pieces.length = 0;
  }

  /** A piece from before, or a new one. */
  recall(random: () => number, make: () => string): string {
    const pieces = this.#pieces;
    if (pieces.length === this.#size && random() < this.#share) return pieces[int(random, this.#size)] ?? "";
    const piece = make();
    if (pieces.length < this.#size) pieces.push(piece);
    else pieces[int(random, this.#size)] = piece;
    return piece;
  }
}

/**
 * Set so that zstd (level 3) finds as much as in the samples of Claude Code, in chunks of 128 and of 512 KiB, which is how
 * the store packs texts. Samples: texts 0.33 and 0.27 of their bytes, tool output 0.24 and 0.20, tool calls 0.21 and 0.19;
 * here 0.28 and 0.26, 0.24 and 0.20, 0.21 and 0.19. Codex, opencode and pi compress better still.
 */
const PHRASES = new Memory({ share: 0.35, size: 1000 });
const LINES = new Memory({ share: 0.6, size: 1000 });
const COMMANDS = new Memory({ share: 0.7, size: 500 });

function zipf(random: () => number): string {
  return WORDS[Math.floor(WORDS.length ** random()) - 1] ?? "the";
}

function vocabulary(size: number): readonly string[] {
  const random = xorshift(99);
  const syllables = [
    "re",
    "con",
    "ta",
    "ion",
    "pre",
    "ma",
    "ter",
    "in",
    "ver",
    "al",
    "ing",
    "er",
    "po",
    "lo",
    "gi",
    "s",
    "de",
    "ex",
    "un",
    "st",
  ];
  return Array.from({ length: size }, (_, rank) => {
    let word = "";
    for (let n = 1 + (rank > 100 ? 1 : 0) + int(random, 3); n > 0; n--)
      word += syllables[int(random, syllables.length)] ?? "";
    return rank % 9 === 0 ? `${word}${word.charAt(0).toUpperCase()}${word.slice(1)}` : word;
  });
}

export function uuid(random: () => number): string {
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, "0"),
  ).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

export function int(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

export function xorshift(seed: number): () => number {
  let a = seed;
  let b = 0x9e37_79b9;
  return () => {
    let t = a ^ (a << 11);
    t ^= t >>> 8;
    a = b;
    b = b ^ (b >>> 19) ^ t;
    return (b >>> 0) / 0x1_0000_0000;
  };
}
