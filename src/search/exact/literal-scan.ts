/** The scans of a search for exact text or a pattern (spec.md#search-literal): messages, and what is in their parts. */
import { isPondError, PondError } from "../../base/errors.ts";
import type { MessageId, SessionId } from "../../model/index.ts";
import type { MessageHead, MESSAGES, PARTS, SessionStore } from "../../sessions/index.ts";
import type { StoredPart } from "../../sessions/states/index.ts";
import { findPartOutlines } from "../../sessions/index.ts";
import type { ColumnPredicate, Predicate } from "../../substrate/engine/predicate.ts";
import { and, contains, eq, isIn, matches, not, or } from "../../substrate/engine/predicate.ts";
import type { Found } from "../hits/collapse.ts";
import type { OriginalMessages } from "../hits/origins.ts";
import { namedBy } from "../hits/part-scope.ts";
import type { Scope } from "../hits/scope.ts";
import type { HitStates } from "../hits/hit-states.ts";

/** What is looked for, and where. */
export interface ScanRequest {
  readonly text: string;
  readonly kind: "exact" | "regex";
  readonly searchedIn: "text" | "tools" | "all";
  readonly scope: Scope;
  readonly rowStates: HitStates;
  readonly origins: OriginalMessages;
}

/** Matches of one scan that are read; a text that is everywhere is found soon enough. */
const MOST_MATCHES = 2000;

/** A hit of which it is not known yet where it stands. */
export type Unplaced = Omit<Found, "status">;

/** Without what was replaced, and what is left with a word on where it stands. */
export async function placed(
  hits: readonly Unplaced[],
  { rowStates, origins }: ScanRequest,
): Promise<readonly Found[]> {
  await rowStates.load(hits.map(({ session_id }) => session_id));
  const shown = await origins.follow(hits.filter((hit) => rowStates.isShown(hit)));
  return shown.map((hit) => ({ ...hit, status: rowStates.of(hit) }));
}

export interface Scan {
  readonly found: readonly Unplaced[];
  readonly isWhole: boolean;
}

const NOTHING_FOUND: Scan = { found: [], isWhole: true };

export async function scanMessages(
  store: SessionStore,
  ofSessions: Predicate<typeof MESSAGES>,
  request: ScanRequest,
): Promise<Scan> {
  if (request.searchedIn === "tools" || request.scope.parts !== undefined) return NOTHING_FOUND;
  const inText = holds("search_text", request);
  // The content is that of system messages.
  const inTexts = request.searchedIn === "text" ? inText : or(inText, holds("content", request));
  const where = and(ofSessions, ...request.scope.perMessage, inTexts);
  const heads = await store.findHeads({ where, limit: MOST_MATCHES });
  return { found: heads.map(withScore), isWhole: heads.length < MOST_MATCHES };
}

/** What the conversation does not say: its own texts are in the messages table. */
export async function scanParts(
  store: SessionStore,
  ofSessions: Predicate<typeof PARTS>,
  request: ScanRequest,
): Promise<Scan> {
  if (request.searchedIn === "text") return NOTHING_FOUND;
  const isSaid = and(eq("type", "text"), eq("provenance", "conversational"));
  const isWanted = request.searchedIn === "tools" ? isIn("type", ["tool_call", "tool_result"]) : not(isSaid);
  const { parts: wanted } = request.scope;
  const ofParts = wanted === undefined ? [] : [wanted.where];
  const where = and(ofSessions, ...ofParts, isWanted, holds("variant_data", request));
  const all = await findPartOutlines(store.tables, where, MOST_MATCHES);
  const parts = wanted === undefined ? all : await namedBy(store, all, wanted.filter);
  const messages = new Map<SessionId, Map<MessageId, Unplaced>>();
  for (const message of await messagesOfParts(store, parts, request))
    messages.set(
      message.session_id,
      (messages.get(message.session_id) ?? new Map<MessageId, Unplaced>()).set(message.id, message),
    );
  const found = parts.flatMap((part) => {
    const message = messages.get(part.session_id)?.get(part.message_id);
    return message === undefined ? [] : [{ ...message, part }];
  });
  return { found, isWhole: all.length < MOST_MATCHES };
}

const PARTS_PER_SCAN = 500;

/** The messages that hold these parts and are in scope. */
async function messagesOfParts(
  store: SessionStore,
  parts: readonly StoredPart[],
  request: ScanRequest,
): Promise<readonly Unplaced[]> {
  const heads: MessageHead[] = [];
  for (let start = 0; start < parts.length; start += PARTS_PER_SCAN) {
    const step = parts.slice(start, start + PARTS_PER_SCAN);
    const sessions = new Set(step.map(({ session_id }) => session_id));
    const ids = new Set(step.map(({ message_id }) => message_id));
    const where = and(isIn("session_id", [...sessions]), isIn("id", [...ids]), ...request.scope.perMessage);
    heads.push(...(await store.findHeads({ where })));
  }
  return heads.map(withScore);
}

/** All are equally good. */
const withScore = (head: MessageHead): Unplaced => ({ ...head, score: 1 });

/** As it is, and as JSON columns hold it: with its quotes and line ends escaped. */
export const spellingsOf = (text: string): readonly [string, string] => [
  text,
  JSON.stringify(text).slice(1, -1),
];

function holds<K extends "search_text" | "content" | "variant_data">(
  column: K,
  { text, kind }: ScanRequest,
): ColumnPredicate<K, string> {
  if (kind === "regex") return matches(column, text);
  const [plain, escaped] = spellingsOf(text);
  const asIs = contains(column, plain);
  return column !== "variant_data" || escaped === plain ? asIs : or(asIs, contains(column, escaped));
}

export function asPatternFault({ kind, text }: ScanRequest) {
  return (error: unknown): never => {
    const cause = isPondError(error) && error.cause instanceof Error ? error.cause.message : "";
    if (kind !== "regex" || !/regex|regular expression/i.test(cause)) throw error;
    throw new PondError("validation_failed", `the pattern ${JSON.stringify(text)} cannot be read`, {
      hint: "write it in the syntax of Rust's regex (no look-around, no back-references), or use mode exact",
      data: { field: "query", value: text },
      cause: error,
    });
  };
}
