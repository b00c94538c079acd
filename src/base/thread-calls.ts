/**
 * Calls between threads over a message port: a name, one argument, one answer. Both are copied unless moved, so they are
 * plain data; a PondError arrives as the PondError it was. Numbers of exact JSON do not survive the copy: send text.
 */
import type { Transferable } from "node:worker_threads";
import type { ErrorDetails } from "./errors.ts";
import { PondError, toPondError } from "./errors.ts";
import type { Sentence } from "./sentence.ts";

/** What one side answers: functions of one argument. */
// oxlint-disable-next-line typescript/no-explicit-any -- any argument is what "a function of one argument" says here
export type Calls = Readonly<Record<string, (argument: any) => unknown>>;

/** The same functions as the other side sees them; `moving` says which buffers change their thread. */
export type Remote<C extends Calls> = {
  readonly [Name in keyof C]: (
    argument: Parameters<C[Name]>[0],
    moving?: readonly Transferable[],
  ) => Promise<Awaited<ReturnType<C[Name]>>>;
};

/** What travels. A port carries one side's questions and the other's answers. */
interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

type Answer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly code: PondError["code"];
      readonly message: Sentence;
      readonly details: ErrorDetails;
    };

/** An end of a channel: a message port, a worker, a worker's parent. */
export interface Port {
  // oxlint-disable-next-line typescript/no-explicit-any -- what arrives is typed where it is listened for
  on(event: "message", listener: (value: any) => void): unknown;
  postMessage(value: unknown, moving?: readonly Transferable[]): void;
}

/** Answers the questions that come through the port. */
export function answerCalls(port: Port, calls: Calls): void {
  port.on("message", (question: Question) => {
    void answer(port, calls, question);
  });
}

async function answer(port: Port, calls: Calls, { id, name, argument }: Question): Promise<void> {
  try {
    port.postMessage({ id, value: await calls[name]?.(argument) } satisfies Answer);
  } catch (error) {
    const { code, sentences, reason, data } = toPondError(error);
    const { message, hint } = sentences;
    const details = {
      ...(hint === undefined ? {} : { hint }),
      ...(reason === undefined ? {} : { reason }),
      ...(data === undefined ? {} : { data }),
    };
    port.postMessage({ id, code, message, details } satisfies Answer);
  }
}

/** Asks through the port. Answers come in any order. */
export function remoteCalls<C extends Calls>(port: Port): Remote<C> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asked = 0;
  port.on("message", (reply: Answer) => {
    const question = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("code" in reply) question?.reject(new PondError(reply.code, reply.message, reply.details));
    else question?.resolve(reply.value);
  });
  const ask = (name: string, argument: unknown, moving: readonly Transferable[] = []): Promise<unknown> => {
    const id = asked++;
    const question = Promise.withResolvers<unknown>();
    waiting.set(id, question);
    port.postMessage({ id, name, argument } satisfies Question, moving);
    return question.promise;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other thread answers with the types of its own calls
  return new Proxy(
    {},
    {
      get: (_, name) => (argument: unknown, moving?: readonly Transferable[]) =>
        ask(String(name), argument, moving),
    },
  ) as Remote<C>;
}
