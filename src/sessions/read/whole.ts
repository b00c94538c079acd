/**
 * Small sessions are read whole (spec.md#live-staged-tree-plan): whoever says beforehand what will be wanted of them is given
 * the long columns by the scan that plans them, because two scans cost less than two scans and two takes.
 */
import { toPondError } from "../../base/errors.ts";
import type { SessionId } from "../../model/index.ts";
import { isDamage } from "./leaves.ts";
import { scanMessages } from "../states/message-outlines.ts";
import { TEXT_COLUMNS } from "../states/message-texts.ts";
import { scanParts } from "./parts.ts";
import type { MessageRows, PartRows } from "../states/row-ref.ts";
import { MESSAGE_BODY_COLUMNS } from "../tables/rows.ts";
import type { SessionSummary } from "../summaries/summarise.ts";
import { messageCount } from "../summaries/summary-list.ts";
import type { SessionTables } from "../tables/tables.ts";

/** `bodies`: of messages and parts, to hydrate them; `texts`: of messages, with pond's own facts of them. */
export type Want = "bodies" | "texts";

export interface Wanted {
  readonly wants: readonly Want[];
  /** Undefined: nothing is known of its size. */
  readonly summary: SessionSummary | undefined;
}

/** No more than the chunks that are decoded for a page of it. */
const SMALL = { messages: 200, bytes: 512 << 10 };

/** The messages of a session, with what is wanted of them where it is small and nothing of it is damaged. */
export function readMessageRows(
  tables: SessionTables,
  session: SessionId,
  { wants, summary }: Wanted,
): Promise<MessageRows> {
  const wanted = wants.includes("texts") ? TEXT_COLUMNS : MESSAGE_BODY_COLUMNS;
  // Only system messages have content: a column that is left out saves a fifth of the scan.
  const long = wanted.filter((column) => column !== "content" || summary?.messages.system !== 0);
  const scan = (isWhole: boolean): Promise<MessageRows> => scanMessages(tables, session, isWhole ? long : []);
  return orShort(scan, wants.length > 0 && isSmall(summary));
}

/** The same of its parts. */
export function readPartRows(
  tables: SessionTables,
  session: SessionId,
  { wants, summary }: Wanted,
): Promise<PartRows> {
  const scan = (bodies: boolean): Promise<PartRows> => scanParts(tables, session, bodies);
  return orShort(scan, wants.includes("bodies") && isSmall(summary));
}

/** A summary counts the newest end alone: where there are others, nothing is known of the size of all rows. */
const isSmall = (summary: SessionSummary | undefined): boolean =>
  summary !== undefined &&
  (summary.ends ?? 1) === 1 &&
  messageCount(summary) + (summary.replaced ?? 0) <= SMALL.messages &&
  summary.bytes <= SMALL.bytes;

/** Where the engine cannot read the long columns, without them: whoever reads the bodies finds out which are damaged. */
async function orShort<T>(scan: (isWhole: boolean) => Promise<T>, isWhole: boolean): Promise<T> {
  try {
    return await scan(isWhole);
  } catch (error) {
    if (!isWhole || !isDamage(toPondError(error))) throw error;
    return scan(false);
  }
}
