/** A folder that pond needs and cannot use: what it is for, where it is, why not, and the fix (spec.md#error-model). */
import type { ErrorCode, ErrorReason } from "../errors.ts";
import { errnoOf, isPondError, PondError } from "../errors.ts";
import type { Sentence } from "../sentence.ts";

/** What a folder is for, and how to name another one. */
export interface FolderUse {
  readonly what: string;
  readonly fix: Sentence;
  /** `storage_unavailable` where nothing is said, which ends a run. */
  readonly code?: ErrorCode;
}

export const TEMPORARY: FolderUse = {
  what: "the folder for temporary files",
  fix: "set TMPDIR (on Windows TMP) to a folder that exists, is writable and has space",
};

export const STATE: FolderUse = {
  what: "the folder for what pond keeps beside the store",
  fix: "make it a writable folder with free space, or set XDG_STATE_HOME to another one",
};

const WHY: Readonly<Record<string, readonly [string, ErrorReason?]>> = {
  ENOENT: ["is not there"],
  ENOTDIR: ["is not a folder"],
  EEXIST: ["is not a folder"],
  EACCES: ["cannot be written to", "permission"],
  EPERM: ["cannot be written to", "permission"],
  EROFS: ["is on a disk that is mounted read-only", "permission"],
  ENOSPC: ["is on a disk that is full", "disk_full"],
  EDQUOT: ["is on a disk that is full", "disk_full"],
};

/** The error to throw; one that says nothing of the folder stays as it is. */
export function unusable(folder: string, use: FolderUse, cause: unknown): unknown {
  const { what, fix: hint, code = "storage_unavailable" } = use;
  // A part of the path that is in the way was named already.
  if (isPondError(cause) && cause.code === "storage_unavailable")
    return new PondError(code, `${what} cannot be used: ${cause.message}`, {
      ...(cause.reason === undefined ? {} : { reason: cause.reason }),
      hint,
      cause,
    });
  const [why, reason] = WHY[errnoOf(cause) ?? ""] ?? [];
  if (why === undefined) return cause;
  return new PondError(code, `${what}, ${folder}, ${why}`, {
    ...(reason === undefined ? {} : { reason }),
    hint,
    cause,
  });
}
