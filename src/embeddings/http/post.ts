/**
 * One question to a service, asked again where that can help: after 408, 429, 5xx and a connection that failed, with growing
 * pauses or the one that the server names. A key is in the headers and nowhere else (spec.md#search-embedding-seam).
 */
import type { Clock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { maskSecrets, withoutSecrets } from "../../base/secrets.ts";
import { readBody } from "./body.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface Service {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Model and host, for messages. */
  readonly label: string;
  readonly timeLimitMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** Tries, with the first one. */
  readonly tries: number;
}

/** The answer, or that the texts are more than the model takes. */
export type Posted =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "too_long"; readonly error: PondError };

type Tried =
  | Posted
  | {
      readonly kind: "failed";
      readonly problem: string;
      readonly waitMs?: number | undefined;
      readonly cause?: unknown;
    };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Whoever asks for more is not waited for: what was embedded by then is stored, and the next run goes on. */
const LONGEST_ASKED_PAUSE_MS = 60_000;
/** Many times the largest right answer; a server that never ends must not fill the memory. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
const LARGEST_ERROR = 64 * 1024;
const SHOWN_OF_ERROR = 300;
/** More than is shown, so that no half of a key is. */
const LOOKED_AT_OF_ERROR = 10_000;
const TOO_LONG =
  /context length|context window|too long|too large|too many tokens|maximum.{0,40}(?:tokens|length)|input length|token limit|exceed.{0,60}tokens/i;

export async function post(service: Service, body: unknown, { signal, tries }: PostOptions): Promise<Posted> {
  const text = JSON.stringify(body);
  for (let tried = 1; ; tried++) {
    const result = await tryOnce(service, text, signal);
    if (result.kind !== "failed") return result;
    const pause = result.waitMs ?? pauseBefore(tried, service.random);
    if (tried >= tries || pause > LONGEST_ASKED_PAUSE_MS) throw unavailable(service, result, tried);
    await service.clock.sleep(pause, signal);
  }
}

/** Between half and all of a pause that doubles: many that failed at one moment must not come back at one. */
function pauseBefore(tried: number, random: () => number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tried - 1)) * (0.5 + random() / 2);
}

async function tryOnce(service: Service, body: string, signal: AbortSignal): Promise<Tried> {
  signal.throwIfAborted();
  const { url, headers, clock, timeLimitMs, secrets } = service;
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const late = new AbortController();
  clock.sleep(timeLimitMs, over.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body,
      // Elsewhere the texts must not go, and the key even less.
      redirect: "manual",
      signal: AbortSignal.any([ends, late.signal]),
    });
    return await read(service, response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PondError) throw error;
    if (late.signal.aborted) return { kind: "failed", problem: `no answer in ${timeLimitMs / 1000} s` };
    return { kind: "failed", problem: networkProblem(error), cause: withoutSecrets(error, secrets) };
  } finally {
    over.abort();
  }
}

async function read(service: Service, response: Response): Promise<Tried> {
  const { status } = response;
  if (status >= 200 && status < 300) {
    const text = await readBody(response, LARGEST_ANSWER);
    if (text === undefined)
      throw wrongAnswer(service, `an answer of more than ${LARGEST_ANSWER / 1024 / 1024} MiB`);
    return { kind: "answer", answer: parsed(service, text) };
  }
  const said = shown((await readBody(response, LARGEST_ERROR)) ?? "", service.secrets);
  const problem = said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
  if (status === 408 || status === 429 || status >= 500)
    return { kind: "failed", problem, waitMs: retryAfterMs(response.headers, service.clock.now()) };
  const error = refused(service, status, problem);
  if ([400, 413, 422].includes(status) && (status === 413 || TOO_LONG.test(said)))
    return { kind: "too_long", error };
  throw error;
}

function parsed(service: Service, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongAnswer(
      service,
      `${JSON.stringify(shown(text, service.secrets).slice(0, 80))}, which is not JSON`,
    );
  }
}

/** An error in the server's words: one line, not all of it, and without what it repeats of the key. */
function shown(text: string, secrets: readonly string[]): string {
  const line = maskSecrets(text.slice(0, LOOKED_AT_OF_ERROR), secrets).replaceAll(/\s+/g, " ").trim();
  return line.length > SHOWN_OF_ERROR ? `${line.slice(0, SHOWN_OF_ERROR)}...` : line;
}

/** fetch() says "fetch failed"; why is in its cause. */
function networkProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return "the connection failed";
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message;
}

const unavailable = (
  { label }: Service,
  { problem, waitMs, cause }: Extract<Tried, { kind: "failed" }>,
  tries: number,
): PondError =>
  new PondError(
    "storage_unavailable",
    `${label} did not embed: ${problem} (asked ${tries === 1 ? "once" : `${tries} times`})`,
    {
      reason: "model_unavailable",
      hint:
        waitMs !== undefined && waitMs > LONGEST_ASKED_PAUSE_MS
          ? `it asks to wait ${Math.ceil(waitMs / 1000)} s: try again then`
          : "check that the service runs and that embeddings.url is its address, or try again later",
      data: { attempts: tries },
      ...(cause === undefined ? {} : { cause }),
    },
  );

function refused({ label }: Service, status: number, problem: string): PondError {
  return new PondError("validation_failed", `${label} refused to embed: ${problem}`, {
    hint: REFUSALS[status] ?? "check embeddings.url, model, dimension and window",
    data: { status },
  });
}

const REFUSALS: Readonly<Record<number, string>> = {
  301: "it moved: set embeddings.url to its new address",
  302: "it moved: set embeddings.url to its new address",
  307: "it moved: set embeddings.url to its new address",
  308: "it moved: set embeddings.url to its new address",
  401: "check embeddings.api_key, or the key in embeddings.api_key_file",
  403: "check embeddings.api_key, and what the key is allowed to use",
  404: "check embeddings.model (a local server must have it already) and embeddings.url",
};

/** The server is there and wrong: asking again would give the same. */
export const wrongAnswer = ({ label }: Pick<Service, "label">, what: string): PondError =>
  new PondError("storage_unavailable", `${label} gave ${what}`, {
    reason: "model_unavailable",
    hint: "check that embeddings.url is the address of an embedding service of that provider, and embeddings.model one of its embedding models",
  });
