/**
 * Some messages of a session with their parts, by the stages of its tree (spec.md#live-staged-tree): parts are planned
 * for these messages only, and of those only the bodies that are asked for are read.
 */
import type {
  MessageId,
  MessageKey,
  Part,
  PartPlan,
  SessionPlan,
  TreeIssue,
  TreeSource,
} from "../model/index.ts";
import { hydrateTree, isPartKey, planParts, resolveTree } from "../model/index.ts";
import type { MessageRef, MessageText, PartRef, RowRef } from "../sessions/index.ts";

/** A session, of which a few messages are read, and where it comes from. */
export interface PlannedSession {
  readonly source: TreeSource<RowRef>;
  /** The session with some of its messages only, in its order, without their parts. */
  readonly plan: (messages: ReadonlySet<string>) => SessionPlan;
  /** What some of its messages say, in the order given. */
  readonly texts: (refs: readonly MessageRef[]) => Promise<readonly MessageText[]>;
}

export interface Page {
  /** In order, by message. */
  readonly parts: ReadonlyMap<MessageId, readonly PartRef[]>;
  readonly issues: readonly TreeIssue[];
  readonly read: (needsBody: (part: PartPlan) => boolean) => Promise<PageBodies>;
}

export interface PageBodies {
  readonly bodies: ReadonlyMap<bigint, Part>;
  readonly issues: readonly TreeIssue[];
}

export async function planPage(
  { source, plan }: Pick<PlannedSession, "source" | "plan">,
  messages: readonly MessageKey[],
): Promise<Page> {
  const planned = await planParts(source, plan(new Set(messages.map(({ id }) => id))));
  const located = await resolveTree(source, planned.value, isPartKey);
  const parts = new Map<MessageId, readonly PartRef[]>();
  for (const message of planned.value.messages)
    parts.set(
      message.id,
      message.parts.flatMap((part) => {
        const row = located.value.leaves.get(part)?.ref.row;
        return row === undefined ? [] : [{ ...part, row }];
      }),
    );
  return {
    parts,
    issues: [...planned.issues, ...located.issues],
    read: async (needsBody) => {
      const read = await hydrateTree(source, located.value, (node) => isPartKey(node) && needsBody(node));
      const bodies = new Map<bigint, Part>();
      for (const message of read.value.messages)
        for (const { plan: node, part } of message.parts) {
          const row = located.value.leaves.get(node)?.ref.row;
          if (row !== undefined && part !== undefined) bodies.set(row, part);
        }
      return { bodies, issues: read.issues };
    },
  };
}
