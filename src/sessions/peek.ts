/**
 * What can be told of a store without opening it. A door of its own beside index.ts: it loads neither the tables nor
 * the engine, so that a sync with nothing to do is fast.
 */
import { join } from "node:path";
import { isPondError } from "../base/errors.ts";
import type { StorePeek } from "../substrate/index.ts";
import { peekStore } from "../substrate/local/peek.ts";
import { parseStorageUrl } from "../substrate/engine/storage-url.ts";
import type { Storage } from "./store.ts";

/** Tables whose rows are read from sources; all others can be made of them. */
const CANONICAL = ["sessions", "messages", "parts", "sources"];

/**
 * Identity, marks of a reader and table versions: of a local store without the engine, of an object store with three
 * requests, where versions say nothing. Undefined where there is none.
 */
export async function peekSessionStore(
  { url, namespace, options }: Storage,
  reader: string | undefined,
): Promise<StorePeek | undefined> {
  const parsed = parseStorageUrl(url);
  if (parsed.kind === "object") {
    const { inspectStore } = await import("../substrate/index.ts");
    const found = await inspectStore(url, reader, { namespace, storageOptions: options }).catch(unlessAbsent);
    return found === undefined ? undefined : { ...found, versions: {}, commitOf: () => undefined };
  }
  const peek = await peekStore(parsed, { namespace, reader });
  if (peek === undefined) return undefined;
  const versions = Object.entries(peek.versions).filter(([table]) => CANONICAL.includes(table));
  return { ...peek, versions: Object.fromEntries(versions) };
}

function unlessAbsent(error: unknown): undefined {
  if (isPondError(error) && error.code === "not_found") return undefined;
  throw error;
}

/** The address for people: without its secrets. */
export function displayUrl(url: string): string {
  return parseStorageUrl(url).display;
}

/** True for a store that ends with its process. */
export function isInMemory(url: string): boolean {
  return parseStorageUrl(url).kind === "memory";
}

/** The folder that holds a local store's tables, or undefined for an object store. */
export function localFolder(url: string, namespace: string): string | undefined {
  const parsed = parseStorageUrl(url);
  return parsed.kind === "local" ? join(parsed.href, namespace) : undefined;
}
