/**
 * The one way to make folders. Node's own (`mkdir` with `recursive`) never returns where the system says "no such
 * file" of a folder whose parent is there: below /proc, and wherever else nobody can make one.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, PondError } from "./errors.ts";

/** Makes a folder with those above it and tells which it made, outermost first. */
export function makeFolders(path: string): readonly string[] {
  if (isFolder(path)) return [];
  const parent = dirname(path);
  const made = parent === path ? [] : makeFolders(parent);
  try {
    mkdirSync(path);
    return [...made, path];
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(path)) return made;
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new PondError("storage_unavailable", `no folder can be made in ${parent}, so ${path} cannot be`, {
      hint: "name a folder on a disk",
      cause: error,
    });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
