/**
 * What a source is called where its client's own name for it does not do (spec.md#sync-places): the same by whatever
 * path it was found, and no other source's.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import type { Place } from "./reading.ts";
import { valueHash } from "../../../base/json/value-hash.ts";

/** A session id that no other source has, for what nothing names but its place. */
export function copyId(id: string, source: string): string {
  return `${id}@${valueHash(source).slice(0, 8)}`;
}

/** In a place of the client's own the key of the source, elsewhere its path on this machine. */
export function nameOfSource({ path: place, origin }: Place, key: string): string {
  if (origin === "default" || origin === "environment") return key;
  const path = join(place, key);
  return join(realFolder(dirname(path)), basename(path)).replaceAll(sep, "/");
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
