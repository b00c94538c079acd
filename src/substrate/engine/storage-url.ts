/** Where a store lives: one parser for every address a user may write (spec.md#lance-chokepoints-catalog). */
import { homedir } from "node:os";
import { isAbsolute, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { PondError } from "../../base/errors.ts";
import { maskSecrets } from "../../base/secrets.ts";
import { trimEndOf } from "../../base/text.ts";
import { fromHome } from "../../base/files/folders.ts";

export interface StorageUrl {
  readonly kind: "local" | "memory" | "object";
  readonly scheme: "file" | "memory" | "s3" | "gs" | "az";
  /** What the engine is given: an absolute path, or the URL without a trailing slash. */
  readonly href: string;
  /** For people: never carries a secret. */
  readonly display: string;
}

export interface StorageUrlBase {
  readonly home?: string;
  readonly cwd?: string;
}

const OBJECT_SCHEMES = ["s3", "gs", "az"] as const;
const HINT =
  "use a directory (/path, ./path, ~/path, file:///path), s3://bucket/prefix, gs://bucket/prefix or az://container/prefix";

/** Parses an address of a store. Throws `validation_failed` with a hint. */
export function parseStorageUrl(text: string, base: StorageUrlBase = {}): StorageUrl {
  const trimmed = text.trim();
  if (trimmed === "") throw invalid("the storage address is empty");
  if (trimmed.includes("\0")) throw invalid("the storage address contains a NUL character");
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]+):\/\//.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === undefined) return local(expandHome(trimmed, base), base);
  if (scheme === "file") return local(fromFileUrl(trimmed), base);
  const rest = trimmed.slice(scheme.length + "://".length);
  if (scheme === "memory")
    return { kind: "memory", scheme, href: stripSlashes(`memory://${rest}`), display: maskSecrets(trimmed) };
  const object = OBJECT_SCHEMES.find((known) => known === scheme);
  if (object === undefined) throw invalid(`storage scheme ${scheme}:// is not supported`);
  return remote(object, rest);
}

function local(path: string, base: StorageUrlBase): StorageUrl {
  // An absolute path needs no working folder, which somebody may have deleted.
  const href = isAbsolute(path) ? resolve(path) : resolve(base.cwd ?? process.cwd(), path);
  return { kind: "local", scheme: "file", href, display: href };
}

function expandHome(path: string, base: StorageUrlBase): string {
  if (!path.startsWith("~")) return path;
  if (path !== "~" && path[1] !== "/" && path[1] !== sep)
    throw invalid(`${path}: only your own home directory (~/) is expanded`);
  return fromHome(path, base.home ?? homedir());
}

function fromFileUrl(text: string): string {
  try {
    return fileURLToPath(text);
  } catch (cause) {
    throw invalid(`${maskSecrets(text)} is not a local file address`, cause);
  }
}

function remote(scheme: (typeof OBJECT_SCHEMES)[number], rest: string): StorageUrl {
  const shown = maskSecrets(`${scheme}://${rest}`);
  if (shown !== `${scheme}://${rest}` || rest.includes("?") || rest.includes("#"))
    throw new PondError(
      "validation_failed",
      `${shown}: credentials and options do not belong in the storage address`,
      {
        hint: "put them into the storage section of the configuration or into the provider's environment variables",
      },
    );
  const bucket = /^[^/]*/.exec(rest)?.[0] ?? "";
  if (bucket === "") throw invalid(`${shown} names no ${scheme === "az" ? "container" : "bucket"}`);
  if (/(^|\/)\.\.?(\/|$)/.test(rest))
    throw invalid(`${shown}: "." and ".." have no meaning in an object store`);
  return { kind: "object", scheme, href: stripSlashes(`${scheme}://${rest}`), display: stripSlashes(shown) };
}

const stripSlashes = (url: string): string => (url.endsWith("://") ? url : trimEndOf(url, "/"));

const invalid = (message: string, cause?: unknown): PondError =>
  new PondError("validation_failed", message, { hint: HINT, cause });
