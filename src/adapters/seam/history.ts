/**
 * What another client goes on from when a session is restored into it (spec.md#adapter-restore): one line of turns. A
 * fork that does not repeat its parent's turns gets them first, a record that was rewritten counts once, a tree gives
 * its active branch.
 */
import type { MessageWithParts, SessionState } from "../../model/index.ts";
import { activeBranch, newestRevisions } from "../../model/index.ts";
import { objectField } from "./extract.ts";
import type { LossReport } from "./restore.ts";

export interface History {
  /** The turns to write, in order. */
  readonly messages: readonly MessageWithParts[];
  /** What came before the session's own log. */
  readonly before: readonly MessageWithParts[];
  /** The session's own log, all branches. */
  readonly own: readonly MessageWithParts[];
}

/** `parent`: the history of the session above this one in the lineage that is restored, if any. */
export function historyOf(state: SessionState, parent: History | undefined, losses: LossReport): History {
  const own = newestRevisions(state.messages);
  const before = beforeFork(state, parent, losses);
  const active = activeOf(own);
  for (let lost = own.length - active.length; lost > 0; lost -= 1)
    losses.add("message of another branch", "a restored session has one branch: the active one");
  return { messages: [...before, ...active], before, own };
}

function beforeFork(
  { session, messages }: SessionState,
  parent: History | undefined,
  losses: LossReport,
): readonly MessageWithParts[] {
  const cut = session.parent_message_id;
  if (session.relation !== "fork" || cut === undefined) return [];
  if (messages.some((entry) => factOf(entry, "replays") !== undefined)) return [];
  const end = parent?.own.findIndex(({ message }) => message.id === cut) ?? -1;
  // What the parent wrote after the fork has no say in which branch the fork left from.
  if (parent !== undefined && end !== -1)
    return [...parent.before, ...activeOf(parent.own.slice(0, end + 1))];
  losses.add("history before the fork", "it stands in the parent session, which is not restored with it");
  return [];
}

function activeOf(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const active = activeBranch(messages.map(({ message }) => message));
  return messages.filter(({ message }) => active.has(message.id));
}

function factOf({ message }: MessageWithParts, name: string): unknown {
  return objectField(message.options, "pond")?.[name];
}
