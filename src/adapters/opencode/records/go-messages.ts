/**
 * Messages of the first opencode, written in Go (docs/adapters/opencode.md#go): a row with its parts as a JSON array of
 * `{ type, data }`. Both directions stand here, because they share one table of names.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Part } from "../../../model/index.ts";
import { openJson } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { LogRecord, MessageDraft, PartDraft } from "../../kit/session/index.ts";
import {
  extractBoolean,
  extractJson,
  extractName,
  extractString,
  extractTimestamp,
  field,
  objectField,
  without,
} from "../../kit/extract/index.ts";
import { optional } from "../../../base/optional.ts";
import { goMessageHash } from "./hashes.ts";
import type { MessageContext } from "./records.ts";
import type { MessageRecord } from "./record.ts";
import { idOf, takeIds, wholeMessage } from "./record.ts";

/** Which role a row's role becomes; any other row is carried. */
const ROLES: ReadonlyMap<string, "user" | "assistant" | "tool"> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "tool"],
]);

/** The names of the tools by call, as far as the log has been read. */
export type CallNames = Map<string, Extracted<string>>;

export function goEntry(
  message: MessageRecord,
  context: MessageContext & { readonly calls: CallNames },
): LogRecord {
  const columns = message.columns ?? {};
  const json = "json" in message.value ? message.value.json : null;
  const hash = goMessageHash(message);
  const id = context.log.identify("message", idOf(message), hash);
  const left = takeIds(message, { session: context.session }, () => id.isSource);
  const role = ROLES.get(extractString(columns, "role") ?? "");
  const parts = Array.isArray(json) ? json : undefined;
  const mapped =
    role && parts?.map((part, index) => goPart(part, { role, id: String(index), calls: context.calls }));
  const isTurn = mapped !== undefined && mapped.every((part) => part !== undefined);
  const record = isTurn || left.value === undefined ? {} : { record: left.value };
  const draft: MessageDraft = {
    role: (isTurn && role) || "system",
    options: withFacts({ source: { ...left.source, ...record } }, { parent: context.previous }),
    parts: isTurn ? mapped : [],
  };
  return {
    id,
    timestamp: extractTimestamp(columns, "created_at"),
    bytes: message.bytes,
    drafts: [draft],
    hash,
    at: message.at,
    whole: () => wholeMessage(message),
  };
}

interface GoContext {
  readonly role: "user" | "assistant" | "tool";
  readonly id: string;
  readonly calls: CallNames;
}

/** Undefined when the part cannot stand in a message of this role: then the whole row is carried. */
function goPart(value: JsonValue, context: GoContext): PartDraft | undefined {
  const record = isJsonObject(value) ? value : {};
  const type = extractString(record, "type");
  const data = objectField(record, "data");
  const { role, id } = context;
  const say = (taken: readonly string[]): JsonObject => ({
    source: { record: data === undefined ? value : { ...record, data: without(data, new Set(taken)) } },
  });
  if (data !== undefined) {
    const text = type === "text" ? extractString(data, "text") : undefined;
    if (text !== undefined && role !== "tool")
      return { type: "text", id, provenance: "conversational", text, options: say(["text"]) };
    const thinking = type === "reasoning" ? extractString(data, "thinking") : undefined;
    if (thinking !== undefined && role === "assistant")
      return {
        type: "reasoning",
        id,
        provenance: "conversational",
        text: thinking,
        options: say(["thinking"]),
      };
    if (type === "tool_call" && role === "assistant") return goCall(data, context, say);
    if (type === "tool_result" && role !== "user") return goResult(data, context, say);
    const payload = type === "binary" ? extractString(data, "Data") : undefined;
    if (payload !== undefined && role !== "tool") return goFile(data, payload, { id, say });
  }
  if (role === "tool") return undefined;
  const options = withFacts({ source: { record: value } }, { injected: type ?? "unknown" });
  return { type: "text", id, provenance: "injected", options };
}

type Say = (taken: readonly string[]) => JsonObject;

function goCall(data: JsonObject, { id, calls }: GoContext, say: Say): PartDraft {
  const call_id = extractString(data, "id");
  const name = extractString(data, "name");
  if (call_id !== undefined && name !== undefined) calls.set(call_id, name);
  return {
    type: "tool_call",
    id,
    provenance: "conversational",
    ...optional("call_id", call_id),
    ...optional("name", name),
    ...optional("params", extractJson(data, "input")),
    options: say([
      ...(call_id === undefined ? [] : ["id"]),
      ...(name === undefined ? [] : ["name"]),
      "input",
    ]),
  };
}

/** The name of the tool is empty in many results: then the call tells it, and the empty one stays. */
function goResult(data: JsonObject, { id, calls }: GoContext, say: Say): PartDraft {
  const call_id = extractString(data, "tool_call_id");
  const own = extractName(data, "name");
  const failed = extractBoolean(data, "is_error");
  const taken = [
    ...(call_id === undefined ? [] : ["tool_call_id"]),
    ...(own === undefined ? [] : ["name"]),
    ...(failed === undefined ? [] : ["is_error"]),
    "content",
  ];
  return {
    type: "tool_result",
    id,
    provenance: "injected",
    ...optional("call_id", call_id),
    ...optional("name", own ?? (call_id === undefined ? undefined : calls.get(call_id))),
    ...optional("is_failure", failed),
    ...optional("result", extractJson(data, "content")),
    options: withFacts(say(taken), { injected: "tool-result" }),
  };
}

function goFile(
  data: JsonObject,
  payload: Extracted<string>,
  { id, say }: { readonly id: string; readonly say: Say },
): PartDraft {
  const media_type = extractString(data, "MIMEType");
  const file_name = extractString(data, "Path");
  return {
    type: "file",
    id,
    provenance: "conversational",
    ...optional("media_type", media_type),
    ...optional("file_name", file_name),
    data: { kind: "string", value: payload },
    options: say([
      "Data",
      ...(media_type === undefined ? [] : ["MIMEType"]),
      ...(file_name === undefined ? [] : ["Path"]),
    ]),
  };
}

/** A part of a row again. */
export function goPartValue(part: Part): JsonValue {
  const source = objectField(part.options, "source") ?? {};
  const record = field(source, "record") ?? null;
  const rest = isJsonObject(record) ? objectField(record, "data") : undefined;
  if (!isJsonObject(record) || rest === undefined) return record;
  return { ...record, data: { ...rest, ...typedOf(part, rest) } };
}

function typedOf(part: Part, rest: JsonObject): JsonObject {
  if (part.type === "text") return part.text === undefined ? {} : { text: part.text };
  if (part.type === "reasoning") return part.text === undefined ? {} : { thinking: part.text };
  if (part.type === "tool_call")
    return {
      ...optional("id", part.call_id),
      ...optional("name", part.name),
      ...(part.params === undefined ? {} : { input: openJson(part.params) }),
    };
  if (part.type === "tool_result")
    return {
      ...optional("tool_call_id", part.call_id),
      ...(Object.hasOwn(rest, "name") ? {} : optional("name", part.name)),
      ...optional("is_error", part.is_failure),
      ...(part.result === undefined ? {} : { content: openJson(part.result) }),
    };
  if (part.type !== "file" || part.data.kind !== "string") return {};
  return {
    Data: part.data.value,
    ...optional("MIMEType", part.media_type),
    ...optional("Path", part.file_name),
  };
}
