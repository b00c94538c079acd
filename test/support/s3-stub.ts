/**
 * A small S3 on loopback for tests: objects in memory, no signatures checked. It can ignore `If-None-Match`
 * as some servers do, answer late, and fail on purpose.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3StubOptions {
  readonly bucket?: string;
  /** Overwrite where a conditional PUT should be refused. */
  readonly ignoreConditions?: boolean;
  /** Waits this long before each answer, so that requests overlap. */
  readonly latencyMs?: number;
  /** A status to answer instead, for example 503; undefined to go on. */
  readonly fail?: (method: string, key: string) => number | undefined;
  /** The connection is reset instead of an answer: before anything is done, or after it. */
  readonly reset?: (method: string, key: string) => "before" | "after" | undefined;
}

export interface S3Stub extends AsyncDisposable {
  readonly endpoint: string;
  readonly url: string;
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly requests: readonly string[];
  /** What the engine needs to reach it. */
  readonly storageOptions: Readonly<Record<string, string>>;
}

interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly modified: Date;
}

export async function s3Stub(options: S3StubOptions = {}): Promise<S3Stub> {
  const bucket = options.bucket ?? "pond";
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const requests: string[] = [];

  const put = (key: string, body: Buffer, ifAbsent: boolean): string | undefined => {
    if (ifAbsent && options.ignoreConditions !== true && objects.has(key)) return undefined;
    const etag = `"${randomUUID()}"`;
    objects.set(key, { body, etag, modified: new Date() });
    return etag;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://stub");
    const [, name = "", ...path] = url.pathname.split("/");
    const key = decodeURIComponent(path.join("/"));
    const query = url.searchParams;
    const method = request.method ?? "GET";
    const body = await readBody(request);
    requests.push(`${method} ${key}${url.search}`);
    if (options.latencyMs !== undefined) await new Promise((done) => setTimeout(done, options.latencyMs));
    const failure = options.fail?.(method, key);
    if (failure !== undefined) return xmlError(response, failure, "InternalError");
    const reset = options.reset?.(method, key);
    if (reset === "before") return void request.socket.resetAndDestroy();
    // What would be answered goes nowhere.
    if (reset === "after") response.end = () => (request.socket.resetAndDestroy(), response);
    if (name !== bucket) return xmlError(response, 404, "NoSuchBucket");
    if (method === "GET" && key === "") return list(query, response);
    if (method === "POST" && query.has("delete")) return deleteMany(body, response);
    if (query.has("uploads") || query.has("uploadId"))
      return multipart({ method, key, query, body, request }, response);
    if (method === "PUT") return write(key, body, { request, response });
    if (method === "DELETE") {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    return read({ method, key, request }, response);
  }

  function write(
    key: string,
    body: Buffer,
    io: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): void {
    const source = io.request.headers["x-amz-copy-source"];
    const copied =
      typeof source === "string"
        ? objects.get(decodeURIComponent(source).replace(/^\/?[^/]+\//, ""))
        : undefined;
    const etag = put(key, copied?.body ?? body, io.request.headers["if-none-match"] === "*");
    if (etag === undefined) return xmlError(io.response, 412, "PreconditionFailed");
    if (copied === undefined) return void io.response.writeHead(200, { etag }).end();
    io.response.writeHead(200).end(`<CopyObjectResult><ETag>${etag}</ETag></CopyObjectResult>`);
  }

  function read(
    ask: { readonly method: string; readonly key: string; readonly request: IncomingMessage },
    response: ServerResponse,
  ): void {
    const object = objects.get(ask.key);
    if (object === undefined) return xmlError(response, 404, "NoSuchKey");
    const { body, etag, modified } = object;
    const headers = { etag, "last-modified": modified.toUTCString(), "accept-ranges": "bytes" };
    const range = /^bytes=(\d*)-(\d*)$/.exec(ask.request.headers.range ?? "");
    const start =
      range === null ? 0 : range[1] === "" ? Math.max(0, body.length - Number(range[2])) : Number(range[1]);
    const end =
      range === null || range[1] === "" || range[2] === ""
        ? body.length
        : Math.min(body.length, Number(range[2]) + 1);
    const part = body.subarray(start, end);
    response.writeHead(range === null ? 200 : 206, {
      ...headers,
      "content-length": part.length,
      ...(range === null ? {} : { "content-range": `bytes ${start}-${end - 1}/${body.length}` }),
    });
    response.end(ask.method === "HEAD" ? undefined : part);
  }

  function list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get("prefix") ?? "";
    const delimiter = query.get("delimiter") ?? "";
    const after = query.get("continuation-token") ?? query.get("start-after") ?? "";
    const limit = Number(query.get("max-keys") ?? 1000);
    const names = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const prefixes = new Set<string>();
    const contents: string[] = [];
    let last: string | undefined;
    for (const key of names) {
      if (contents.length + prefixes.size >= limit) break;
      last = key;
      const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      const object = objects.get(key);
      if (cut >= 0) prefixes.add(key.slice(0, cut + delimiter.length));
      else if (object !== undefined)
        contents.push(
          `<Contents><Key>${xml(key)}</Key><Size>${object.body.length}</Size><LastModified>${object.modified.toISOString()}</LastModified><ETag>${xml(object.etag)}</ETag></Contents>`,
        );
    }
    const truncated = last !== undefined && last !== names.at(-1);
    response
      .writeHead(200, { "content-type": "application/xml" })
      .end(
        `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><Prefix>${xml(prefix)}</Prefix><KeyCount>${contents.length}</KeyCount><MaxKeys>${limit}</MaxKeys><IsTruncated>${truncated}</IsTruncated>${truncated ? `<NextContinuationToken>${xml(last ?? "")}</NextContinuationToken>` : ""}${contents.join("")}${[...prefixes].map((each) => `<CommonPrefixes><Prefix>${xml(each)}</Prefix></CommonPrefixes>`).join("")}</ListBucketResult>`,
      );
  }

  function deleteMany(body: Buffer, response: ServerResponse): void {
    const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => unxml(match[1] ?? ""));
    for (const key of keys) objects.delete(key);
    const deleted = keys.map((key) => `<Deleted><Key>${xml(key)}</Key></Deleted>`).join("");
    response
      .writeHead(200, { "content-type": "application/xml" })
      .end(`<DeleteResult>${deleted}</DeleteResult>`);
  }

  function multipart(
    ask: {
      readonly method: string;
      readonly key: string;
      readonly query: URLSearchParams;
      readonly body: Buffer;
      readonly request: IncomingMessage;
    },
    response: ServerResponse,
  ): void {
    if (ask.query.has("uploads")) {
      const id = randomUUID();
      uploads.set(id, new Map());
      return void response
        .writeHead(200)
        .end(
          `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${xml(ask.key)}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        );
    }
    const id = ask.query.get("uploadId") ?? "";
    const parts = uploads.get(id);
    if (parts === undefined) return xmlError(response, 404, "NoSuchUpload");
    if (ask.method === "PUT") {
      const number = Number(ask.query.get("partNumber"));
      parts.set(number, ask.body);
      return void response.writeHead(200, { etag: `"${number}"` }).end();
    }
    uploads.delete(id);
    if (ask.method === "DELETE") return void response.writeHead(204).end();
    const whole = Buffer.concat([...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part));
    const etag = put(ask.key, whole, ask.request.headers["if-none-match"] === "*");
    if (etag === undefined) return xmlError(response, 412, "PreconditionFailed");
    response
      .writeHead(200)
      .end(
        `<CompleteMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${xml(ask.key)}</Key><ETag>${xml(etag)}</ETag></CompleteMultipartUploadResult>`,
      );
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => xmlError(response, 500, String(error)));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    url: `s3://${bucket}/store`,
    objects,
    requests,
    storageOptions: {
      aws_endpoint: endpoint,
      allow_http: "true",
      aws_access_key_id: "key",
      aws_secret_access_key: "secret",
      aws_region: "us-east-1",
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function xmlError(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(
    `<?xml version="1.0"?><Error><Code>${xml(code)}</Code><Message>${xml(code)}</Message></Error>`,
  );
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const unxml = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
