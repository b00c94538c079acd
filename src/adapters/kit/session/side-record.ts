/**
 * What a session has beside its records (spec.md#adapter-side-files): files, rows of tables, its own record. Each becomes
 * a carrier message at no position of the log.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { valueHash } from "../../../base/json/value-hash.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { Timestamp } from "../../../model/index.ts";
import type { LogRecord, PartDraft, SessionLog } from "./session-log.ts";

/** Something of the session that is no message: a file beside it, or the rows of a table. */
export interface SideRecord {
  /** Names the record inside its session, such as `file:<path>` or `table:<name>`. */
  readonly name: string;
  /** What `options.source` says of it. */
  readonly source: JsonObject;
  /** A payload that is no JSON. */
  readonly data?: Uint8Array;
  /** Milliseconds since 1970 of its last change. */
  readonly at: number;
  readonly bytes: number;
  /** It is there and cannot be read now. */
  readonly isUnreadable?: true;
  /** True for a part whose message is not there, which may yet come while the session is young. */
  readonly isStray?: boolean;
}

/** A side record as it becomes a message. */
export interface Carrier extends Pick<SideRecord, "name" | "data" | "at" | "bytes"> {
  readonly timestamp: Timestamp;
  /** With `source`, and the facts that the record tells. */
  readonly options: JsonObject;
}

export function carrierEntry(log: SessionLog, carrier: Carrier): LogRecord {
  const { name, at, bytes, timestamp, options, data } = carrier;
  const source = options["source"] ?? null;
  const hash = sideHash(source, data);
  return {
    id: log.identify("record", name, hash),
    timestamp,
    bytes: data === undefined ? bytes : name.length * 3,
    drafts: [{ role: "system", options, parts: data === undefined ? [] : [sideFilePart(data)] }],
    whole: () => source,
    positioned: false,
    hash,
    at,
  };
}

/** The hash of a side record, as it is read and as it comes back from the store: one proves the other. */
export function sideHash(source: JsonValue, data: Uint8Array | undefined): string {
  return valueHash(data === undefined ? source : [source, Buffer.from(data).toString("base64")]);
}

/** A file that is kept whole. */
export function sideFilePart(data: Uint8Array): PartDraft {
  return {
    type: "file",
    provenance: "injected",
    data: { kind: "bytes", value: data },
    options: withFacts({}, { injected: "side-file" }),
  };
}
