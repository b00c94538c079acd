/**
 * The requests and responses of pond as zod schemas (spec.md#wire-envelope): the exact form that HTTP and MCP speak and
 * `--json` prints. Importing zod costs start-up time, so this is a door of its own; everything else takes the
 * types from index.ts. Within a major version the shapes only gain fields.
 */
import { z } from "zod";
import type { JsonObject } from "../base/json/json.ts";
import { partTypes, relations, roles } from "../model/index.ts";
import { filePartSchema, partSchema } from "../model/events/schema.ts";
import {
  CONTEXT_LIMITS,
  GET_LIMITS,
  MAX_QUERY,
  PROTOCOL_VERSION,
  SEARCH_LIMITS,
  SESSIONS_LIMITS,
} from "./limits.ts";

const id = z.string().min(1);
const instant = z.iso.datetime({ offset: true }).meta({ description: "RFC 3339, UTC." });
const count = z.int().min(0);
const cursor = z.string().min(1).meta({ description: "Opaque: next_cursor of the previous answer." });

/** Requests say which protocol they speak; the namespace is the configured one when absent. */
const envelope = {
  protocol_version: z.literal(PROTOCOL_VERSION),
  namespace: z.string().min(1).exactOptional(),
};

const limit = (limits: { readonly default: number; readonly most: number }) =>
  z
    .int()
    .min(1)
    .max(limits.most)
    .exactOptional()
    .meta({ description: `Default ${limits.default}.` });

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}.*)?$/, {
    error: "must be a day such as 2026-01-02, or an RFC 3339 time such as 2026-01-02T03:04:05Z",
  })
  .meta({
    description: "A day (YYYY-MM-DD) of time_zone, or an RFC 3339 instant with its own; both ends count.",
  });

const projectFilter = z
  .union(
    [
      z.string().min(1),
      z.strictObject({ contains: z.string().min(1) }),
      z.strictObject({ prefix: z.string().min(1) }),
      z.strictObject({ exact: z.string().min(1) }),
    ],
    { error: "must be a text that is not empty, or one of { contains }, { prefix }, { exact } with one" },
  )
  .meta({ description: "A plain string is `contains`." });

/** What narrows a list or a search to some sessions. */
const scope = {
  project: projectFilter.exactOptional(),
  source_agent: id.exactOptional().meta({
    description: "A client and everything below it: claude-code finds claude-code/general-purpose.",
  }),
  from_date: day.exactOptional(),
  to_date: day.exactOptional(),
  time_zone: z.string().min(1).exactOptional().meta({
    description: "Of days: a name such as Europe/Berlin, or an offset such as +02:00. Default UTC.",
  }),
  include_subagents: z.boolean().exactOptional().meta({ description: "Default false." }),
};

export { parseRequest } from "./parse.ts";

export const partSummarySchema = z.strictObject({
  kind: z.enum(partTypes),
  label: z.string().exactOptional().meta({ description: "Tool name, file name or type, verdict." }),
  call_id: z.string().exactOptional(),
  is_failure: z.boolean().exactOptional(),
});

const sessionHeadSchema = z.strictObject({
  id,
  title: z.string().exactOptional(),
  source_agent: z.string(),
  project: z.string(),
  created_at: instant,
  parent_session_id: id.exactOptional(),
  parent_message_id: id.exactOptional(),
  relation: z.enum(relations).exactOptional(),
});

/** A part of the canonical model; the payload of a file is left out unless it was asked for. */
const wirePartSchema = z.union([
  partSchema,
  filePartSchema.extend({
    data: z.strictObject({ kind: z.enum(["string", "bytes", "url"]), omitted_bytes: count }),
  }),
]);

/** What is stored and not in the newest end of its session. */
const rowState = z.enum(["superseded", "removed", "other_end"]).exactOptional().meta({
  description:
    "Absent: it is in the newest end of its session. superseded: another version of its record is; removed: no version is left; other_end: it is in another end only.",
});

export const messageViewSchema = z.strictObject({
  id,
  state: rowState,
  seq: count.exactOptional(),
  role: z.enum(roles),
  timestamp: instant,
  text: z.string().exactOptional().meta({ description: "The conversation: the indexed text." }),
  content: z.string().exactOptional().meta({ description: "Of a system message." }),
  parts_summary: z.array(partSummarySchema),
  parts: z.array(wirePartSchema).exactOptional().meta({ description: "With response_mode verbatim." }),
  joined: z
    .array(id)
    .exactOptional()
    .meta({ description: "Further messages of the same response, shown as one with this." }),
});

export const getRequestSchema = z.strictObject({
  ...envelope,
  session_id: id.exactOptional().meta({ description: "The session; with message_id, where to look for it." }),
  message_id: id.exactOptional().meta({ description: "One message with its neighbours." }),
  response_mode: z.enum(["conversational", "complete", "verbatim"]).exactOptional(),
  session_from: z.enum(["start", "end"]).exactOptional(),
  after_id: id.exactOptional().meta({ description: "Continue after this message, or part in message mode." }),
  before_id: id.exactOptional().meta({ description: "The page that ends before this message." }),
  limit: limit(GET_LIMITS),
  context_depth: z.int().min(0).max(CONTEXT_LIMITS.most).exactOptional(),
  branch: z.enum(["active", "all"]).exactOptional(),
  end: z.int().min(1).exactOptional().meta({
    description: "Which end of a session whose sources diverged; 1, the default, is the newest.",
  }),
  history: z.boolean().exactOptional().meta({
    description: "Every stored row in its place, including replaced and removed ones, each with its state.",
  }),
  include_payloads: z.boolean().exactOptional().meta({ description: "Include payloads of files." }),
});

const sourceSchema = z.strictObject({
  id: id.meta({ description: "What names the source, also where several machines read the same path." }),
  path: z.string(),
  reader: z.string().meta({ description: "The machine that read it, by the random id of its state." }),
  form: z.string(),
});

/** What one of a session's sources held when it was read. */
const stateSchema = z.strictObject({
  source: sourceSchema,
  state: count.meta({ description: "Its number among those of its source; restore takes it." }),
  records: count,
  read_at: instant,
  whole: z.boolean().meta({ description: "False where something was incomplete or could not be read." }),
});

/** Where a session came to: what one of its sources holds, and no other has gone on from. */
const endSchema = z.strictObject({
  end: z.int().min(1).meta({ description: "Its number, 1 for the newest; get reads it by this." }),
  source: sourceSchema,
  records: count,
  last_at: instant.exactOptional().meta({ description: "The newest timestamp in its records." }),
  parted_after: id
    .exactOptional()
    .meta({ description: "The last message that it shares with the newest end from the beginning." }),
  mapped_paths: z
    .literal(true)
    .exactOptional()
    .meta({ description: "Pond restored it with mapped paths, and its client continued it." }),
});

const childSchema = z.strictObject({
  id,
  title: z.string().exactOptional(),
  source_agent: z.string(),
  relation: z.enum(relations).exactOptional(),
  parent_message_id: id.exactOptional(),
  created_at: instant,
  messages: count,
});

/** A stored row that cannot be read: the answer comes without it. */
const issueSchema = z.strictObject({
  session_id: id,
  message_id: id.exactOptional(),
  part_id: id.exactOptional(),
  kind: z.enum(["missing", "unreadable", "changed"]),
  message: z.string(),
});
const issues = z
  .array(issueSchema)
  .exactOptional()
  .meta({ description: "What could not be read; the rest of the answer is complete." });

const sessionResultSchema = z.strictObject({
  scope: z.literal("session"),
  session: sessionHeadSchema,
  response_mode: z.enum(["conversational", "complete", "verbatim"]),
  session_from: z.enum(["start", "end"]).meta({ description: "From which end this page was read." }),
  messages: z.array(messageViewSchema),
  messages_before: count.meta({ description: "Messages of this mode before the page." }),
  messages_remaining: count.meta({ description: "After the page; from the end: before it." }),
  hidden: count.meta({ description: "Messages on branches that are not active; branch=all shows them." }),
  children: z.array(childSchema).meta({ description: "Sessions that name this one as their parent." }),
  children_remaining: count,
  end: z
    .int()
    .min(1)
    .exactOptional()
    .meta({ description: "The end that is shown, where there are several; absent with history." }),
  ends: z
    .array(endSchema)
    .exactOptional()
    .meta({ description: "Its ends, where its sources diverged, the newest first." }),
  history: z.literal(true).exactOptional().meta({ description: "Every stored row is listed, not one end." }),
  states: z.array(stateSchema).exactOptional().meta({
    description: "With history: what its sources contained each time they were read, the newest first.",
  }),
  states_remaining: count.exactOptional(),
  replaced: count
    .exactOptional()
    .meta({ description: "Stored rows that are in none of its ends; history shows them." }),
  issues,
});

const messageResultSchema = z.strictObject({
  scope: z.literal("message"),
  session: sessionHeadSchema,
  target: messageViewSchema,
  target_parts: z.array(wirePartSchema),
  target_parts_remaining: count,
  siblings: z.array(messageViewSchema),
  siblings_before: count.meta({ description: "How many of the siblings come before the message." }),
  context_depth: count,
  issues,
});

export const getResponseSchema = z.discriminatedUnion("scope", [sessionResultSchema, messageResultSchema]);

export const searchRequestSchema = z.strictObject({
  ...envelope,
  query: z.string().max(MAX_QUERY).exactOptional(),
  mode: z
    .enum(["words", "exact", "regex"])
    .exactOptional()
    .meta({ description: "By words; exact text or a pattern, also in tool calls and results." }),
  in: z.enum(["text", "tools", "all"]).exactOptional().meta({
    description:
      "With mode exact and regex. text: the conversation; tools: tool calls and results; all, the default: also reasoning, injected text and system messages.",
  }),
  similar_to: id
    .exactOptional()
    .meta({ description: "Instead of a query: messages that are like this one, by its stored vector." }),
  similar_to_session: id
    .exactOptional()
    .meta({ description: "The session of that message, where its id alone is not enough." }),
  filters: z
    .strictObject({
      ...scope,
      session_id: id.exactOptional(),
      role: z.enum(roles).exactOptional(),
      min_score: z.number().min(0).max(1).exactOptional(),
      tool_name: z.string().min(1).exactOptional().meta({
        description:
          "Exact text and patterns: only calls and results of this tool. Words: only messages that have one.",
      }),
      failed_only: z.boolean().exactOptional().meta({
        description:
          "Exact text and patterns: only results that say they failed. Words: only messages that have one, or made such a call. Default false.",
      }),
    })
    .exactOptional(),
  include_superseded: z.boolean().exactOptional().meta({
    description: "Include replaced versions of rewritten records, marked; default false.",
  }),
  limit: limit(SEARCH_LIMITS),
  cursor: cursor.exactOptional(),
});

/** Part of a text in UTF-16 units, as strings of JavaScript are counted. */
const range = z.strictObject({ start: count, end: count.meta({ description: "The first unit behind it." }) });

const hitSchema = z.strictObject({
  message_id: id,
  state: rowState,
  part_id: id
    .exactOptional()
    .meta({ description: "The part that contains the text, where that is not conversation." }),
  kind: z.enum(partTypes).exactOptional(),
  tool_name: z.string().exactOptional(),
  role: z.enum(roles),
  timestamp: instant,
  score: z.number().min(0).max(1),
  text: z.string(),
  text_length: count.meta({ description: "Characters of the whole text; more than `text` when it was cut." }),
  highlights: z.array(range).min(1).exactOptional().meta({
    description: "What matched in `text`: in order, apart, of whole characters.",
  }),
  windows: z
    .array(range.extend({ at: count.meta({ description: "Where it begins in the whole text." }) }))
    .min(1)
    .exactOptional()
    .meta({ description: "Where the text was cut: what of `text` is text of the message." }),
  newer: z
    .strictObject({ last_at: instant })
    .exactOptional()
    .meta({ description: "The session continued after this message: when it was last active." }),
  parts_summary: z.array(partSummarySchema).exactOptional().meta({ description: "On messages of users." }),
  also_in: z
    .array(z.strictObject({ session_id: id, message_id: id }))
    .exactOptional()
    .meta({ description: "Copies of this message in other sessions." }),
});

const hitSessionSchema = z.strictObject({
  session_id: id,
  title: z.string().exactOptional(),
  project: z.string(),
  source_agent: z.string(),
  last_at: instant,
  session_messages_count: count,
  matched_message_count: count,
  matches: z.array(hitSchema),
});

const vectorsUsedSchema = z.strictObject({
  state: z.enum(["used", "off", "none", "unusable", "name", "failed"]).meta({
    description:
      "off: no model is configured. none: nothing is embedded under the one that is. unusable: it can make nothing of the query. name: the query is one, which words find. failed: it did not answer. Then words alone were searched.",
  }),
  model: z.string().exactOptional(),
  missing: count
    .exactOptional()
    .meta({ description: "Messages that have no vector yet, and are found by words alone." }),
  alone: count.exactOptional().meta({
    description: "Messages of matched_total that have no word of the query and were found by their vectors.",
  }),
  reason: z.string().exactOptional(),
});

export const searchResponseSchema = z.strictObject({
  mode: z.enum(["words", "exact", "regex", "similar"]),
  sessions: z.array(hitSessionSchema),
  matched_total: count,
  matched_total_exact: z.boolean().meta({ description: "False: at least that many." }),
  searchable_in_scope: count.meta({
    description: "Messages with text that pass the filters; without filters on messages, of the newest ends.",
  }),
  sessions_unsearched: count.exactOptional().meta({
    description: "Exact text and patterns: sessions in scope that the next pages search.",
  }),
  vectors: vectorsUsedSchema.exactOptional().meta({ description: "By words, or by likeness to a message." }),
  has_more: z.boolean(),
  next_cursor: cursor.exactOptional(),
});

export const sessionsRequestSchema = z.strictObject({
  ...envelope,
  ...scope,
  title: z.string().min(1).exactOptional().meta({ description: "Words of the title, in any case." }),
  parent_session_id: id.exactOptional().meta({ description: "Only its children, subagents included." }),
  limit: limit(SESSIONS_LIMITS),
  cursor: cursor.exactOptional(),
});

export const sessionSummarySchema = z.strictObject({
  ...sessionHeadSchema.shape,
  first_at: instant,
  last_at: instant,
  messages: z.strictObject({ total: count, user: count, assistant: count, tool: count, system: count }),
  bytes: count,
  children: count,
  ends: z
    .int()
    .min(2)
    .exactOptional()
    .meta({ description: "How many ends it has; absent where it has one." }),
  restored_to: z
    .array(z.strictObject({ client: z.string(), session_id: id, path: z.string(), restored_at: instant }))
    .min(1)
    .exactOptional()
    .meta({ description: "Where pond restored it to, the newest first; absent where nowhere." }),
});

export const sessionsResponseSchema = z.strictObject({
  sessions: z.array(sessionSummarySchema),
  total: count.meta({ description: "Sessions that pass the filters." }),
  has_more: z.boolean(),
  next_cursor: cursor.exactOptional(),
});

export const errorBodySchema = z.strictObject({
  error: z.strictObject({
    code: z.enum([
      "validation_failed",
      "version_unsupported",
      "not_found",
      "namespace_unknown",
      "storage_unavailable",
      "conflict",
      "internal",
    ]),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  }),
});

/** The published JSON Schema of the wire. */
export function wireJsonSchema(): JsonObject {
  const registry = z.registry<{ id: string }>();
  registry.add(getRequestSchema, { id: "GetRequest" });
  registry.add(getResponseSchema, { id: "GetResponse" });
  registry.add(searchRequestSchema, { id: "SearchRequest" });
  registry.add(searchResponseSchema, { id: "SearchResponse" });
  registry.add(sessionsRequestSchema, { id: "SessionsRequest" });
  registry.add(sessionsResponseSchema, { id: "SessionsResponse" });
  registry.add(errorBodySchema, { id: "ErrorBody" });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    unrepresentable: "any",
    uri: (name) => `#/$defs/${name}`,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- zod's JSON Schema type is wider than JSON
  return { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: schemas } as unknown as JsonObject;
}
