/**
 * The names of Codex's own files. A rollout is `rollout-<local time>-<thread id>.jsonl`, after a revert
 * `rollout-<local time>-<thread id>_<rollout id>.jsonl`; the client compresses old ones to `.jsonl.zst`.
 */
import { UUID_PATTERN } from "../../base/text.ts";

/** The brand: `source_agent` of a session, and the part before the slash for its subagents. */
export const ADAPTER = "codex-cli";

/** Thread names, one JSON line a change, beside the folder of sessions. */
export const SESSION_INDEX = "session_index.jsonl";

/** Codex has one file for the names of all threads, and reads no name from a rollout (its session_index.rs, August 2026). */
export const TITLE_LOSS = `Codex keeps names in ${SESSION_INDEX}, a file of its own that pond does not write to; /rename sets it there`;

const COMPRESSED = ".zst";
const ROLLOUT = new RegExp(`^rollout-.*?(${UUID_PATTERN})(?:_(${UUID_PATTERN}))?\\.jsonl?$`, "i");

export interface RolloutName {
  readonly threadId: string;
  /** Of a reverted thread: the thread keeps its id, the file has one of its own. */
  readonly rolloutId?: string;
}

/** The ids in a file's own name, or undefined when the client does not name files so. */
export function parseRolloutName(name: string): RolloutName | undefined {
  const match = ROLLOUT.exec(name);
  if (match?.[1] === undefined) return undefined;
  return match[2] === undefined ? { threadId: match[1] } : { threadId: match[1], rolloutId: match[2] };
}

/** The session that a natively named file holds. */
export function sessionIdOf(name: RolloutName): string {
  return name.rolloutId === undefined ? name.threadId : `${name.threadId}_${name.rolloutId}`;
}

export function isCompressed(path: string): boolean {
  return path.endsWith(COMPRESSED);
}

/** The name that a rollout has in either form: compression does not make it another source. */
export function plainName(path: string): string {
  return isCompressed(path) ? path.slice(0, -COMPRESSED.length) : path;
}

/** The TypeScript client of spring 2025 wrote one JSON document a session. */
export function isDocument(path: string): boolean {
  return path.endsWith(".json");
}

/** By name only; whether the content is a rollout is seen when it is read. */
export function looksLikeLog(name: string): boolean {
  if (name.endsWith(".jsonl") || name.endsWith(`.jsonl${COMPRESSED}`)) return name !== "history.jsonl";
  return name.startsWith("rollout-") && isDocument(name);
}

/** Where the client looks for a thread that was started then (RFC 3339). */
export function rolloutPath(threadId: string, startedAt: string): string {
  const [date = "", time = ""] = startedAt.split("T");
  return `sessions/${date.replaceAll("-", "/")}/rollout-${date}T${time.slice(0, 8).replaceAll(":", "-")}-${threadId}.jsonl`;
}
