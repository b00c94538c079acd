/** What `ingest` takes and answers (spec.md#wire-ingest): plain interfaces, the same on every transport. */
import type { JsonObject } from "../base/json/json.ts";
import type { Event } from "../model/index.ts";
import type { Violation } from "../model/events/index.ts";

export interface IngestRequest {
  /**
   * At most 1,000 canonical events: a session, then each of its messages followed by the parts of that, then the next
   * session. Either as constructors and parsers make them, or in JSON form (instants as RFC 3339 text, bytes as base64).
   */
  readonly events: readonly (Event | JsonObject)[];
}

export interface IngestResponse {
  /** One per event, in the order of the request. */
  readonly results: readonly RowResult[];
  readonly inserted: number;
  readonly matched: number;
  readonly errors: number;
}

export interface RowResult {
  /** What the event names, as far as it can be read. */
  readonly kind?: "session" | "message" | "part";
  readonly session_id?: string;
  readonly message_id?: string;
  readonly part_id?: string;
  /** `inserted`: this request stored it. `matched`: an equal row was stored before, or by another at the same moment. */
  readonly status: "inserted" | "matched" | "error";
  /** Of a message whose id is taken by another value: the id that this one is stored under, as a version of it. */
  readonly stored_as?: string;
  readonly error?: RowError;
}

export interface RowError {
  /** The rule of docs/spec.md that the row breaks. */
  readonly rule:
    | Violation["rule"]
    | "session-labels-immutable"
    | "adapter-integrity-additive-sync"
    | "adapter-bounded-values";
  readonly message: string;
  readonly field?: string;
}
