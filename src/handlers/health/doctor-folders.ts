/** What `doctor` says of the folders that pond writes to: the store's, that of its state, and that for temporary files. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { errnoOf, PondError, toPondError } from "../../base/errors.ts";
import { notAFolder } from "../../base/files/folders.ts";
import type { FolderUse } from "../../base/files/unusable.ts";
import { STATE, TEMPORARY, unusable } from "../../base/files/unusable.ts";
import type { Finding } from "../../wire/health.ts";
import type { Context } from "../context/context.ts";

const STORE: FolderUse = {
  what: "the store",
  fix: "it can be read, but nothing new can be stored: give yourself the right to write to it (ls -ld shows the owner), mount its disk writable, or name another place (storage.url)",
};

/** Why nothing of a local store can be read, where that is so. */
export async function refusalOf({ address }: Context): Promise<PondError | undefined> {
  const { folder } = address;
  if (folder === undefined) return undefined;
  const error: unknown = await access(folder, constants.R_OK | constants.X_OK).catch(
    (fault: unknown) => fault,
  );
  const isFile = (await stat(folder).catch(() => undefined))?.isDirectory() === false;
  if (isFile || errnoOf(error) === "ENOTDIR") return notAFolder(folder, error);
  if (!["EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return undefined;
  return new PondError("storage_unavailable", `the store, ${folder}, cannot be read`, {
    reason: "permission",
    hint: "give yourself the right to read it (ls -ld shows the owner), or name another place (storage.url)",
    cause: error,
  });
}

/** What of a store that cannot be read cannot be written to either is told as that. */
export async function folderFindings(
  { address, config }: Context,
  isRefused: boolean,
): Promise<readonly Finding[]> {
  const { folder } = address;
  const store = folder === undefined || isRefused ? [] : await faultsOf(folder, STORE, "may be absent");
  const state = await faultsOf(config.paths.state, STATE, "may be absent");
  const temporary = await faultsOf(tmpdir(), TEMPORARY, "must be there");
  return [...store, ...state, ...temporary];
}

async function faultsOf(
  folder: string,
  use: FolderUse,
  presence: "may be absent" | "must be there",
): Promise<readonly Finding[]> {
  const stats = await stat(folder).catch((error: unknown) => ({ error }));
  if ("error" in stats) {
    // What is not there yet is made when it is needed; where that fails, it is said then.
    return errnoOf(stats.error) === "ENOENT" && presence === "may be absent"
      ? []
      : [finding(folder, use, stats.error)];
  }
  if (!stats.isDirectory()) return [finding(folder, use, { code: "ENOTDIR" })];
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => [],
    (error: unknown) => [finding(folder, use, error)],
  );
}

function finding(folder: string, use: FolderUse, error: unknown): Finding {
  const { message, sentences } = toPondError(unusable(folder, use, error));
  return { topic: "folders", status: "warn", message, fix: sentences.hint ?? use.fix };
}
