/**
 * Bounded retry with exponential backoff and full jitter around every engine call
 * (spec.md#lance-retry-jitter), and the only translation of engine errors: they all carry one code, so
 * their text decides.
 */
import type { Clock } from "../../base/clock.ts";
import { isPondError, PondError } from "../../base/errors.ts";
import type { Sentence } from "../../base/sentence.ts";
import { sentence } from "../../base/sentence.ts";
import { withoutSecrets } from "../../base/secrets.ts";

export interface RetryPolicy {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Calls in all, the first one included. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** What no error may hold: the engine's own texts quote addresses and headers. */
  readonly secrets?: readonly string[];
}

export type Fault =
  | "conflict"
  | "stale"
  | "unreachable"
  | "disk_full"
  | "permission"
  | "no_bucket"
  | "no_store"
  | "credentials"
  | "plain_http"
  | "missing"
  | "exists"
  | "corrupt"
  | "bad_pattern"
  | "other";

/** First match wins. Texts were collected from the engine itself; see retry.test.ts. */
const FAULTS: readonly (readonly [Fault, RegExp])[] = [
  ["bad_pattern", /regex parse error|Regular expression did not compile|Compiled regex exceeds size limit/i],
  ["disk_full", /No space left on device|os error 28\b|Disk quota exceeded|os error 122\b/i],
  [
    "conflict",
    /Retryable commit conflict|Too many concurrent writers|preempted by concurrent transaction|incompatible with concurrent transaction|commit conflict|merge insert timed out/i,
  ],
  ["plain_http", /URL scheme is not allowed|scheme is not allowed|BadScheme/i],
  [
    "no_bucket",
    /NoSuchBucket|ContainerNotFound|The specified bucket does not exist|specified container does not exist/i,
  ],
  [
    "credentials",
    /InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|AuthenticationFailed|AuthorizationFailure|InvalidAuthenticationInfo|Unauthenticated|PermissionDenied|40[13] (?:Unauthorized|Forbidden)|status: 40[13]|Generic \w+ error: (?:Error getting credentials|Missing)|169\.254\.169\.254|metadata\.google\.internal|no storage account|Failed to resolve region|Account (?:name )?must be (?:specified|set)|CredentialsNotLoaded|the credential provider was not enabled/i,
  ],
  [
    "permission",
    /Permission denied|os error 13\b|Read-only file system|os error 30\b|Operation not permitted|os error 1\b/i,
  ],
  [
    "unreachable",
    /Connection refused|Connection reset|connection closed|IncompleteMessage|broken pipe|dns error|error sending request|error trying to connect|tcp connect|operation timed out|request or response body|status: (?:5\d\d|429)|(?:5\d\d) (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)|429 Too Many Requests|SlowDown|ServerBusy|failed after [\d.]+m?s|after \d+ retries/i,
  ],
  ["missing", /Table '.*' was not found|Dataset at path .* was not found/is],
  [
    "stale",
    /Not found: .*\.(?:lance|idx|manifest|txn|arrow|bin)\b|Object at location .* not found|No such file or directory/is,
  ],
  ["exists", /already exists/i],
  [
    "corrupt",
    /Invalid range \d|file size is too small|failed to fill whole buffer|magic number|does not (?:contain|have) (?:the )?magic|failed to decode Protobuf|invalid wire type|Encountered corrupt (?:data|file)|Manifest .* (?:invalid|corrupt)|Invalid (?:lance )?file/i,
  ],
  // A status that an object store explains by a code of its own, which would have matched above.
  ["no_store", /status: 4\d\d/],
];

const READ_ONLY = /Read-only file system|os error 30\b/i;

/** Calls in all per fault, within the policy's own bound; faults not listed are not retried. */
const RETRIED: Readonly<Partial<Record<Fault, number>>> = {
  conflict: Infinity,
  unreachable: Infinity,
  stale: 3,
};

export function faultOf(error: unknown): Fault {
  if (isPondError(error)) return "other";
  const text = error instanceof Error ? error.message : String(error);
  return FAULTS.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";
}

export interface Attempted<T> {
  readonly value: T;
  /** Calls that it took. */
  readonly attempts: number;
}

export interface EngineCall<T> {
  /** What was tried, for messages: "write to messages". */
  readonly what: string;
  /** Where, for messages; free of secrets. */
  readonly where: string;
  readonly run: () => Promise<T>;
  /** Runs before a retry, for example to look for a newer version. */
  readonly beforeRetry?: (fault: Fault) => Promise<void>;
}

/** Runs one engine call. Throws a PondError when it cannot succeed or has used up its attempts. */
export async function withRetry<T>(policy: RetryPolicy, call: EngineCall<T>): Promise<Attempted<T>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return { value: await call.run(), attempts: attempt };
    } catch (error) {
      const fault = faultOf(error);
      if (attempt >= attemptsFor(policy, fault))
        throw engineError(error, { ...call, attempts: attempt, secrets: policy.secrets ?? [] });
      await policy.clock.sleep(backoff(policy, attempt));
      await call.beforeRetry?.(fault);
    }
  }
}

/** Calls in all that a fault is worth. */
export function attemptsFor({ attempts }: RetryPolicy, fault: Fault): number {
  return Math.min(attempts, RETRIED[fault] ?? 1);
}

/** Full jitter: anything between nothing and the exponential bound. */
export function backoff({ baseMs, capMs, random }: RetryPolicy, attempt: number): number {
  return Math.floor(random() * Math.min(capMs, baseMs * 2 ** (attempt - 1)));
}

interface Context {
  readonly what: string;
  readonly where: string;
  readonly attempts: number;
  readonly secrets?: readonly string[];
}

/** The engine's text goes to `cause`, without its secrets: it is a page of Rust, with source paths in it. */
export function engineError(thrown: unknown, { what, where, attempts, secrets = [] }: Context): PondError {
  if (isPondError(thrown)) return thrown;
  const fault = faultOf(thrown);
  const error = withoutSecrets(thrown, secrets);
  const data = { attempts, where };
  const unavailable = (
    message: string,
    hint: Sentence,
    reason?: "disk_full" | "permission" | "corrupt",
  ): PondError =>
    new PondError("storage_unavailable", `${what}: ${message}`, {
      hint,
      data,
      cause: error,
      ...(reason === undefined ? {} : { reason }),
    });
  switch (fault) {
    // spec.md#lance-conflict
    case "conflict":
      return new PondError("conflict", `${what}: other writers were faster ${attempts} times`, {
        hint: "run it again; nothing was written twice",
        reason: "busy",
        data,
        cause: error,
      });
    case "disk_full":
      return unavailable(
        `the disk of ${where} is full`,
        "free some space and run it again; nothing that was reported stored is lost",
        "disk_full",
      );
    case "permission":
      return READ_ONLY.test(String(thrown))
        ? unavailable(`${where} is on a disk that is mounted read-only`, "mount it writable", "permission")
        : unavailable(`no permission on ${where}`, "check the owner and mode of that path", "permission");
    case "credentials":
      return unavailable(
        `${where} refuses the credentials or has none`,
        "check the keys and the region in the storage section of the configuration",
        "permission",
      );
    case "no_bucket":
      return unavailable(
        `the bucket or container of ${where} does not exist`,
        "create it first, or correct the storage address",
      );
    case "no_store":
      return unavailable(
        `the server behind ${where} is not an object store, or not the right one (${shortCause(error)})`,
        "check the endpoint and the name of the bucket in the storage section of the configuration",
      );
    case "plain_http":
      return unavailable(
        `${where} is a plain http endpoint, which is not allowed by default`,
        'set allow_http = "true" in the storage options',
      );
    case "unreachable":
      return unavailable(
        `cannot reach ${where} (${shortCause(error)})`,
        "check the endpoint and the network, then run it again",
      );
    case "stale":
      return unavailable(
        `files of ${where} are missing (${shortCause(error)})`,
        sentence`run ${{ do: "repair" }}`,
        "corrupt",
      );
    case "corrupt":
      return unavailable(
        `${where} contains a damaged file (${shortCause(error)})`,
        sentence`run ${{ do: "repair" }}`,
        "corrupt",
      );
    case "missing":
      return new PondError("not_found", `${what}: no such table in ${where}`, {
        hint: sentence`run ${{ do: "sync" }} first`,
        data,
        cause: error,
      });
    case "exists":
      return new PondError("conflict", `${what}: it already exists in ${where}`, {
        reason: "exists",
        data,
        cause: error,
      });
    case "bad_pattern":
      return new PondError("validation_failed", `${what}: the regular expression is not valid`, {
        hint: "the syntax is that of Rust's regex: no look-around, no back-references",
        data,
        cause: error,
      });
    case "other":
      return new PondError("internal", `${what}: ${shortCause(error)}`, { data, cause: error });
  }
}

/** The telling words of an engine error: the status or system error if there is one, else its first line. */
function shortCause(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const telling =
    /Connection refused|Connection reset|dns error|operation timed out|status: \d{3}|\b[45]\d\d [A-Z][A-Za-z ]+|Not found: [^\s,]+/i.exec(
      text,
    )?.[0];
  return (telling ?? text.split("\n")[0] ?? "").replace(/, \/\S+\.rs:\d+:\d+.*/s, "").slice(0, 200);
}
