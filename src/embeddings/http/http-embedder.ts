/**
 * A model behind HTTP: texts in requests of the service's size, answers checked before anybody sees a vector of them
 * (spec.md#search-embedding-seam).
 */
import { PondError } from "../../base/errors.ts";
import type { Embedded, Embedder, EmbedRequest } from "../embedder.ts";
import type { EmbedderOptions } from "../settings.ts";
import { unitVector } from "../unit-vector.ts";
import { cutToWindow, firstHalf } from "../window.ts";
import { post, wrongAnswer } from "./post.ts";
import type { Service } from "./post.ts";
import { requestsOf } from "./requests.ts";
import type { Piece } from "./requests.ts";
import { serviceOf } from "./service.ts";
import type { HttpSettings } from "./service.ts";
import { HTTP_SHAPES } from "./shapes.ts";
import type { HttpShape } from "./shapes.ts";

/** Documents are embedded in the background; whoever searches has words to fall back on, and does not wait. */
const TRIES = { document: 6, query: 2 } as const;
/** A text that is too long after so many halvings is not: the service means something else. */
const HALVINGS = 4;

export async function openHttpEmbedder(settings: HttpSettings, options: EmbedderOptions): Promise<Embedder> {
  const { service, model, dimension: known } = await serviceOf(settings, options);
  const shape = HTTP_SHAPES[settings.provider];
  const client = new Client(service, {
    shape,
    model,
    window: settings.window ?? shape.window,
    dimension: settings.dimension,
    ...(options.signal && { signal: options.signal }),
  });
  const dimension = settings.dimension ?? known ?? (await client.measuredDimension());
  const kinds = shape.hasKinds ? "query+document" : "one kind";
  return {
    name: `${settings.provider}:${model}:${dimension}d:w${client.window}:${kinds}`,
    dimension,
    batch: shape.batch,
    embed: (texts, request) => client.embed(texts, request, dimension),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

interface Model {
  readonly shape: HttpShape;
  readonly model: string;
  readonly window: number;
  /** What it is asked for; undefined for its own. */
  readonly dimension: number | undefined;
  readonly signal?: AbortSignal;
}

/** What one call of `embed` gathers. */
interface Gathered {
  readonly vectors: (Float32Array | undefined)[];
  /** Places of the texts of which only the beginning was embedded. */
  readonly cut: Set<number>;
}

class Client {
  readonly window: number;
  readonly #service: Service;
  readonly #model: Model;
  readonly #closed = new AbortController();

  constructor(service: Service, model: Model) {
    this.#service = service;
    this.#model = model;
    this.window = model.window;
  }

  /** Of a model that says it nowhere but in its answers: one word is embedded for it. */
  async measuredDimension(): Promise<number> {
    const request: EmbedRequest = { kind: "query", signal: this.#closed.signal };
    const rows = await this.#ask([{ at: 0, text: "pond" }], this.#ended(request));
    if (Array.isArray(rows)) {
      const [row] = rows;
      if (Array.isArray(row) && row.length > 0) return row.length;
      throw wrongAnswer(this.#service, "something else than a list of numbers for a text");
    }
    throw rows;
  }

  async embed(texts: readonly string[], request: EmbedRequest, dimension: number): Promise<Embedded> {
    const gathered: Gathered = { vectors: texts.map(() => undefined), cut: new Set() };
    const ended = this.#ended(request);
    const pieces = texts.flatMap((text, at): readonly Piece[] => {
      if (text.trim() === "") return [];
      const beginning = cutToWindow(text, this.window);
      if (beginning.length < text.length) gathered.cut.add(at);
      // Half a character is not UTF-8, and some services refuse all texts for it.
      return [{ at, text: beginning.toWellFormed() }];
    });
    for (const each of requestsOf(pieces, this.#model.shape.batch))
      await this.#embedFitting(each, ended, { gathered, dimension, halved: false });
    return { vectors: gathered.vectors, cut: gathered.cut.size };
  }

  close(): Promise<void> {
    this.#closed.abort(
      new PondError("internal", `${this.#service.label} was closed while it embedded`, {
        hint: "close it when all calls have ended",
      }),
    );
    return Promise.resolve();
  }

  /** Too long in all or one of them: in two halves, then each by itself, then that one shorter. */
  async #embedFitting(
    pieces: readonly Piece[],
    request: EmbedRequest,
    into: { readonly gathered: Gathered; readonly dimension: number; readonly halved: boolean },
  ): Promise<void> {
    const rows = await this.#ask(pieces, request);
    if (rows instanceof PondError) {
      const [first] = pieces;
      if (pieces.length === 1 && first !== undefined)
        return this.#embedCut(first, request, { ...into, error: rows });
      const size = into.halved ? 1 : Math.ceil(pieces.length / 2);
      for (let at = 0; at < pieces.length; at += size)
        await this.#embedFitting(pieces.slice(at, at + size), request, { ...into, halved: true });
      return;
    }
    this.#keep(pieces, rows, into);
  }

  async #embedCut(
    { at, text }: Piece,
    request: EmbedRequest,
    into: { readonly gathered: Gathered; readonly dimension: number; readonly error: PondError },
  ): Promise<void> {
    let shorter = text;
    for (let halving = 0; halving < HALVINGS; halving++) {
      shorter = firstHalf(shorter);
      const rows = await this.#ask([{ at, text: shorter }], request);
      if (rows instanceof PondError) continue;
      into.gathered.cut.add(at);
      return this.#keep([{ at, text: shorter }], rows, into);
    }
    throw into.error;
  }

  #keep(
    pieces: readonly Piece[],
    rows: readonly unknown[],
    { gathered, dimension }: { readonly gathered: Gathered; readonly dimension: number },
  ): void {
    for (const [index, { at }] of pieces.entries())
      gathered.vectors[at] = this.#vector(rows[index], dimension);
  }

  /** A number that is none would be compared with every question from then on. */
  #vector(row: unknown, dimension: number): Float32Array | undefined {
    if (!isNumbers(row)) throw wrongAnswer(this.#service, "something else than a list of numbers for a text");
    if (row.length !== dimension)
      throw wrongAnswer(this.#service, `${row.length} numbers for a text instead of ${dimension}`);
    return unitVector(row);
  }

  /** As many rows as texts, in their order; the service's error where they are too long for it. */
  async #ask(
    pieces: readonly Piece[],
    { kind, signal }: EmbedRequest,
  ): Promise<readonly unknown[] | PondError> {
    const { shape, model, dimension } = this.#model;
    const body = shape.body(
      pieces.map(({ text }) => text),
      { model, kind, dimension },
    );
    const posted = await post(this.#service, body, { signal, tries: TRIES[kind] });
    if (posted.kind === "too_long") return posted.error;
    const rows = shape.vectors(posted.answer);
    if (rows === undefined) throw wrongAnswer(this.#service, `an answer that is not one of ${shape.title}`);
    if (rows.length !== pieces.length)
      throw wrongAnswer(this.#service, `${rows.length} vectors for ${pieces.length} texts`);
    return rows;
  }

  /** The request, ended as well by whoever opened the embedder or closes it. */
  #ended({ kind, signal }: EmbedRequest): EmbedRequest {
    const ends = [signal, this.#closed.signal, ...(this.#model.signal ? [this.#model.signal] : [])];
    return { kind, signal: AbortSignal.any(ends) };
  }
}

const isNumbers = (row: unknown): row is readonly number[] =>
  Array.isArray(row) && row.every((value) => typeof value === "number" && Number.isFinite(value));
