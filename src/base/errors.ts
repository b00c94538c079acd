/**
 * The one error class of pond (spec.md#error-model). `code` is the closed set of the wire; finer causes
 * are `reason`. Throw for "cannot answer"; return issues for "answered, with holes".
 */

import { maskSecrets } from "./secrets.ts";
import type { Sentence } from "./sentence.ts";
import { plainText } from "./sentence.ts";

/** The closed set: it maps to an HTTP status, an MCP code and an exit code in one function each. */
export type ErrorCode =
  | "validation_failed"
  | "version_unsupported"
  | "not_found"
  | "namespace_unknown"
  | "storage_unavailable"
  | "conflict"
  | "internal";

/** A finer cause for programs that react to it; never a code of its own. */
export type ErrorReason =
  | "corrupt"
  | "unsupported"
  | "stale_cursor"
  | "limit"
  | "disk_full"
  | "busy"
  | "permission"
  | "exists"
  | "model_unavailable";

export interface ErrorDetails {
  /** What to do about it, with the next steps as data. */
  readonly hint?: Sentence;
  readonly reason?: ErrorReason;
  /** Facts for programs: the field, the value, the attempts. JSON only. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

const BRAND: unique symbol = Symbol.for("pond.error");

export class PondError extends Error {
  override readonly name: string = "PondError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** Message and hint with their next steps and fields as data, for a surface to word; `message` and `hint` are plain. */
  readonly sentences: { readonly message: Sentence; readonly hint?: Sentence };
  readonly reason: ErrorReason | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly [BRAND] = true;

  constructor(code: ErrorCode, message: Sentence, details: ErrorDetails = {}) {
    super(plainText(message), details.cause === undefined ? undefined : { cause: details.cause });
    const { hint } = details;
    this.code = code;
    this.hint = hint && plainText(hint);
    this.sentences = { message, ...(hint === undefined ? {} : { hint }) };
    this.reason = details.reason;
    this.data = details.data;
  }
}

/** Recognises the brand, not the class: two copies of the package still know each other's errors. */
export function isPondError(error: unknown): error is PondError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** The one shape of an error's body, whoever prints it; without secrets, wherever they came from. */
export function errorBody({ code, message, reason, hint, data }: PondError): {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
} {
  const details = Object.entries({ ...data, ...(reason && { reason }), ...(hint && { hint }) });
  return {
    error: {
      code,
      message: maskSecrets(message),
      details: Object.fromEntries(details.map(([name, value]) => [name, withoutSecretsIn(value)])),
    },
  };
}

function withoutSecretsIn(value: unknown): unknown {
  if (typeof value === "string") return maskSecrets(value);
  if (Array.isArray(value)) return value.map(withoutSecretsIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecretsIn(each)]));
}

/** The one place where an unknown throw becomes a PondError. It never claims that the caller is at fault. */
export function toPondError(error: unknown): PondError {
  if (isPondError(error)) return error;
  if (isSuppression(error)) return toPondError(error.suppressed);
  const errno = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (errno === "ENOSPC" || errno === "EDQUOT")
    return new PondError("storage_unavailable", `the disk is full: ${message}`, {
      reason: "disk_full",
      hint: "free some space and try again; nothing that was reported stored is lost",
      cause: error,
    });
  if (errno === "EACCES" || errno === "EPERM" || errno === "EROFS")
    return new PondError("storage_unavailable", message, {
      reason: "permission",
      hint:
        errno === "EROFS"
          ? "that disk is mounted read-only: name another place, or mount it writable"
          : "check the owner and mode of that path",
      cause: error,
    });
  return new PondError("internal", message, { cause: error });
}

/** A second error while the first one was being cleaned up after: what went wrong is the first. By name, see BRAND. */
function isSuppression(error: unknown): error is { readonly suppressed: unknown } {
  return error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
}

/** The `code` of a Node system error, where there is one. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** For what is only of use: the file system saying no is no reason to end a sync there. */
export function unlessFailed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
