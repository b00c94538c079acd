/** The texts of messages, and the facts that pond keeps about them, by row (spec.md#lance-chokepoints-read). */
import { decodeFacts } from "../tables/options-text.ts";
import type { PondFacts } from "../../model/derived/index.ts";
import type { Role } from "../../model/index.ts";
import { REF } from "../../model/tree/index.ts";
import type { MessageRows, StoredMessage } from "./row-ref.ts";
import { rowsOf } from "./row-ref.ts";
import type { SessionTables } from "../tables/tables.ts";

/** The text of a message: what is indexed of it, or the content of a system message. */
export interface MessageText {
  readonly text: string | null;
  readonly content: string | null;
}

/** The same with the facts that pond keeps about the message: one read for both. */
export interface TextWithFacts extends MessageText {
  readonly facts: PondFacts;
}

/** A row of a message; only system messages have content. */
export interface TextRow {
  readonly row: bigint;
  readonly role: Role;
}

/** The texts of some messages, in the order given. */
export async function readTexts(
  tables: SessionTables,
  messages: readonly TextRow[],
): Promise<readonly MessageText[]> {
  if (messages.length === 0) return [];
  const hasContent = messages.some(({ role }) => role === "system");
  const rows = messages.map(({ row }) => row);
  const found = await tables.messages.take(rows, hasContent ? ["search_text", "content"] : ["search_text"]);
  return rows.map((_, at) => textAt(found, at));
}

/** What holds texts and facts. */
export const TEXT_COLUMNS = ["content", "options", "search_text"] as const;

/** Texts and facts of some messages, in the order given; from their outlines where all were read with them. */
export async function readTextsWithFacts(
  tables: SessionTables,
  messages: readonly StoredMessage[],
): Promise<readonly TextWithFacts[]> {
  if (messages.length === 0) return [];
  const bodies = messages.flatMap(({ [REF]: { body } }) =>
    body?.rows.has("search_text") === true ? [body] : [],
  );
  if (bodies.length === messages.length) return bodies.map(({ rows, at }) => textWithFactsAt(rows, at));
  const found = await tables.messages.take(rowsOf(messages), TEXT_COLUMNS);
  return messages.map((_, at) => textWithFactsAt(found, at));
}

function textWithFactsAt(rows: MessageRows, at: number): TextWithFacts {
  return { ...textAt(rows, at), facts: storedFacts(rows.string("options", at)) };
}

function textAt(rows: MessageRows, at: number): MessageText {
  const content = rows.has("content") ? rows.stringOrNull("content", at) : null;
  return { text: rows.stringOrNull("search_text", at), content };
}

/** Rows of one take whose options are held at a time: only their facts are kept. */
const OPTIONS_PER_TAKE = 2000;

/** The facts that pond keeps about some messages, in the order given. */
export async function readFacts(
  tables: SessionTables,
  rows: readonly bigint[],
): Promise<readonly PondFacts[]> {
  const facts: PondFacts[] = [];
  for (let start = 0; start < rows.length; start += OPTIONS_PER_TAKE) {
    const step = rows.slice(start, start + OPTIONS_PER_TAKE);
    const found = await tables.messages.take(step, ["options"]);
    for (const at of step.keys()) facts.push(storedFacts(found.string("options", at)));
  }
  return facts;
}

/** Of a row that cannot be read nothing is known; whoever reads its body reports it. */
function storedFacts(options: string): PondFacts {
  try {
    return decodeFacts(options);
  } catch {
    return {};
  }
}
