/**
 * Parts of opencode to canonical parts (docs/adapters/opencode.md#records). A tool part holds a call and its result in
 * one record: it becomes a call, its attachments, and a result that stands in a tool message. Typed values are taken
 * out; native.ts puts them back.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, FileData, Provenance } from "../../../model/index.ts";
import type { PondFacts, RecordedAuthor } from "../../../model/derived/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { PartDraft } from "../../kit/session/index.ts";
import {
  arrayField,
  extractBoolean,
  extractFailureByStatus,
  extractJson,
  extractPresence,
  extractSpan,
  extractString,
  field,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { injectedKind, isByModel } from "./provenance.ts";

/** What a part becomes: the parts of its own message, and what a tool answered. */
export interface MappedPart {
  readonly own: readonly PartDraft[];
  readonly result?: PartDraft;
  /** A new request to the model begins: results so far belong before it. */
  readonly startsStep: boolean;
}

export interface PartContext {
  readonly role: "user" | "assistant";
  /** The kind of a message that the harness made as a whole. */
  readonly whole: string | undefined;
  /** Who wrote the conversation of a user's message, where the session does not imply it. */
  readonly author?: RecordedAuthor | undefined;
  readonly id: string;
  /** `columns`, `without`, `stem`: what of the record is beside its value. */
  readonly source: JsonObject;
}

/** `value` is the record without the ids that were taken out. */
export function mapPart(value: JsonValue | undefined, context: PartContext): MappedPart {
  const record = isJsonObject(value) ? value : undefined;
  const type = record && extractString(record, "type");
  const startsStep = type === "step-start";
  if (record !== undefined) {
    if (type === "text") return { own: [textPart(record, context)], startsStep };
    if (type === "file") return { own: [filePart(record, context)], startsStep };
    if (type === "reasoning" && context.role === "assistant")
      return { own: [reasoningPart(record, context)], startsStep };
    if (type === "tool" && context.role === "assistant") return { ...toolParts(record, context), startsStep };
  }
  // A record without a type must not come back with one.
  const source =
    record !== undefined && !Object.hasOwn(record, "type") ? withoutType(context.source) : context.source;
  const prompt = record && type === "subtask" ? extractString(record, "prompt") : undefined;
  const rest = record && prompt !== undefined ? without(record, new Set(["prompt"])) : value;
  const text = prompt === undefined ? {} : { text: prompt };
  const part = { type: "text" as const, id: context.id, ...text };
  return { own: [{ ...part, ...injected(type ?? "unknown", rest, source) }], startsStep };
}

function withoutType(source: JsonObject): JsonObject {
  return { ...source, without: [...(arrayField(source, "without") ?? []), "type"] };
}

function textPart(record: JsonObject, context: PartContext): PartDraft {
  const text = extractString(record, "text");
  const rest = without(record, new Set(text === undefined ? ["type"] : ["type", "text"]));
  const part = { type: "text" as const, id: context.id, ...optional("text", text) };
  return { ...part, ...judged(record, rest, context) };
}

function reasoningPart(record: JsonObject, context: PartContext): PartDraft {
  const text = extractString(record, "text");
  const rest = without(record, new Set(text === undefined ? ["type"] : ["type", "text"]));
  const part = { type: "reasoning" as const, id: context.id, ...optional("text", text) };
  return { ...part, ...judged(record, rest, context) };
}

function filePart(record: JsonObject, context: PartContext): PartDraft {
  const { file, rest } = fileOf(record);
  if (file === undefined)
    return { type: "text", id: context.id, ...injected("file", record, context.source) };
  return { type: "file", id: context.id, ...file, ...judged(record, rest, context) };
}

interface FileFields {
  readonly media_type?: Extracted<string>;
  readonly file_name?: Extracted<string>;
  readonly data: FileData;
}

/** The typed fields of a file record, and the record without them; no fields when it has no address. */
function fileOf(record: JsonObject): { readonly file?: FileFields; readonly rest: JsonObject } {
  const url = extractString(record, "url");
  if (url === undefined) return { rest: record };
  const media = extractString(record, "mime");
  const name = extractString(record, "filename");
  const taken = new Set(["type", "url"]);
  if (media !== undefined) taken.add("mime");
  if (name !== undefined) taken.add("filename");
  const rest = without(record, taken);
  const names = { ...optional("media_type", media), ...optional("file_name", name) };
  const comma = url.startsWith("data:") ? url.indexOf(",") + 1 : 0;
  if (comma === 0) return { file: { ...names, data: { kind: "url", value: url } }, rest };
  // The payload goes where payloads are kept; what stands before it stays, and tells that there was such a head.
  const data = { kind: "string" as const, value: extractSpan(url, comma) };
  return { file: { ...names, data }, rest: { ...rest, url: url.slice(0, comma) } };
}

function toolParts(record: JsonObject, context: PartContext): Pick<MappedPart, "own" | "result"> {
  const state = objectField(record, "state");
  const call_id = extractString(record, "callID");
  const name = extractString(record, "tool");
  const metadata = objectField(record, "metadata");
  const provider_executed = metadata && extractBoolean(metadata, "providerExecuted");
  const params = state && extractJson(state, "input");
  const taken = new Set(["type"]);
  if (call_id !== undefined) taken.add("callID");
  if (name !== undefined) taken.add("tool");
  if (state !== undefined) taken.add("state");
  const rest: Record<string, JsonValue> = { ...without(record, taken) };
  if (metadata !== undefined && provider_executed !== undefined)
    rest["metadata"] = without(metadata, new Set(["providerExecuted"]));
  const answer = state && answerOf(state);
  const stateRest = state && without(state, new Set(["input", ...(answer?.taken ?? [])]));
  if (stateRest !== undefined && answer === undefined) rest["state"] = stateRest;
  const call: PartDraft = {
    type: "tool_call",
    id: context.id,
    provenance: "conversational",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("params", params),
    ...optional("provider_executed", provider_executed),
    options: { source: { ...context.source, record: rest } },
  };
  if (state === undefined || answer === undefined || stateRest === undefined) return { own: [call] };
  const { files, attachments } = attachmentsOf(state, context.id);
  const result: PartDraft = {
    type: "tool_result",
    id: context.id,
    provenance: "injected",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("is_failure", failureOf(state)),
    ...optional("result", extractJson(state, answer.name)),
    options: withFacts(
      { source: { record: attachments === undefined ? stateRest : { ...stateRest, attachments } } },
      { injected: "tool-result" },
    ),
  };
  return { own: [call, ...files], result };
}

/** Where a settled state keeps its answer; undefined while the tool has not answered. */
function answerOf(
  state: JsonObject,
): { readonly name: string; readonly taken: readonly string[] } | undefined {
  const status = field(state, "status");
  if (typeof status !== "string" || status === "pending" || status === "running") return undefined;
  const name = status === "error" ? "error" : "output";
  // The usual status is told by the answer being there; any other is kept.
  return { name, taken: status === "completed" ? [name, "status"] : [name] };
}

/** A command that ended with another status than 0 failed, although its tool completed. */
function failureOf(state: JsonObject): Extracted<boolean> | undefined {
  const status = field(state, "status");
  if (status === "error") return extractPresence(state, "status");
  const metadata = objectField(state, "metadata");
  const failed =
    metadata && typeof field(metadata, "exit") === "number" && extractFailureByStatus(metadata, "exit");
  if (failed !== undefined && failed !== false) return failed;
  return status === "completed" ? extractPresence(state, "error") : undefined;
}

/** Payloads of what a tool attached become files beside its call; the list keeps their records without them. */
function attachmentsOf(
  state: JsonObject,
  id: string,
): { readonly files: readonly PartDraft[]; readonly attachments?: readonly JsonValue[] } {
  const list = arrayField(state, "attachments");
  if (list === undefined) return { files: [] };
  const files: PartDraft[] = [];
  const attachments = list.map((item, index): JsonValue => {
    const { file, rest } = isJsonObject(item) ? fileOf(item) : { rest: item };
    if (file?.data.kind !== "string" || !isJsonObject(item) || !isJsonObject(rest)) return item;
    files.push({
      type: "file",
      id: `${id}/${index}`,
      provenance: "injected",
      ...file,
      options: withFacts({}, { injected: "attachment", of: id, index }),
    });
    return Object.hasOwn(item, "type") ? { ...rest, type: item["type"] ?? null } : rest;
  });
  return { files, attachments };
}

function judged(
  record: JsonObject,
  rest: JsonObject,
  context: PartContext,
): { readonly provenance: Provenance; readonly options: JsonObject } {
  const kind = injectedKind(record, context);
  if (kind !== undefined) return injected(kind, rest, context.source);
  const source = { ...context.source, record: rest };
  const author = context.role === "user" ? context.author : undefined;
  return {
    provenance: "conversational",
    options: withFacts({ source }, author === undefined ? {} : { author }),
  };
}

function injected(
  kind: string,
  rest: JsonValue | undefined,
  source: JsonObject,
): { readonly provenance: "injected"; readonly options: JsonObject } {
  const record = rest === undefined ? {} : { record: rest };
  const facts: PondFacts = { injected: kind, ...(isByModel(kind) ? { author: "model" } : {}) };
  return { provenance: "injected", options: withFacts({ source: { ...source, ...record } }, facts) };
}
