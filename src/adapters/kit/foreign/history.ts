/**
 * What another client goes on from when a session is restored into it (spec.md#adapter-restore): one line of turns. A
 * fork that does not repeat its parent's turns gets them first, a record that was rewritten counts once, a tree gives
 * its active branch.
 */
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import { activeBranch, newestRevisions, pondFacts, revisionOf } from "../../../model/derived/index.ts";
import { inChainOrder } from "./chain-order.ts";
import type { ContextRule, ModelContext } from "./context.ts";
import { asHandedOver } from "./parts.ts";
import type { LossReport } from "./losses.ts";
import { isWhole } from "../session/whole.ts";

export interface History {
  /** The turns to write, in order. */
  readonly messages: readonly MessageWithParts[];
  /** What came before the session's own log. */
  readonly before: readonly MessageWithParts[];
  /** The session's own log, all branches. */
  readonly own: readonly MessageWithParts[];
  /** The last compaction can be read by nobody but its provider: all turns are written. */
  readonly isSealed?: true;
}

export interface HistoryOptions {
  /** The history of the session above this one in the lineage that is restored, if any. */
  readonly parent?: History | undefined;
  readonly losses: LossReport;
  /** What of it the model still had, by the rule of the client that wrote it. */
  readonly context?: ContextRule | undefined;
}

export function historyOf(state: SessionState, { parent, losses, context }: HistoryOptions): History {
  const own = newestRevisions(state.messages)
    .filter(({ message }) => !isWhole(message))
    .map(asHandedOver);
  const before = beforeFork(state, parent, losses);
  const active = activeOf(own);
  const turns = [...before, ...active];
  const had: ModelContext = context?.(turns, [...before, ...own]) ?? { messages: turns };
  // A client's rule may know that what lies beside the way belongs to it.
  const shown = new Set([...active, ...had.messages]);
  for (const entry of own)
    if (isTurn(entry) && !shown.has(entry))
      losses.add("turn of another branch", "a restored session has one branch: the active one");
  const { messages, isSealed, past = [], brokenOff = [], instructions = [], unflagged = [] } = had;
  const { unsent = [], pieces = [], shownOnly = [] } = had;
  losses.setPast(past);
  losses.setUnflagged(unflagged);
  losses.setThoughts({ unsent, pieces });
  for (const _ of instructions)
    losses.add("instructions from its client", "its model was sent them; every client has its own");
  for (const { parts } of brokenOff)
    losses.add("answer that was broken off", "its own client does not send it again", parts[0]);
  for (const { parts } of shownOnly)
    losses.add("text kept from the model", "its own client shows it, but does not send it", parts[0]);
  if (isSealed === true)
    losses.add(
      "summary of a compaction",
      "its provider encrypted it: all turns that it stands for are handed over instead",
    );
  return { messages, before, own, ...(isSealed === true ? { isSealed } : {}) };
}

/** Of the conversation; not what a client notes beside it, such as its progress. */
function isTurn({ message, parts }: MessageWithParts): boolean {
  if (message.role !== "user" && message.role !== "assistant") return false;
  return parts.some(
    (part) => part.type === "tool_call" || (part.type === "text" && part.provenance === "conversational"),
  );
}

function beforeFork(
  { session, messages }: SessionState,
  parent: History | undefined,
  losses: LossReport,
): readonly MessageWithParts[] {
  const cut = session.parent_message_id;
  if (session.relation !== "fork" || cut === undefined) return [];
  if (messages.some((entry) => pondFacts(entry.message.options).replays !== undefined)) return [];
  const end = parent === undefined ? 0 : endOf(parent.own, cut);
  // What the parent wrote after the fork has no say in which branch the fork left from.
  if (parent !== undefined && end > 0) return [...parent.before, ...activeOf(parent.own.slice(0, end))];
  losses.add("history before the fork", "it is in the parent session, which is not restored with it");
  return [];
}

/** How many messages there are up to the cut and with it: 0 if it is not there. */
function endOf(messages: readonly MessageWithParts[], cut: string): number {
  const same = messages.findIndex(({ message }) => message.id === cut);
  if (same !== -1) return same + 1;
  // Rewritten since: its newest version has an id of its own.
  return messages.findLastIndex(({ message }) => revisionOf(message).record === cut) + 1;
}

/** The active branch, each message behind the one that it follows: some clients write a result before its call. */
function activeOf(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const active = activeBranch(messages.map(({ message }) => message));
  return inChainOrder(messages.filter(({ message }) => active.has(message.id)));
}
