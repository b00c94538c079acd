/** What is already where the files of a restore belong (spec.md#adapter-restore-staged): nothing, the same, or something else. */
import { lstat, readFile, readlink, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { RestoredFile } from "../../../adapters/restore.ts";
import { compareFile, isEqualFile, printFile } from "../../../adapters/restore.ts";
import { isRawLine } from "../../../adapters/index.ts";
import { errnoOf, PondError } from "../../../base/errors.ts";
import { sentence } from "../../../base/sentence.ts";
import { equalJson, tryParseJson } from "../../../base/json/json.ts";

export interface Target {
  readonly file: RestoredFile;
  readonly target: string;
}

export function targetsOf(out: string, files: readonly RestoredFile[]): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const file of files) {
    const target = insideOf(out, file.path);
    if (targets.has(target))
      throw new PondError("internal", `two files of this restore are named ${JSON.stringify(file.path)}`, {
        reason: "corrupt",
        hint: "restore its sessions one by one; please report this with the session's client and version",
      });
    targets.set(target, { file, target });
  }
  return [...targets.values()];
}

/** A stored path is data: it must not leave the folder that the user named. */
export function insideOf(out: string, path: string): string {
  const target = join(out, path);
  if (target === out || !target.startsWith(join(out, "/")))
    throw new PondError(
      "validation_failed",
      `a stored file name leaves the target folder: ${JSON.stringify(path)}`,
      {
        reason: "corrupt",
      },
    );
  return target;
}

/**
 * A link inside the target leads where nobody asked for (spec.md#adapter-restore-links). The target itself may be one, or be
 * reached through one.
 */
export async function refuseLinks(out: string, target: string): Promise<void> {
  let folder = out;
  for (const name of relative(out, dirname(target)).split(sep)) {
    if (name === "") continue;
    folder = join(folder, name);
    const stats = await lstat(folder).catch(() => undefined);
    if (stats?.isSymbolicLink() !== true) continue;
    const leadsTo = await readlink(folder).catch(() => "another place");
    throw new PondError(
      "validation_failed",
      `${folder} is a link to ${leadsTo}, and a restore writes through no link inside its target`,
      {
        hint: sentence`nothing was written; restore into another folder with ${{ field: "out" }}, or put the folder itself in the place of the link`,
        data: { link: folder },
      },
    );
  }
}

/** What is where a file belongs. `longer`: all of its records, and more that the client wrote behind them. */
export type Presence = "absent" | "equal" | "longer" | "other";

export async function presenceOf({ file, target }: Target): Promise<Presence> {
  // Codex compresses what was not touched for a week: that is the same file under another name.
  const compressed = `${target}.zst`;
  const path = (await isAnythingAt(target)) ? target : compressed;
  if (path === compressed && !(await isAnythingAt(compressed))) return "absent";
  if (await isEqualAt(file, path)) return "equal";
  return (await isLongerAt(file, path)) ? "longer" : "other";
}

function isAnythingAt(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return false;
      throw error;
    },
  );
}

/** False when nothing is there; a file that is there and differs is refused. */
export async function isInPlace(one: Target, { mayBeLonger }: Reuse = {}): Promise<boolean> {
  const presence = await presenceOf(one);
  if (presence === "absent") return false;
  if (presence === "equal" || (presence === "longer" && mayBeLonger === true)) return true;
  throw new PondError(
    "validation_failed",
    `${one.target} already exists with other content, and pond never overwrites a file`,
    {
      reason: "exists",
      hint: sentence`nothing was written; restore into another folder with ${{ field: "out" }}, or move that file away`,
      data: { path: one.target },
    },
  );
}

export interface Reuse {
  /** A session that its client has continued is there, too. */
  readonly mayBeLonger?: boolean | undefined;
}

/** By bytes, or by value where somebody printed the same records in another way. A link that leads nowhere is not. */
async function isEqualAt(file: RestoredFile, target: string): Promise<boolean> {
  const stats = await stat(target).catch(() => undefined);
  if (stats?.isFile() !== true) return false;
  const bytes = await readFile(target);
  if (Buffer.compare(bytes, printFile(file)) === 0) return true;
  // A line that is still being written is not ours; one that is whole and only lacks its newline is.
  if (file.kind === "jsonl" && !target.endsWith(".zst") && bytes.at(-1) !== 0x0a)
    return hasRecords(file, bytes.toString("utf8"));
  return isEqualFile(await compareFile(file, target));
}

function hasRecords({ records }: RestoredFile & { readonly kind: "jsonl" }, text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return (
    lines.length === records.length &&
    lines.every((line, at) => {
      const [parsed, record] = [tryParseJson(line), records[at]];
      return (
        parsed.kind === "value" &&
        record !== undefined &&
        !isRawLine(record) &&
        equalJson(parsed.value, record)
      );
    })
  );
}

async function isLongerAt(file: RestoredFile, target: string): Promise<boolean> {
  if (file.kind !== "jsonl" || file.records.length === 0) return false;
  if ((await stat(target).catch(() => undefined))?.isFile() !== true) return false;
  const { difference } = await compareFile(file, target);
  // Nothing but a line that is still being written is behind them, or whole ones are.
  if (difference === undefined) return true;
  return difference.record === file.records.length && difference.restored === undefined;
}

/** `isClients`: they are where the client looks. */
export function allThere(
  targets: readonly Target[],
  { last, isClients }: { readonly last: string | undefined; readonly isClients: boolean },
): PondError {
  const shown = targets.find(({ file }) => file.path === last) ?? targets[0];
  return new PondError(
    "validation_failed",
    `${shown?.target ?? ""} already exists, and pond never overwrites a file`,
    {
      reason: "exists",
      hint: sentence`nothing was written; the session is there${isClients ? sentence`, and ${{ do: "resume" }} opens it` : ""}; to get one more copy, restore into another folder with ${{ field: "out" }}`,
      data: { path: shown?.target ?? "" },
    },
  );
}
