/**
 * The four tables of the canonical record and the derived ones of summaries and signatures; those of vectors are declared in
 * vectors/ (spec.md#session-datasets). Keys lead with the session, because message
 * and part ids are unique only inside one (spec.md#lance-table-creation-session-scoped-pk). JSON columns hold JSON
 * text: the engine's own JSON type changes numbers and key order.
 */
import type { Predicate } from "../../substrate/engine/predicate.ts";
import { defineTable } from "../../substrate/index.ts";

export const SESSIONS = defineTable({
  name: "sessions",
  version: 2,
  primaryKey: ["id"],
  columns: {
    id: { type: "utf8" },
    parent_session_id: { type: "utf8", nullable: true },
    parent_message_id: { type: "utf8", nullable: true },
    relation: { type: "utf8", nullable: true },
    source_agent: { type: "utf8" },
    project: { type: "utf8" },
    created_at: { type: "timestamp_us" },
    ingested_at: { type: "timestamp_us" },
    options: { type: "utf8", packed: "together" },
  },
  indexes: [
    { column: "parent_session_id", kind: "btree" },
    { column: "source_agent", kind: "bitmap" },
    { column: "project", kind: "btree" },
    { column: "created_at", kind: "btree" },
  ],
});

export const MESSAGES = defineTable({
  name: "messages",
  version: 3,
  primaryKey: ["session_id", "id"],
  columns: {
    session_id: { type: "utf8" },
    id: { type: "utf8" },
    seq: { type: "int64", nullable: true },
    timestamp: { type: "timestamp_us" },
    role: { type: "utf8" },
    // Copies of the session's, so that a search filters and ranks in one pass over one table
    // (spec.md#session-denormalised-filters).
    source_agent: { type: "utf8" },
    project: { type: "utf8" },
    content: { type: "utf8", nullable: true, packed: "together" },
    search_text: { type: "utf8", nullable: true, packed: "scattered" },
    // Derived, so that pages are planned and texts counted without reading a long column.
    text_bytes: { type: "int32", nullable: true },
    bytes: { type: "int64", nullable: true },
    // Derived: what a search must know of a hit. Null where it was stored before there was this column.
    repeats: { type: "utf8", nullable: true },
    // Derived index terms, beside the text and never in it.
    identifiers: { type: "utf8", nullable: true, packed: "scattered" },
    // Of the value of the record it is of: equal ids are matched only where these are equal, too. And the read that
    // stored it: with seq, the place of its record (spec.md#sources-state). Null where an older pond stored the row.
    hash: { type: "int64", nullable: true },
    origin: { type: "utf8", nullable: true },
    // How many parts belong to it: they are written after it.
    parts: { type: "int32", nullable: true },
    ingested_at: { type: "timestamp_us" },
    options: { type: "utf8", packed: "together" },
  },
  indexes: [
    { column: "timestamp", kind: "btree" },
    { column: "role", kind: "bitmap" },
    { column: "source_agent", kind: "bitmap" },
    { column: "project", kind: "bitmap" },
    { column: "search_text", kind: "fts" },
    { column: "identifiers", kind: "fts" },
  ],
});

export const PARTS = defineTable({
  name: "parts",
  version: 2,
  primaryKey: ["session_id", "message_id", "id"],
  columns: {
    session_id: { type: "utf8" },
    message_id: { type: "utf8" },
    id: { type: "utf8" },
    ordinal: { type: "int32" },
    type: { type: "utf8" },
    provenance: { type: "utf8" },
    // Taken out of variant_data, because agents filter on them.
    tool_name: { type: "utf8", nullable: true },
    call_id: { type: "utf8", nullable: true },
    is_failure: { type: "bool", nullable: true },
    variant_data: { type: "utf8", packed: "together" },
    data: { type: "blob" },
    options: { type: "utf8", packed: "together" },
  },
  indexes: [
    { column: "type", kind: "bitmap" },
    { column: "tool_name", kind: "bitmap" },
  ],
});

/**
 * What was read (spec.md#sources-state): one row a source, session and state, appended whenever the state changed. What a
 * state holds is told by runs of rows, after those of the state before where it only grew.
 */
export const SOURCES = defineTable({
  name: "sources",
  version: 2,
  primaryKey: ["session_id", "source", "state"],
  columns: {
    session_id: { type: "utf8" },
    // Who read what: a hash of the client, the reader and the path.
    source: { type: "utf8" },
    // Its number, from 1 on, padded so that text order is age.
    state: { type: "utf8" },
    adapter: { type: "utf8" },
    // The random id of the state folder that it was read with: a machine, as far as pond can tell.
    reader: { type: "utf8" },
    path: { type: "utf8" },
    key: { type: "utf8" },
    form: { type: "utf8" },
    read_at: { type: "timestamp_us" },
    // The newest timestamp in its records.
    recorded_at: { type: "timestamp_us", nullable: true },
    records: { type: "int64" },
    digest: { type: "utf8" },
    side: { type: "utf8" },
    // False: something was held back or could not be read, so that the digests prove nothing.
    whole: { type: "bool" },
    content: { type: "utf8", packed: "together" },
  },
});

/**
 * Derived and rebuildable (spec.md#session-summary): one row a session and state of the tables it was computed from; the
 * newest row of a session counts. A row with an empty id says how far all others reach, in the same commit as they.
 */
export const SUMMARIES = defineTable({
  name: "summaries",
  version: 2,
  derived: true,
  primaryKey: ["session_id", "as_of"],
  columns: {
    session_id: { type: "utf8" },
    // Versions of messages and sessions, padded so that text order is age.
    as_of: { type: "utf8" },
    title: { type: "utf8", nullable: true },
    source_agent: { type: "utf8" },
    project: { type: "utf8" },
    parent_session_id: { type: "utf8", nullable: true },
    parent_message_id: { type: "utf8", nullable: true },
    relation: { type: "utf8", nullable: true },
    created_at: { type: "timestamp_us" },
    first_at: { type: "timestamp_us" },
    last_at: { type: "timestamp_us" },
    ingested_at: { type: "timestamp_us" },
    user_messages: { type: "int32" },
    assistant_messages: { type: "int32" },
    tool_messages: { type: "int32" },
    system_messages: { type: "int32" },
    texts: { type: "int32" },
    bytes: { type: "int64" },
    children: { type: "int32" },
    // How many ends the session has, and rows that its newest state has no longer. Null: computed before there were any.
    ends: { type: "int32", nullable: true },
    replaced: { type: "int32", nullable: true },
  },
});

/**
 * Derived and rebuildable (spec.md#search-signatures): which runs of bytes the texts of a session contain, a row for each half a
 * megabyte of them. A row with an empty session says which rows of a table the signatures of its commit are of.
 */
export const SIGNATURES = defineTable({
  name: "signatures",
  version: 1,
  derived: true,
  primaryKey: ["session_id", "block"],
  columns: {
    session_id: { type: "utf8" },
    // Random, so that what two processes make of the same rows is stored twice instead of mixed.
    block: { type: "utf8" },
    // The table that has the texts.
    source: { type: "utf8" },
    bits: { type: "binary", nullable: true },
    // Of a stretch of rows: its first id, the one past its last, and the key of its last row.
    from_row: { type: "int64", nullable: true },
    to_row: { type: "int64", nullable: true },
    last_key: { type: "utf8", nullable: true },
  },
});

/** Beginning of the names of the tables of vectors, one per model (vectors/vector-spec.ts). */
export const EMBEDDINGS = "embeddings";

export const isVectorTable = (name: string): boolean => name.startsWith(`${EMBEDDINGS}_`);

type FilterColumn = "session_id" | "id" | "timestamp" | "role" | "source_agent" | "project";

/** A condition on columns that messages and their vectors have in common: it holds for both. */
export type MessageFilter = Predicate<
  Omit<typeof MESSAGES, "columns"> & { readonly columns: Pick<(typeof MESSAGES)["columns"], FilterColumn> }
>;

/** Everything in it can be computed of other tables. */
export const isDerivedTable = (name: string): boolean =>
  name === SUMMARIES.name || name === SIGNATURES.name || isVectorTable(name);
