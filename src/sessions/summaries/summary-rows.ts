/** Summaries to rows of their table and back, and the marker row that says which state of the store they are of. */
import { relations, sessionId } from "../../model/index.ts";
import type { RowOf, Rows } from "../../substrate/index.ts";
import { instant, oneOf } from "../tables/rows.ts";
import type { SUMMARIES } from "../tables/schema.ts";
import type { SessionSummary } from "./summarise.ts";

/** Versions of the canonical tables that a set of summaries was computed from. */
export interface Coverage {
  readonly messages: number;
  readonly sessions: number;
  /** Of the states of sources; absent where an older pond made the store, or the summaries. */
  readonly sources?: number;
}

export const SUMMARY_COLUMNS = [
  "session_id",
  "as_of",
  "title",
  "source_agent",
  "project",
  "parent_session_id",
  "parent_message_id",
  "relation",
  "created_at",
  "first_at",
  "last_at",
  "ingested_at",
  "user_messages",
  "assistant_messages",
  "tool_messages",
  "system_messages",
  "texts",
  "bytes",
  "children",
  "ends",
  "replaced",
] as const;

const DIGITS = 16;

/** The versions as text that sorts by age. */
export function asOf({ messages, sessions, sources }: Coverage): string {
  return [messages, sessions, ...(sources === undefined ? [] : [sources])].map(pad).join(".");
}

export function coverageOf(text: string): Coverage {
  const [messages = 0, sessions = 0, sources] = text.split(".").map(Number);
  return { messages, sessions, ...(sources === undefined ? {} : { sources }) };
}

export function summaryRow(summary: SessionSummary, as_of: string): RowOf<typeof SUMMARIES> {
  const { id, messages, ...columns } = summary;
  return {
    ...columns,
    session_id: id,
    as_of,
    user_messages: messages.user,
    assistant_messages: messages.assistant,
    tool_messages: messages.tool,
    system_messages: messages.system,
  };
}

/** No session has an empty id (spec.md#model-identity). */
export function markerRow(as_of: string): RowOf<typeof SUMMARIES> {
  const none = { user_messages: 0, assistant_messages: 0, tool_messages: 0, system_messages: 0 };
  const never = { created_at: 0, first_at: 0, last_at: 0, ingested_at: 0 };
  return {
    session_id: "",
    as_of,
    source_agent: "",
    project: "",
    ...never,
    ...none,
    texts: 0,
    bytes: 0,
    children: 0,
  };
}

/** Reads summaries out of rows. Labels come again and again: of equal ones a single text is kept. */
export class SummaryReader {
  readonly #labels = new Map<string, string>();

  age(rows: Rows<typeof SUMMARIES>, row: number): string {
    return this.#label(rows.string("as_of", row));
  }

  summary(rows: Rows<typeof SUMMARIES>, row: number): SessionSummary {
    const summary: Draft = {
      id: sessionId(rows.string("session_id", row)),
      source_agent: this.#label(rows.string("source_agent", row)),
      project: this.#label(rows.string("project", row)),
      created_at: instant(rows.timestamp("created_at", row)),
      first_at: instant(rows.timestamp("first_at", row)),
      last_at: instant(rows.timestamp("last_at", row)),
      ingested_at: instant(rows.timestamp("ingested_at", row)),
      messages: {
        user: rows.int("user_messages", row),
        assistant: rows.int("assistant_messages", row),
        tool: rows.int("tool_messages", row),
        system: rows.int("system_messages", row),
      },
      texts: rows.int("texts", row),
      bytes: rows.int("bytes", row),
      children: rows.int("children", row),
    };
    // Set one by one: spreading what is there costs more than all else here, of hundreds of thousands.
    const title = rows.stringOrNull("title", row);
    if (title !== null) summary.title = title;
    const parent = rows.stringOrNull("parent_session_id", row);
    if (parent !== null) summary.parent_session_id = parent;
    const cut = rows.stringOrNull("parent_message_id", row);
    if (cut !== null) summary.parent_message_id = cut;
    const relation = oneOf(relations, rows.stringOrNull("relation", row));
    if (relation !== undefined) summary.relation = relation;
    const ends = rows.intOrNull("ends", row);
    if (ends !== null) summary.ends = ends;
    const replaced = rows.intOrNull("replaced", row);
    if (replaced !== null) summary.replaced = replaced;
    return summary;
  }

  #label(text: string): string {
    const known = this.#labels.get(text);
    if (known !== undefined) return known;
    this.#labels.set(text, text);
    return text;
  }
}

type Draft = { -readonly [Name in keyof SessionSummary]: SessionSummary[Name] };

const pad = (version: number): string => String(version).padStart(DIGITS, "0");
