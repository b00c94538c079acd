/**
 * Canonical messages back to the records they came from, value for value (spec.md#adapter-native-restore-lossless):
 * the newest version of each, with what was taken out of it put back where it stood.
 */
import type { RecordHashes } from "../../kit/files/index.ts";
import { isRawLine } from "../../kit/files/index.ts";
import { optional } from "../../../base/optional.ts";
import { PondError } from "../../../base/errors.ts";
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { MessageWithParts, SessionState } from "../../../model/events/index.ts";
import type { Part } from "../../../model/index.ts";
import { newestRevisions, pondFacts, revisionOf } from "../../../model/derived/index.ts";
import { openJson } from "../../../model/index.ts";
import { arrayField, extractString, field, objectField } from "../../kit/extract/index.ts";
import { sourceOf } from "../../kit/restore/index.ts";
import { sideHash, wholeRecord } from "../../kit/session/index.ts";
import { goMessageHash, messageHash } from "../records/hashes.ts";
import { goPartValue } from "../records/go-messages.ts";
import type { MessageRecord, SourceRecord } from "../records/record.ts";
import { idOf, messageIn, putIds } from "../records/record.ts";
import type { ContainerKind } from "../records/source.ts";

export type NativeRecord = Omit<SourceRecord, "at" | "bytes">;

export interface NativeMessage extends NativeRecord {
  readonly parts: readonly NativeRecord[];
  readonly beside?: MessageRecord["beside"];
}

/** A session as its container had it. */
export interface NativeSession {
  /** The id by which the client knows it. */
  readonly id: string;
  readonly kind: ContainerKind;
  /** The unit that it came from. */
  readonly key: string;
  /** Its own record; in a database the row. */
  readonly info?: NativeRecord;
  readonly messages: readonly NativeMessage[];
  readonly files: ReadonlyMap<string, { readonly json: JsonValue } | { readonly data: Uint8Array }>;
  readonly tables: ReadonlyMap<string, readonly JsonObject[]>;
  /** What else an export said. */
  readonly beside: JsonObject;
  /** The bytes of an export that is no JSON: all that there is of it. */
  readonly bytes?: Uint8Array;
}

const KINDS: readonly ContainerKind[] = ["tree", "database", "export", "go"];

export function nativeSession(state: SessionState): NativeSession {
  const origin = sessionPlaceOf(state);
  const files = new Map<string, { readonly json: JsonValue } | { readonly data: Uint8Array }>();
  const tables = new Map<string, readonly JsonObject[]>();
  const restored: NativeMessage[] = [];
  let info: NativeRecord | undefined;
  let beside: JsonObject = {};
  let bytes: Uint8Array | undefined;
  for (const group of groupsOf(state.messages)) {
    const [first] = group;
    const whole = wholeIn(group);
    const isMessage = first.message.seq !== undefined;
    if (isMessage && whole !== undefined) {
      restored.push(messageIn(whole));
      continue;
    }
    const source = whole ?? sourceOf(first.message);
    const file = extractString(source, "file");
    const table = extractString(source, "table");
    if (file !== undefined) files.set(file, fileOf(first, source));
    else if (table !== undefined) tables.set(table, [...(tables.get(table) ?? []), ...rowsOf(source)]);
    else if (Object.hasOwn(source, "export")) {
      beside = objectField(source, "export") ?? {};
      bytes = bytesOf(first);
    } else if (isInfo(first, origin)) info = infoOf(source, origin);
    else restored.push(messageOf(group, origin));
  }
  return {
    ...origin,
    ...(info === undefined ? {} : { info }),
    messages: restored,
    files,
    tables,
    beside,
    ...(bytes === undefined ? {} : { bytes }),
  };
}

/** The hashes of what is restored (spec.md#sources-state). */
export function hashes(state: SessionState, form: string): RecordHashes {
  const log: { readonly record: string; readonly hash: string }[] = [];
  const side = new Map<string, string>();
  for (const { group, record } of nativeRecords(state, form)) {
    const [first] = group;
    const name = revisionOf(first.message).record;
    if (record === undefined) side.set(name, hashOfCarrier(group));
    else log.push({ record: name, hash: form === "go" ? goMessageHash(record) : messageHash(record) });
  }
  return { log, side };
}

function hashOfCarrier(group: Group): string {
  const [first] = group;
  return sideHash(wholeIn(group) ?? sourceOf(first.message), bytesOf(first));
}

/** The records of a session in order, each with the messages it was split over; undefined for what is no message. */
function nativeRecords(
  state: SessionState,
  form: string,
): readonly { readonly group: Group; readonly record: NativeMessage | undefined }[] {
  const kind = KINDS.find((candidate) => candidate === form) ?? "tree";
  const source = sourceOf(state.session);
  const origin = { id: extractString(source, "session_id") ?? state.session.id, kind, key: "" };
  return groupsOf(state.messages).map((group) => ({
    group,
    record: group[0].message.seq === undefined ? undefined : recordIn(group, origin),
  }));
}

function recordIn(group: Group, origin: SessionPlace): NativeMessage {
  const whole = wholeIn(group);
  return whole === undefined ? messageOf(group, origin) : messageIn(whole);
}

const isInfo = ({ message }: MessageWithParts, { id }: SessionPlace): boolean =>
  message.seq === undefined && revisionOf(message).record === id;

type SessionPlace = Pick<NativeSession, "id" | "kind" | "key">;

/** Where the state that is restored was read from; a session that was read once says it itself. */
function sessionPlaceOf({ session, source: read }: SessionState): SessionPlace {
  const source = sourceOf(session);
  const key = read?.key ?? extractString(source, "path");
  const kind = KINDS.find((candidate) => candidate === (read?.form ?? field(source, "kind")));
  if (key !== undefined && kind !== undefined)
    return { id: extractString(source, "session_id") ?? session.id, kind, key };
  throw new PondError("validation_failed", `session ${session.id} does not say where opencode kept it`, {
    reason: "unsupported",
    hint: "restore it into another client",
  });
}

/** A message with its parts, or what `options.source` of a carrier said. */
function wholeIn(group: Group): JsonObject | undefined {
  const whole = wholeRecord(group);
  return whole === undefined || isRawLine(whole) || !isJsonObject(whole) ? undefined : whole;
}

type Group = readonly [MessageWithParts, ...MessageWithParts[]];

/** The messages of each record, newest versions only, in order. */
function groupsOf(messages: readonly MessageWithParts[]): readonly Group[] {
  const groups = new Map<string, [MessageWithParts, ...MessageWithParts[]]>();
  for (const entry of newestRevisions(messages)) {
    const { record } = revisionOf(entry.message);
    const group = groups.get(record);
    if (group === undefined) groups.set(record, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}

function fileOf(
  entry: MessageWithParts,
  source: JsonObject,
): { readonly json: JsonValue } | { readonly data: Uint8Array } {
  const data = bytesOf(entry);
  return data === undefined ? { json: field(source, "record") ?? null } : { data };
}

function bytesOf({ parts: [part] }: MessageWithParts): Uint8Array | undefined {
  return part?.type === "file" && part.data.kind === "bytes" ? part.data.value : undefined;
}

function rowsOf(source: JsonObject): readonly JsonObject[] {
  return (arrayField(source, "rows") ?? []).filter((row) => isJsonObject(row));
}

function infoOf(source: JsonObject, { id, kind }: SessionPlace): NativeRecord {
  const record = field(source, "record");
  if (isJsonObject(record) && (kind === "database" || kind === "go"))
    return { value: { json: null }, columns: record };
  return { value: rawOf(source) ?? { json: record ?? null }, stem: id };
}

function rawOf(source: JsonObject): Extract<SourceRecord["value"], { raw: string }> | undefined {
  const raw = extractString(source, "raw");
  if (raw === undefined) return undefined;
  return field(source, "encoding") === "base64" ? { raw, encoding: "base64" } : { raw };
}

function messageOf(group: Group, { id: session, kind }: SessionPlace): NativeMessage {
  const [{ message }] = group;
  const source = sourceOf(message);
  const beside = field(source, "beside");
  const extra = isJsonObject(beside) ? { beside } : beside === "whole" ? { beside: "whole" as const } : {};
  const id = revisionOf(message).record;
  const isTurn = message.role !== "system";
  const rest = field(source, "record");
  if (kind === "go") {
    const parts = isTurn ? group.flatMap((entry) => entry.parts.map(goPartValue)) : rest;
    return { ...putIds(parts, source, { id, session }), parts: [] };
  }
  const value =
    isTurn && isJsonObject(rest) ? { ...rest, ...modelOf(message, rest), role: message.role } : rest;
  const { stem, ...body } = putIds(value, source, { id, session });
  const record = kind === "tree" && stem !== undefined ? { ...body, stem } : body;
  const ids = { session, ...optional("message", idOf(record)) };
  const parts = (isTurn ? partsOf(group, ids) : carriedParts(source, ids)).map(
    ({ stem: name, ...part }): NativeRecord =>
      kind === "tree" && name !== undefined ? { ...part, stem: name } : part,
  );
  return { ...record, parts, ...extra };
}

/** The model, from its provider's space. */
function modelOf({ options }: MessageWithParts["message"], record: JsonObject): JsonObject {
  const provider = extractString(record, "providerID");
  const space = provider === undefined ? undefined : objectField(options, provider);
  return space === undefined ? {} : optional("modelID", extractString(space, "model"));
}

interface PartIds {
  readonly session: string;
  readonly message?: string;
}

function carriedParts(source: JsonObject, ids: PartIds): readonly NativeRecord[] {
  return (arrayField(source, "parts") ?? []).map((part): NativeRecord => {
    if (!isJsonObject(part)) return { value: { json: part } };
    return putIds(field(part, "record"), part, { ...ids, id: extractString(part, "id") ?? "" });
  });
}

/** The parts of a turn: calls get their results back, and results what was attached to them. */
function partsOf(group: Group, ids: PartIds): readonly NativeRecord[] {
  const spoken = group.filter(({ message }) => message.role !== "tool").flatMap(({ parts }) => parts);
  const results = new Map<string, Part & { type: "tool_result" }>();
  for (const { message, parts } of group)
    for (const part of parts)
      if (message.role === "tool" && part.type === "tool_result") results.set(part.id, part);
  const attached = spoken.filter((part) => ownerOf(part) !== undefined);
  return spoken
    .filter((part) => ownerOf(part) === undefined)
    .map((part) => {
      const result = results.get(part.id);
      const files = attached.filter((file) => ownerOf(file) === part.id);
      const source = sourceOf(part);
      return putIds(valueOf(part, source, { result, files }), source, { ...ids, id: part.id });
    });
}

/** The part that a file was attached to. */
function ownerOf(part: Part): string | undefined {
  return part.type === "file" ? pondFacts(part.options).of : undefined;
}

interface Answer {
  readonly result: (Part & { type: "tool_result" }) | undefined;
  readonly files: readonly Part[];
}

function valueOf(part: Part, source: JsonObject, answer: Answer): JsonValue | undefined {
  const rest = field(source, "record");
  if (!isJsonObject(rest)) return rest;
  if (part.type === "tool_call") return toolOf(part, rest, answer);
  if (part.type === "file") return { type: "file", ...withFile(part, rest) };
  if (part.type !== "text" && part.type !== "reasoning") return rest;
  if (Object.hasOwn(rest, "type")) return { ...rest, ...optional("prompt", part.text) };
  if (arrayField(source, "without")?.includes("type") === true) return rest;
  return { ...rest, type: part.type, ...optional("text", part.text) };
}

function withFile(part: Part & { type: "file" }, rest: JsonObject): JsonObject {
  const head = extractString(rest, "url") ?? "";
  const url =
    part.data.kind === "bytes" ? head : part.data.kind === "url" ? part.data.value : head + part.data.value;
  return { ...rest, url, ...optional("mime", part.media_type), ...optional("filename", part.file_name) };
}

function toolOf(part: Part & { type: "tool_call" }, rest: JsonObject, { result, files }: Answer): JsonObject {
  const { provider_executed } = part;
  const metadata = objectField(rest, "metadata");
  const input = part.params === undefined ? {} : { input: openJson(part.params) };
  const open = objectField(rest, "state");
  const state =
    result === undefined ? open && { ...open, ...input } : { ...stateOf(result, files), ...input };
  return {
    ...rest,
    type: "tool",
    ...optional("callID", part.call_id),
    ...optional("tool", part.name),
    ...optional("state", state),
    ...(provider_executed === undefined
      ? {}
      : { metadata: { ...metadata, providerExecuted: provider_executed } }),
  };
}

function stateOf(result: Part & { type: "tool_result" }, files: readonly Part[]): JsonObject {
  const rest = objectField(sourceOf(result), "record") ?? {};
  const status = field(rest, "status") ?? "completed";
  const answer =
    result.result === undefined ? {} : { [status === "error" ? "error" : "output"]: openJson(result.result) };
  const list = arrayField(rest, "attachments");
  const attachments = list?.map((item, index): JsonValue => {
    const file = files.find((one) => pondFacts(one.options).index === index);
    return file?.type === "file" && isJsonObject(item) ? withFile(file, item) : item;
  });
  return { ...rest, status, ...answer, ...optional("attachments", attachments) };
}
