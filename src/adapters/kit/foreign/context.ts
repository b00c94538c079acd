/**
 * What the model of a session still had before it when the session ended (spec.md#adapter-restore-context). A client that
 * compacts goes on from a summary and from the turns that it kept; each client says by a rule of its own which these are,
 * from what its records say. Another client is handed the same: what came before is shown there, and not sent.
 */
import type { MessageWithParts } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import type { ResultPart } from "./results.ts";
import { pondFacts } from "../../../model/derived/index.ts";

/** The turns of a session as its model had them. */
export interface ModelContext {
  /** What the model no longer had, then the summary, the turns that were kept, and what came after. */
  readonly messages: readonly MessageWithParts[];
  /** Those among them that the model no longer had; absent where it had all. */
  readonly past?: readonly MessageWithParts[];
  /** Answers that broke off: their client does not send them again, and they are not handed over. */
  readonly brokenOff?: readonly MessageWithParts[];
  /** Turns that the client shows and never sends, because somebody wanted it so: they are not handed over. */
  readonly shownOnly?: readonly MessageWithParts[];
  /** What the client told its model in the system's name: another one has its own, and they are not handed over. */
  readonly instructions?: readonly MessageWithParts[];
  /** Failed results of which only the record says so: no flag told the model. */
  readonly unflagged?: readonly Part[];
  /** Thoughts that the client does not send again: its model had them while it thought, and no longer. */
  readonly unsent?: readonly Part[];
  /** Parts that are one thought with a part before them: all are lost, and count once. */
  readonly pieces?: readonly Part[];
  /** The last compaction left a summary that only its provider can read: nothing is left out then. */
  readonly isSealed?: true;
}

/** From the turns of the active branch, in order; `log` has all branches, as they were written. */
export type ContextRule = (
  messages: readonly MessageWithParts[],
  log: readonly MessageWithParts[],
) => ModelContext;

/** Results that are failures by what the record says, of those that the client's rule picks. */
export function failuresIn(
  messages: readonly MessageWithParts[],
  isUnflagged: (part: ResultPart) => boolean = () => true,
): Pick<ModelContext, "unflagged"> {
  const unflagged = messages.flatMap(({ parts }) =>
    parts.filter((part) => part.type === "tool_result" && part.is_failure === true && isUnflagged(part)),
  );
  return unflagged.length === 0 ? {} : { unflagged };
}

type ReasoningPart = Extract<Part, { type: "reasoning" }>;

/** The thoughts that the client's rule picks; undefined where it picks none. */
export function thoughtsIn(
  messages: readonly MessageWithParts[],
  isPicked: (part: ReasoningPart, entry: MessageWithParts) => boolean,
): readonly Part[] | undefined {
  const picked = messages.flatMap((entry) =>
    entry.parts.filter((part) => part.type === "reasoning" && isPicked(part, entry)),
  );
  return picked.length === 0 ? undefined : picked;
}

/** Where the last compaction stands; -1 where there was none. */
export function lastCompaction(
  messages: readonly MessageWithParts[],
  kinds: readonly ("summary" | "boundary")[] = ["summary"],
): number {
  return messages.findLastIndex(({ message }) => {
    const { compaction } = pondFacts(message.options);
    return kinds.some((kind) => kind === compaction);
  });
}

/** The same messages with those that were kept behind the summary instead of before it. */
export function keptBehind(
  messages: readonly MessageWithParts[],
  summary: number,
  isKept: (entry: MessageWithParts, at: number) => boolean,
): Pick<ModelContext, "messages" | "past"> {
  const before = messages.slice(0, summary);
  const kept = new Set(before.filter(isKept));
  const past = before.filter((entry) => !kept.has(entry));
  const had = [...messages.slice(summary, summary + 1), ...kept, ...messages.slice(summary + 1)];
  return { messages: [...past, ...had], past };
}
