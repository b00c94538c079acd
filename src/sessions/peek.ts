/**
 * What can be told of a store without opening it. A door of its own beside index.ts: it loads neither the tables nor
 * the engine, so that a sync with nothing to do is fast.
 */
import { join } from "node:path";
import type { StorePeek } from "../substrate/index.ts";
import { peekStore } from "../substrate/local/peek.ts";
import { parseStorageUrl } from "../substrate/storage-url.ts";

/** Identity and table versions of a local store, read without the engine; undefined where that is not possible. */
export function peekSessionStore(url: string, namespace: string): Promise<StorePeek | undefined> {
  return peekStore(parseStorageUrl(url), namespace);
}

/** The address for people: without its secrets. */
export function displayUrl(url: string): string {
  return parseStorageUrl(url).display;
}

/** The folder that holds a local store's tables, or undefined for an object store. */
export function localFolder(url: string, namespace: string): string | undefined {
  const parsed = parseStorageUrl(url);
  return parsed.kind === "local" ? join(parsed.href, namespace) : undefined;
}
