/** Opens a pond for a program: settings as the command has them, each overridden by what the program gives. Prints nothing. */
import { PondError } from "../base/errors.ts";
import type { Environment } from "../config/environment.ts";
import { processEnvironment } from "../config/environment.ts";
import type { GivenSetting } from "../config/index.ts";
import { fromHome } from "../base/files/folders.ts";
import { loadConfig } from "../config/index.ts";
import type { Context } from "../handlers/index.ts";
import * as handlers from "../handlers/index.ts";
import { resolve } from "node:path";
import { checkNode } from "./node-version.ts";
import { checkHooks, checkOptions } from "./options.ts";
import type { OpenOptions, Pond, SyncHooks, TreeOptions } from "./pond.ts";
import type { RestoreRequest } from "../wire/restore.ts";
import type { SourceFilter } from "../wire/sources.ts";
import type { SyncRequest } from "../wire/sync.ts";
import type { Operation } from "./requests.ts";
import type { TreeRef, TreeSource } from "../model/tree/index.ts";
import type { GetRequest, IngestRequest, SearchRequest, SessionsRequest } from "../wire/index.ts";

/**
 * Opens a store, or makes it.
 *
 * @example
 * await using pond = await openPond({ store: "./sessions" });
 * const { sessions } = await pond.search({ query: "connection refused" });
 */
export async function openPond(options: OpenOptions = {}): Promise<Pond> {
  checkNode(process.versions.node);
  checkOptions(options);
  const { adapters = [] } = options;
  const given = adapters.length > 0 ? (await import("./given-adapters.ts")).givenAdapters(adapters) : [];
  const environment = environmentOf(options);
  const config = await loadConfig({ environment, given: settingsOf(options) });
  const { state } = options;
  const paths = state === undefined ? config.paths : { ...config.paths, state: pathOf(state, environment) };
  const context = handlers.createContext({
    config: { ...config, paths },
    machine: environment,
    adapters: given,
    signal: options.signal ?? new AbortController().signal,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  try {
    await context.store();
  } catch (error) {
    await context[Symbol.asyncDispose]();
    throw error;
  }
  return new OpenedPond(context);
}

class OpenedPond implements Pond {
  readonly #context: Context;
  readonly #inFlight = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  sync(request: SyncRequest = {}, hooks: SyncHooks = {}) {
    return this.#run("sync", request, (given) => {
      checkHooks(hooks);
      return handlers.sync(this.#context, given, hooks);
    });
  }

  ingest(request: IngestRequest) {
    return this.#run("ingest", request, (given) => handlers.ingest(this.#context, given));
  }

  search(request: SearchRequest) {
    return this.#run("search", request, (given) => handlers.search(this.#context, given));
  }

  get(request: GetRequest) {
    return this.#run("get", request, (given) => handlers.get(this.#context, given));
  }

  sessions(request: SessionsRequest = {}) {
    return this.#run("sessions", request, (given) => handlers.listSessions(this.#context, given));
  }

  restore(request: RestoreRequest) {
    return this.#run("restore", request, (given) => handlers.restore(this.#context, given));
  }

  verify(request: SourceFilter = {}) {
    return this.#run("verify", request, (given) => handlers.verify(this.#context, given));
  }

  tree(options: TreeOptions = {}): Promise<TreeSource<TreeRef>> {
    return this.#run("tree", options, async ({ payloads = true }) => {
      const tree = (await this.#context.store()).tree({ payloads });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- opaque outside: a program hands back only those that it was given
      return this.#whileOpen(tree as unknown as TreeSource<TreeRef>);
    });
  }

  /** Its reads are calls of this pond: closing waits for them, and refuses those that come after. */
  #whileOpen(tree: TreeSource<TreeRef>): TreeSource<TreeRef> {
    return {
      session: (id) => this.#track(() => tree.session(id)),
      children: (parents) => this.#track(() => tree.children(parents)),
      messages: (session) => this.#track(() => tree.messages(session)),
      parts: (scope) => this.#track(() => tree.parts(scope)),
      locate: (nodes) => this.#track(() => tree.locate(nodes)),
      bodies: (leaves) => this.#track(() => tree.bodies(leaves)),
    };
  }

  adapters(request: SourceFilter = {}) {
    return this.#run("adapters", request, (given) => handlers.listAdapters(this.#context, given));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    await this.#context[Symbol.asyncDispose]();
  }

  #run<Request extends object, Answer>(
    operation: Operation,
    request: Request,
    act: (request: Request) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#track(() => checked(operation, request).then(act));
  }

  async #track<Answer>(start: () => Promise<Answer>): Promise<Answer> {
    if (this.#closing !== undefined)
      throw new PondError("validation_failed", "this pond is closed", {
        hint: "open it again with openPond",
      });
    const running = start();
    this.#inFlight.add(running);
    try {
      return await running;
    } finally {
      this.#inFlight.delete(running);
    }
  }
}

/** The request without what is undefined, which programs without types give where they mean nothing. */
async function checked<Request extends object>(operation: Operation, request: Request): Promise<Request> {
  const { checkRequest } = await import("./requests.ts");
  const given = isPlain(request) ? withoutUndefined(request) : request;
  checkRequest(operation, given);
  return given;
}

/** An object literal: what has a class is left for the check to refuse. */
const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function withoutUndefined<T extends object>(object: T): T {
  const entries = Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]: [string, unknown]) => [name, isPlain(value) ? withoutUndefined(value) : value]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what is undefined is left out
  return Object.fromEntries(entries) as T;
}

function environmentOf({ env, home }: OpenOptions): Environment {
  const own = processEnvironment();
  return { ...own, env: env ?? own.env, home: home ?? own.home };
}

/** Named as the program knows them: an error says which option is wrong. */
function settingsOf({ store, namespace }: OpenOptions): GivenSetting[] {
  return [
    ...(store === undefined ? [] : [{ key: "storage.url", name: "store", text: store } as const]),
    ...(namespace === undefined
      ? []
      : [{ key: "storage.namespace", name: "namespace", text: namespace } as const]),
  ];
}

const pathOf = (path: string, { cwd, home }: Environment): string => resolve(cwd, fromHome(path, home));
