/**
 * What another client goes on from when a session is restored into it (spec.md#adapter-restore): one line of turns. A
 * fork that does not repeat its parent's turns gets them first, a record that was rewritten counts once, a tree gives
 * its active branch.
 */
import type { MessageWithParts, SessionState } from "../../../model/index.ts";
import { activeBranch, newestRevisions, revisionOf } from "../../../model/index.ts";
import { objectField } from "../extract.ts";
import type { LossReport } from "../restore.ts";
import { isWhole } from "../whole.ts";

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
  const own = newestRevisions(state.messages).filter(({ message }) => !isWhole(message));
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
  const end = parent === undefined ? 0 : endOf(parent.own, cut);
  // What the parent wrote after the fork has no say in which branch the fork left from.
  if (parent !== undefined && end > 0) return [...parent.before, ...activeOf(parent.own.slice(0, end))];
  losses.add("history before the fork", "it stands in the parent session, which is not restored with it");
  return [];
}

/** How many messages there are up to the cut and with it: 0 if it is not there. */
function endOf(messages: readonly MessageWithParts[], cut: string): number {
  const same = messages.findIndex(({ message }) => message.id === cut);
  if (same !== -1) return same + 1;
  // Rewritten since: its newest version has an id of its own.
  return messages.findLastIndex(({ message }) => revisionOf(message).record === cut) + 1;
}

function activeOf(messages: readonly MessageWithParts[]): readonly MessageWithParts[] {
  const active = activeBranch(messages.map(({ message }) => message));
  return messages.filter(({ message }) => active.has(message.id));
}

function factOf({ message }: MessageWithParts, name: string): unknown {
  return objectField(message.options, "pond")?.[name];
}
