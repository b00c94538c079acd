/**
 * Who reads: a random id of this state folder, made once. It tells the sources of one machine from those of another that
 * writes into the same store (spec.md#sources-state).
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { makeFolders, PRIVATE_FILE } from "../base/files/folders.ts";
import { STATE, unusable } from "../base/files/unusable.ts";

export function readerId(stateFolder: string): string {
  const path = join(stateFolder, "reader");
  const known = readId(path);
  if (known !== undefined) return known;
  const id = randomBytes(12).toString("base64url");
  const draft = `${path}.${process.pid}`;
  try {
    makeFolders(stateFolder);
    writeFileSync(draft, id, { mode: PRIVATE_FILE });
    // A link appears with its content or not at all, and for one process only.
    linkSync(draft, path);
    return id;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw unusable(stateFolder, STATE, error);
    return readId(path) ?? id;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The id of this state folder if it has one: who only looks makes none. */
export function knownReaderId(stateFolder: string): string | undefined {
  return readId(join(stateFolder, "reader"));
}

function readId(path: string): string | undefined {
  try {
    const id = readFileSync(path, "utf8").trim();
    return /^[\w-]{8,64}$/.test(id) ? id : undefined;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
