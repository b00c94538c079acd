/** What the records of Qwen Code are (docs/adapters/qwen-code.md#records), for reading and for native restore. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted } from "../../../model/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import type { BlockShape, Injected, RecordShapes, TurnShape } from "../../kit/shapes/index.ts";
import {
  arrayField,
  extractFailureByStatus,
  extractName,
  extractPresence,
  extractString,
  objectField,
} from "../../kit/extract/index.ts";

const PARTS = "/message/parts";

const TURNS: ReadonlyMap<string, TurnShape> = new Map<string, TurnShape>([
  ["user", { role: "user", blocks: PARTS, injected: injectedIn }],
  ["assistant", { role: "assistant", blocks: PARTS }],
  ["tool_result", { role: "tool", blocks: PARTS, injected: () => () => ({ kind: "tool" }) }],
]);

/** A compressed history begins with the summary; what else is in it repeats turns before. */
const COMPRESSION: TurnShape = {
  role: "user",
  blocks: "/systemPayload/compressedHistory/0/parts",
  injected: () => () => ({ kind: "compaction-summary", author: "model" }),
};

const BLOCKS: readonly BlockShape[] = [
  { part: "reasoning", text: "/text", when: (block) => block["thought"] === true },
  { part: "text", text: "/text" },
  {
    part: "tool_call",
    id: "/functionCall/id",
    name: "/functionCall/name",
    params: "/functionCall/args",
  },
  {
    part: "tool_result",
    id: "/functionResponse/id",
    name: "/functionResponse/name",
    result: "/functionResponse/response",
    failure: failureOf,
  },
  { part: "file", data: "/inlineData/data", media_type: "/inlineData/mimeType" },
];

export const SHAPES: RecordShapes = {
  id: "uuid",
  parent: "parentUuid",
  timestamp: "timestamp",
  kind: "type",
  turn: turnOf,
  blocks: BLOCKS,
  facts: factsOf,
};

/** A record may say what a turn used, and have no message. */
function turnOf(record: JsonObject): TurnShape | undefined {
  if (isCompression(record)) return COMPRESSION;
  return Object.hasOwn(record, "message") ? TURNS.get(extractString(record, "type") ?? "") : undefined;
}

/** User records that nobody typed, by subtype: whoever wrote a scheduled prompt is not recorded. */
const UNTYPED: ReadonlyMap<string, Injected> = new Map<string, Injected>([
  ["notification", { kind: "notification" }],
  ["cron", { kind: "schedule", author: "unknown" }],
]);

/** The client puts the files of `@file` between these blocks, behind what was typed. */
const FILES = "\n--- Content from referenced files ---";
const FILES_END = "\n--- End of content ---";

function injectedIn(record: JsonObject, blocks: readonly JsonValue[]): (at: number) => Injected | undefined {
  const untyped = UNTYPED.get(extractString(record, "subtype") ?? "");
  if (untyped !== undefined) return () => untyped;
  const start = blocks.findIndex((block) => textOf(block) === FILES);
  const last = blocks.findLastIndex((block) => textOf(block) === FILES_END);
  const end = last < start ? blocks.length - 1 : last;
  return (at) => (start !== -1 && at >= start && at <= end ? { kind: "file" } : undefined);
}

const textOf = (block: JsonValue): string | undefined =>
  isJsonObject(block) ? extractString(block, "text") : undefined;

/** A response has `output` or `error`; that of a subagent's tool says `success`. */
function failureOf(block: JsonObject): Extracted<boolean> | undefined {
  const response = objectField(objectField(block, "functionResponse") ?? {}, "response");
  return response && (extractFailureByStatus(response, "success") ?? extractPresence(response, "error"));
}

/** A name that a person gave, and one that a model made. */
const TITLE_RANKS = { manual: 30, auto: 20 };

function factsOf(record: JsonObject): PondFacts {
  const origin = objectField(record, "forkedFrom") ?? {};
  const session_id = extractName(origin, "sessionId");
  const message_id = extractName(origin, "messageUuid");
  const replays =
    session_id === undefined || message_id === undefined ? {} : { replays: { session_id, message_id } };
  if (isCompression(record)) return { ...replays, compaction: "summary" };
  const payload = objectField(record, "systemPayload") ?? {};
  const isTitle = extractString(record, "subtype") === "custom_title";
  if (!isTitle || (extractString(payload, "customTitle") ?? "").trim() === "") return replays;
  const rank = extractString(payload, "titleSource") === "auto" ? TITLE_RANKS.auto : TITLE_RANKS.manual;
  return { ...replays, title: { at: "/source/record/systemPayload/customTitle", rank } };
}

/** The client counts a compression only where there is a history; its turns are told by what reading leaves of it. */
function isCompression(record: JsonObject): boolean {
  if (extractString(record, "subtype") !== "chat_compression") return false;
  const [summary] = arrayField(objectField(record, "systemPayload") ?? {}, "compressedHistory") ?? [];
  return isJsonObject(summary);
}
