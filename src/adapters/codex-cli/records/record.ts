/**
 * One record of a rollout, seen the same way in both formats: today's envelope `{timestamp, type, payload}` and the
 * bare items of 2025. `item` is what the record says: the payload, or the record itself.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import { field, integerField, objectField, without } from "../../kit/extract/index.ts";

/** What a log says once a turn. */
const TURN_MARKS: ReadonlySet<string> = new Set([
  "turn_context",
  "event_msg/task_started",
  "event_msg/task_complete",
  "event_msg/turn_aborted",
]);

export interface RolloutRecord {
  readonly record: JsonObject;
  readonly item: JsonObject;
  /** False for a bare item. */
  readonly enveloped: boolean;
  /** `response_item/message`, `event_msg/token_count`, `session_meta`; of a bare item its own type. */
  readonly kind: string;
  /** The type of the item alone. */
  readonly itemType: string;
  /** True when the item is one that the model sees or made: a `response_item`, or bare. */
  readonly isResponseItem: boolean;
}

/** Names become part of ids: what is no plain name is not used as one. */
const PLAIN_NAME = /^[A-Za-z0-9_.|=-]{1,128}$/;

const INSTANT: ReadonlySet<string> = new Set(["timestamp"]);
const PAYLOAD: ReadonlySet<string> = new Set(["payload"]);
const PAYLOAD_AND_INSTANT: ReadonlySet<string> = new Set(["payload", "timestamp"]);
const PLACE_IN_LOG: ReadonlySet<string> = new Set(["ordinal", "timestamp"]);

export function viewRecord(value: JsonValue): RolloutRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const type = plainName(field(value, "type"));
  const payload = type === undefined ? undefined : objectField(value, "payload");
  if (payload === undefined) {
    const itemType = type ?? untypedName(value);
    return { record: value, item: value, enveloped: false, kind: itemType, itemType, isResponseItem: true };
  }
  const inner = plainName(field(payload, "type"));
  return {
    record: value,
    item: payload,
    enveloped: true,
    kind: inner === undefined ? (type ?? "record") : `${type}/${inner}`,
    itemType: inner ?? "",
    isResponseItem: type === "response_item",
  };
}

/** The record with another item in its place, and without what the message already says. */
export function leftover(view: RolloutRecord, item: JsonObject, hasTypedInstant: boolean): JsonObject {
  if (!view.enveloped) return hasTypedInstant ? without(item, INSTANT) : item;
  const { record } = view;
  // Nearly every record is these three fields.
  if (hasTypedInstant && record["type"] !== undefined && Object.keys(record).length === 3)
    return { type: record["type"], payload: item };
  return { ...without(record, hasTypedInstant ? PAYLOAD_AND_INSTANT : PAYLOAD), payload: item };
}

/**
 * The id that the source itself gives: the ordinal where the log is numbered, so that a fork's cut point names a
 * message without looking at the parent's file; else the id of the response item; else what happened to which call, or to which turn.
 */
export function sourceIdOf(view: RolloutRecord): string | undefined {
  const ordinal = view.enveloped ? integerField(view.record, "ordinal") : undefined;
  if (ordinal !== undefined) return ordinalId(ordinal);
  if (view.itemType === "header") return undefined;
  const id = view.isResponseItem ? plainName(field(view.item, "id")) : undefined;
  if (id !== undefined) return id;
  const callId = plainName(field(view.item, TURN_MARKS.has(view.kind) ? "turn_id" : "call_id"));
  return callId === undefined ? undefined : `${view.kind}:${callId}`;
}

export function ordinalId(ordinal: number): string {
  return `ordinal:${ordinal}`;
}

/** True for an id that is the item's own, taken out of it; other ids hold a `:`, repeated ones a `#`. */
export function isItemId(id: string): boolean {
  return !id.includes(":") && !id.includes("#");
}

/** What the record's id is derived from: a copy in a fork has another instant and keeps its id. */
export function identityValue(view: RolloutRecord): JsonValue {
  return view.enveloped ? without(view.record, PLACE_IN_LOG) : view.record;
}

/** Old logs have two records without a type: the header and markers of state. */
function untypedName(record: JsonObject): string {
  if (Object.hasOwn(record, "record_type")) return "state";
  return Object.hasOwn(record, "id") && Object.hasOwn(record, "timestamp") ? "header" : "record";
}

function plainName(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && PLAIN_NAME.test(value) ? value : undefined;
}
