/** A service of embeddings on loopback, which answers as a test says: rightly, wrongly, late or not at all. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads what it knows to be there
  readonly body: any;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is, anything else as JSON. */
  readonly body: unknown;
}

type Answer = Reply | "cut" | "silence" | "endless";

export class EmbeddingServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Replies in turn; the last one for all that follow. */
  readonly #script: readonly ((asked: Asked) => Answer)[];
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  private constructor(script: readonly ((asked: Asked) => Answer)[]) {
    this.#script = script;
  }

  static async start(...script: readonly (Answer | ((asked: Asked) => Answer))[]): Promise<EmbeddingServer> {
    const server = new EmbeddingServer(
      script.map((each) => (typeof each === "function" ? each : () => each)),
    );
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const asked: Asked = {
      path: request.url ?? "",
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
    };
    this.asked.push(asked);
    const answer = this.#script[Math.min(this.asked.length, this.#script.length) - 1]?.(asked) ?? "cut";
    if (answer === "silence") return;
    if (answer === "endless") {
      const write = (): void => void (response.destroyed || response.write(" ".repeat(1 << 20), write));
      write();
      return;
    }
    if (answer === "cut") {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"data": [');
      response.destroy();
      return;
    }
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A vector that only its text has: its length and its first letters. */
export const vectorOf = (text: string): readonly number[] => [
  text.length + 1,
  text.charCodeAt(0) / 100,
  text.charCodeAt(1) / 100 || 0,
];

/** What a right server answers to OpenAI's request. */
export const openAiAnswer = ({ body }: Asked): Reply => ({
  body: {
    data: body.input.map((text: string, index: number) => ({ index, embedding: vectorOf(text) })),
  },
});
