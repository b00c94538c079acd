/**
 * A record of opencode as its container holds it, whatever the container (docs/adapters/opencode.md#records): one JSON
 * value, and in a database the columns beside it. The ids stand in the value (tree, export) or in columns (database);
 * those that say what the canonical row says anyway are taken out and put back by the same table of names.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { DocumentValue } from "../../kit/document/index.ts";
import { arrayField, extractString, field, objectField, without } from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";

export interface SourceRecord {
  readonly value: DocumentValue;
  /** In a database: the row without the column that holds the value. */
  readonly columns?: JsonObject;
  /** In a database: the text of the value, by which versions are told apart without looking into it. */
  readonly text?: string;
  /** In a tree: the name of its file without `.json`. */
  readonly stem?: string;
  /** Milliseconds since 1970 of its last change. */
  readonly at: number;
  /** Its length in the source. */
  readonly bytes: number;
}

export interface MessageRecord extends SourceRecord {
  readonly parts: readonly SourceRecord[];
  /** It is there, and it or a part of it cannot be read now. */
  readonly isUnreadable?: true;
  /** In an export: what stands beside the message and its parts, or that it is not divided into them. */
  readonly beside?: JsonObject | "whole";
}

/** The object that a record is. */
export function infoOf({ value }: Pick<SourceRecord, "value">): JsonObject | undefined {
  return "json" in value && isJsonObject(value.json) ? value.json : undefined;
}

/** A message with its parts as JSON, which is what native restore makes of it again. */
export function wholeMessage({ parts, beside, ...message }: MessageRecord): JsonObject {
  return {
    ...wholeOf(message),
    parts: parts.map(wholeOf),
    ...(beside === undefined ? {} : { beside }),
  };
}

function wholeOf({ value, columns, stem }: SourceRecord): JsonObject {
  return {
    value: { ...value },
    ...(columns === undefined ? {} : { columns }),
    ...(stem === undefined ? {} : { stem }),
  };
}

type Bare = Omit<SourceRecord, "at" | "bytes">;

/** The inverse of `wholeMessage`. */
export function messageIn(whole: JsonObject): Bare & {
  readonly parts: readonly Bare[];
  readonly beside?: JsonObject | "whole";
} {
  const parts = (arrayField(whole, "parts") ?? []).map((part) => bareIn(isJsonObject(part) ? part : {}));
  const beside = field(whole, "beside");
  if (isJsonObject(beside) || beside === "whole") return { ...bareIn(whole), parts, beside };
  return { ...bareIn(whole), parts };
}

function bareIn(whole: JsonObject): Bare {
  const value = objectField(whole, "value") ?? {};
  const raw = extractString(value, "raw");
  const encoding = field(value, "encoding") === "base64" ? { encoding: "base64" as const } : {};
  return {
    value: raw === undefined ? { json: field(value, "json") ?? null } : { raw, ...encoding },
    ...optional("columns", objectField(whole, "columns")),
    ...optional("stem", extractString(whole, "stem")),
  };
}

/** What a record's ids are called. */
export interface IdNames {
  readonly id: string;
  readonly session: string;
  readonly message: string;
}

const IN_VALUE: IdNames = { id: "id", session: "sessionID", message: "messageID" };
const IN_COLUMNS: IdNames = { id: "id", session: "session_id", message: "message_id" };

/** The ids that a record is expected to have: its session's, and for a part its message's. */
export interface Expected {
  readonly session: string;
  readonly message?: string;
}

/** What is left over of a record, as it goes into `options.source`. */
export interface Leftover {
  /** Undefined when the record has no id that can name its row. */
  readonly id: string | undefined;
  readonly value: JsonValue | undefined;
  /** `columns`, `without`, `stem`, `raw`: everything of `options.source` but the value. */
  readonly source: JsonObject;
}

/** The id by which the client knows a record: its own, else the name of its file. */
export function idOf({ value, columns, stem }: Omit<SourceRecord, "at" | "bytes">): string | undefined {
  const holder = columns ?? ("json" in value && isJsonObject(value.json) ? value.json : {});
  return usableId(extractString(holder, IN_VALUE.id)) ?? usableId(stem);
}

/** Takes the expected ids out; the record's own only when `isFree` says that it names the row. */
export function takeIds(record: SourceRecord, expected: Expected, isFree: (id: string) => boolean): Leftover {
  const json = "json" in record.value ? record.value.json : undefined;
  const inColumns = record.columns !== undefined;
  const names = inColumns ? IN_COLUMNS : IN_VALUE;
  const holder = record.columns ?? (isJsonObject(json) ? json : {});
  const known = idOf(record);
  const id = known !== undefined && isFree(known) ? known : undefined;
  const taken = new Set<string>();
  const missing: string[] = [];
  const wanted: readonly (readonly [string, string | undefined])[] = [
    [names.id, id],
    [names.session, expected.session],
    ...(expected.message === undefined ? [] : [[names.message, expected.message] as const]),
  ];
  for (const [name, value] of wanted)
    if (field(holder, name) === undefined) missing.push(name);
    else if (field(holder, name) === value) taken.add(name);
  const isNamedOtherwise = record.stem !== undefined && record.stem !== id;
  return {
    id,
    value: inColumns || !isJsonObject(json) ? json : without(json, taken),
    source: {
      ...(record.columns === undefined ? {} : { columns: without(record.columns, taken) }),
      ...(missing.length === 0 || !isJsonObject(inColumns ? holder : json) ? {} : { without: missing }),
      ...(isNamedOtherwise ? { stem: record.stem ?? "" } : {}),
      ...("raw" in record.value ? record.value : {}),
    },
  };
}

/** The record again: the inverse of `takeIds`. */
export function putIds(
  value: JsonValue | undefined,
  source: JsonObject,
  ids: Expected & { readonly id: string },
): Omit<SourceRecord, "at" | "bytes"> {
  const columns = field(source, "columns");
  const inColumns = isJsonObject(columns);
  const names = inColumns ? IN_COLUMNS : IN_VALUE;
  const holder = inColumns ? columns : value;
  const named = extractString(source, "stem");
  const stem = named ?? ids.id;
  const raw = extractString(source, "raw");
  const encoding = field(source, "encoding") === "base64" ? { encoding: "base64" as const } : {};
  const body = (json: JsonValue | undefined): SourceRecord["value"] =>
    raw === undefined ? { json: json ?? null } : { raw, ...encoding };
  if (!isJsonObject(holder)) return { value: body(value), stem };
  const restored: Record<string, JsonValue> = { ...holder };
  const absent = field(source, "without");
  const isAbsent = (name: string): boolean => Array.isArray(absent) && absent.includes(name);
  const wanted: readonly (readonly [string, string | undefined])[] = [
    [names.id, ids.id],
    [names.session, ids.session],
    [names.message, ids.message],
  ];
  for (const [name, id] of wanted)
    if (id !== undefined && !Object.hasOwn(holder, name) && !isAbsent(name)) restored[name] = id;
  return inColumns ? { value: body(value), columns: restored, stem } : { value: body(restored), stem };
}

function usableId(id: string | undefined): string | undefined {
  return id !== undefined && id !== "" && id.isWellFormed() ? id : undefined;
}
