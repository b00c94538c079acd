/**
 * Some messages of a session with their parts, by the stages of its tree (spec.md#live-staged-tree): parts are outlined
 * for these messages only, and of those only the bodies that are asked for are read.
 */
import type { MessageId, MessageKey } from "../../model/index.ts";
import type { PartNode, PartOutline, TreeIssue } from "../../model/tree/index.ts";
import { hydrateTree, planParts, resolveTree } from "../../model/tree/index.ts";
import { isPartKey } from "../../model/index.ts";
import type { RowRef } from "../../sessions/states/index.ts";
import type { OutlinedSession } from "./shown-messages.ts";

export interface Page {
  /** In order, by message. */
  readonly parts: ReadonlyMap<MessageId, readonly PartOutline<RowRef>[]>;
  readonly issues: readonly TreeIssue[];
  readonly read: (needsBody: (part: PartOutline) => boolean) => Promise<PageParts>;
}

export interface PageParts {
  /** In order, by message; with values where they were asked for and can be read. */
  readonly parts: ReadonlyMap<MessageId, readonly PartNode<RowRef>[]>;
  readonly issues: readonly TreeIssue[];
}

export async function planPage(
  { source, outline, stored }: Pick<OutlinedSession, "source" | "outline" | "stored">,
  messages: readonly MessageKey[],
): Promise<Page> {
  const wanted = new Set(messages.map(({ id }) => id));
  const planned = await planParts(source, {
    ...outline,
    depth: 0,
    total: { messages: stored.length, bytes: stored.reduce((sum, { bytes }) => sum + bytes, 0) },
    messages: stored.filter(({ id }) => wanted.has(id)).map((message) => ({ ...message, parts: [] })),
    children: [],
  });
  const located = await resolveTree(source, planned.value, isPartKey);
  return {
    parts: new Map(planned.value.messages.map(({ id, parts }) => [id, parts])),
    issues: [...planned.issues, ...located.issues],
    read: async (needsBody) => {
      const { value, issues } = await hydrateTree(
        source,
        located.value,
        (node) => isPartKey(node) && needsBody(node),
      );
      return { parts: new Map(value.messages.map(({ plan, parts }) => [plan.id, parts])), issues };
    },
  };
}
