/**
 * The requests and responses of reads as plain interfaces: what a program outside sees too. The schemas are proven equal
 * to them (types.type-test.ts). An instant is RFC 3339 text in UTC, a cursor is opaque: `next_cursor` of the answer before.
 */
import type { ErrorCode } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json/json.ts";
import type { PartType, Provenance, Relation, Role } from "../model/index.ts";

/** A plain text is `contains`. */
export type ProjectFilter =
  | string
  | { readonly contains: string }
  | { readonly prefix: string }
  | { readonly exact: string };

/** What narrows a list or a search to some sessions. */
interface Scope {
  readonly project?: ProjectFilter;
  /** A client and everything below it: `claude-code` finds `claude-code/general-purpose`. */
  readonly source_agent?: string;
  /** A day (YYYY-MM-DD) of `time_zone`, or an RFC 3339 instant with its own; both ends count. */
  readonly from_date?: string;
  readonly to_date?: string;
  /** Of days: a name such as Europe/Berlin, or an offset such as +02:00. Default UTC. */
  readonly time_zone?: string;
  /** Default false. */
  readonly include_subagents?: boolean;
}

export interface PartSummary {
  readonly kind: PartType;
  /** Tool name, file name or type, verdict. */
  readonly label?: string;
  readonly call_id?: string;
  readonly is_failure?: boolean;
}

export interface SessionHead {
  readonly id: string;
  readonly title?: string;
  readonly source_agent: string;
  readonly project: string;
  readonly created_at: string;
  readonly parent_session_id?: string;
  readonly parent_message_id?: string;
  readonly relation?: Relation;
}

/** Aliases, which unlike interfaces are JSON values to the compiler. */
type WirePartBase = {
  readonly id: string;
  readonly session_id: string;
  readonly message_id: string;
  readonly ordinal: number;
  readonly provenance: Provenance;
  readonly options: JsonObject;
};
type WireFilePart = WirePartBase & {
  readonly type: "file";
  readonly media_type?: string;
  readonly file_name?: string;
};

/** A part of the canonical model in JSON: bytes are base64; the payload of a file is left out unless it was asked for. */
export type WirePart =
  | (WirePartBase & { readonly type: "text"; readonly text?: string })
  | (WirePartBase & { readonly type: "reasoning"; readonly text?: string })
  | (WireFilePart & { readonly data: { readonly kind: "string" | "bytes" | "url"; readonly value: string } })
  | (WireFilePart & {
      readonly data: { readonly kind: "string" | "bytes" | "url"; readonly omitted_bytes: number };
    })
  | (WirePartBase & {
      readonly type: "tool_call";
      readonly call_id?: string;
      readonly name?: string;
      readonly params?: JsonValue;
      readonly provider_executed?: boolean;
    })
  | (WirePartBase & {
      readonly type: "tool_result";
      readonly call_id?: string;
      readonly name?: string;
      readonly is_failure?: boolean;
      readonly result?: JsonValue;
    })
  | (WirePartBase & {
      readonly type: "tool_approval_request";
      readonly approval_id: string;
      readonly tool_call_id: string;
    })
  | (WirePartBase & {
      readonly type: "tool_approval_response";
      readonly approval_id: string;
      readonly approved?: boolean;
      readonly reason?: string;
    });

/**
 * Of a row that is not in the newest end of its session. superseded: another version of its record is; removed: no version
 * is left; other_end: it is in another end only.
 */
export type RowState = "superseded" | "removed" | "other_end";

export type ResponseMode = "conversational" | "complete" | "verbatim";

export interface MessageView {
  readonly id: string;
  /** Absent: it is in the newest end of its session. */
  readonly state?: RowState;
  readonly seq?: number;
  readonly role: Role;
  readonly timestamp: string;
  /** The indexed text. */
  readonly text?: string;
  /** Of a system message. */
  readonly content?: string;
  readonly parts_summary: readonly PartSummary[];
  /** With response_mode `verbatim`. */
  readonly parts?: readonly WirePart[];
  /** Further messages of the same response, shown as one with this. */
  readonly joined?: readonly string[];
}

export interface GetRequest {
  /** The session; with message_id, where to look for it. */
  readonly session_id?: string;
  /** One message with its neighbours. */
  readonly message_id?: string;
  /** Default `conversational`. */
  readonly response_mode?: ResponseMode;
  readonly session_from?: "start" | "end";
  /** Continue after this message, or part in message mode. */
  readonly after_id?: string;
  /** The page that ends before this message. */
  readonly before_id?: string;
  /** Default 20, at most 1,000. */
  readonly limit?: number;
  /** Messages on each side in message mode; default 3, at most 50. */
  readonly context_depth?: number;
  /** Default `active`. */
  readonly branch?: "active" | "all";
  /** Which end of a session whose sources diverged; 1, the default, is the newest. */
  readonly end?: number;
  /** Every stored row in its place, including replaced and removed ones, each with its state. */
  readonly history?: boolean;
  /** Payloads of files too. */
  readonly include_payloads?: boolean;
}

interface SourceView {
  /** What names the source, also where several machines read the same path. */
  readonly id: string;
  readonly path: string;
  /** The machine that read it, by the random id of its state. */
  readonly reader: string;
  readonly form: string;
}

/** What one of a session's sources held when it was read. */
export interface StateView {
  readonly source: SourceView;
  /** Its number among those of its source; restore takes it. */
  readonly state: number;
  readonly records: number;
  readonly read_at: string;
  /** False where something was incomplete or could not be read. */
  readonly whole: boolean;
}

/** Where a session came to: what one of its sources holds, and no other has continued from. */
export interface EndView {
  /** Its number, 1 for the newest; get reads it by this. */
  readonly end: number;
  readonly source: SourceView;
  readonly records: number;
  /** The newest instant of its records. */
  readonly last_at?: string;
  /** The last message that it shares with the newest end from the beginning. */
  readonly parted_after?: string;
  /** Pond restored it with mapped paths, and its client continued it. */
  readonly mapped_paths?: true;
}

export interface ChildView {
  readonly id: string;
  readonly title?: string;
  readonly source_agent: string;
  readonly relation?: Relation;
  readonly parent_message_id?: string;
  readonly created_at: string;
  readonly messages: number;
}

/** A stored row that cannot be read: the answer comes without it. */
export interface IssueView {
  readonly session_id: string;
  readonly message_id?: string;
  readonly part_id?: string;
  readonly kind: "missing" | "unreadable" | "changed";
  readonly message: string;
}

export interface SessionResult {
  readonly scope: "session";
  readonly session: SessionHead;
  readonly response_mode: ResponseMode;
  /** From which end this page was read. */
  readonly session_from: "start" | "end";
  readonly messages: readonly MessageView[];
  /** Messages of this mode before the page. */
  readonly messages_before: number;
  /** After the page; from the end: before it. */
  readonly messages_remaining: number;
  /** Messages on branches that are not active; branch `all` shows them. */
  readonly hidden: number;
  /** Sessions that name this one as their parent. */
  readonly children: readonly ChildView[];
  readonly children_remaining: number;
  /** The end that is shown, where there are several; absent with history. */
  readonly end?: number;
  /** Where its sources went different ways, the newest first. */
  readonly ends?: readonly EndView[];
  /** Every stored row is listed, not one end. */
  readonly history?: true;
  /** With history: what its sources contained each time they were read, the newest first. */
  readonly states?: readonly StateView[];
  readonly states_remaining?: number;
  /** Stored rows that are in none of its ends; history shows them. */
  readonly replaced?: number;
  /** What could not be read; the rest of the answer is complete. */
  readonly issues?: readonly IssueView[];
}

export interface MessageResult {
  readonly scope: "message";
  readonly session: SessionHead;
  readonly target: MessageView;
  readonly target_parts: readonly WirePart[];
  readonly target_parts_remaining: number;
  readonly siblings: readonly MessageView[];
  /** How many of the siblings come before the message. */
  readonly siblings_before: number;
  readonly context_depth: number;
  readonly issues?: readonly IssueView[];
}

export type GetResponse = SessionResult | MessageResult;

/** By words; exact text or a pattern, also in tool calls and results. */
export type SearchMode = "words" | "exact" | "regex";

/** What vectors had to do with an answer by words. */
export interface VectorsUsed {
  /**
   * `off`: no model is configured. `none`: nothing is embedded under the one that is. `unusable`: it can make nothing of the query.
   * `name`: the query is one, which words find. `failed`: it did not answer, for the reason given. In all of these words alone
   * were searched.
   */
  readonly state: "used" | "off" | "none" | "unusable" | "name" | "failed";
  readonly model?: string;
  /** Messages that have no vector yet, and are found by words alone. */
  readonly missing?: number;
  /** Messages of `matched_total` that have no word of the query and were found by their vectors. */
  readonly alone?: number;
  readonly reason?: string;
}

/** A message as it was ranked, and what each arm gave it: from 0 to 1. */
export interface RankedMessage {
  readonly session_id: string;
  readonly message_id: string;
  readonly score: number;
  /** Where vectors took part. */
  readonly arms?: { readonly words: number; readonly vectors: number; readonly fused: number };
}

/** How a search by words is answered. */
export interface SearchExplanation {
  /** The engine's plans, with the filters that its indexes answer. */
  readonly plan: string;
  readonly vectors: VectorsUsed;
  readonly ranked: readonly RankedMessage[];
}

export interface SearchFilters extends Scope {
  readonly session_id?: string;
  readonly role?: Role;
  /** 0 to 1. */
  readonly min_score?: number;
  /** Exact text and patterns: only calls and results of this tool. Words: only messages that have one. */
  readonly tool_name?: string;
  /** The same for results that say they failed; by words also for messages that made such a call. */
  readonly failed_only?: boolean;
}

export interface SearchRequest {
  /** At most 4,000 characters. */
  readonly query?: string;
  /** Default: by words. */
  readonly mode?: SearchMode;
  /**
   * With mode `exact` and `regex`. text: the conversation; tools: tool calls and results; all, the default: also reasoning,
   * injected text and system messages.
   */
  readonly in?: "text" | "tools" | "all";
  /** Instead of a query: messages that are like this one, by its stored vector. */
  readonly similar_to?: string;
  /** The session of that message, where its id alone is not enough. */
  readonly similar_to_session?: string;
  readonly filters?: SearchFilters;
  /** Include replaced versions of rewritten records, marked; default false. */
  readonly include_superseded?: boolean;
  /** Sessions; default 10, at most 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** Part of a text, in UTF-16 units; the end is the first one behind it. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface Hit {
  readonly message_id: string;
  readonly state?: RowState;
  /** The part that contains the text, where it is not conversation. */
  readonly part_id?: string;
  readonly kind?: PartType;
  readonly tool_name?: string;
  readonly role: Role;
  readonly timestamp: string;
  /** 0 to 1. */
  readonly score: number;
  readonly text: string;
  /** Characters of the whole text; more than `text` when it was cut. */
  readonly text_length: number;
  /** What matched in `text`: in order, apart, of whole characters. */
  readonly highlights?: readonly TextRange[];
  /** Where the text was cut: what of `text` is text of the message, and where that begins in the whole text. */
  readonly windows?: readonly (TextRange & { readonly at: number })[];
  /** The session continued after this message: when it was last active. */
  readonly newer?: { readonly last_at: string };
  /** On messages of users. */
  readonly parts_summary?: readonly PartSummary[];
  /** Copies of this message in other sessions. */
  readonly also_in?: readonly { readonly session_id: string; readonly message_id: string }[];
}

export interface HitSession {
  readonly session_id: string;
  readonly title?: string;
  readonly project: string;
  readonly source_agent: string;
  readonly last_at: string;
  readonly session_messages_count: number;
  readonly matched_message_count: number;
  readonly matches: readonly Hit[];
}

export interface SearchResponse {
  readonly mode: SearchMode | "similar";
  readonly sessions: readonly HitSession[];
  readonly matched_total: number;
  /** False: at least that many. */
  readonly matched_total_exact: boolean;
  /** Messages with text that pass the filters; without filters on messages, of the newest ends. */
  readonly searchable_in_scope: number;
  /** Exact text and patterns: sessions in scope that the next pages search. */
  readonly sessions_unsearched?: number;
  /** By words, or by likeness to a message. */
  readonly vectors?: VectorsUsed;
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

export interface SessionsRequest extends Scope {
  /** Words of the title, in any case. */
  readonly title?: string;
  /** Only its children, subagents included. */
  readonly parent_session_id?: string;
  /** Default 50, at most 1,000. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface SessionLine extends SessionHead {
  readonly first_at: string;
  readonly last_at: string;
  readonly messages: {
    readonly total: number;
    readonly user: number;
    readonly assistant: number;
    readonly tool: number;
    readonly system: number;
  };
  readonly bytes: number;
  readonly children: number;
  /** How many ends it has; absent where it has one. */
  readonly ends?: number;
  /** Where pond restored it to, the newest first; absent where nowhere. */
  readonly restored_to?: readonly {
    readonly client: string;
    readonly session_id: string;
    readonly path: string;
    readonly restored_at: string;
  }[];
}

export interface SessionsResponse {
  readonly sessions: readonly SessionLine[];
  /** Sessions that the filters left. */
  readonly total: number;
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}
