/** What a client sent to its model, in one form for all dialects, so that the requests of two clients compare. */
import { createHash } from "node:crypto";
import { stringifyJson } from "../../src/base/json/json.ts";
import type { JsonObject, JsonValue } from "../../src/base/json/json.ts";
import type { OfflineRun } from "./offline.ts";

export type Sent =
  /** `isJoined`: it was a piece of a result. */
  | { readonly kind: "text"; readonly role: string; readonly text: string; readonly isJoined?: true }
  /** `seal`: what only its provider can read or verify. */
  | { readonly kind: "reasoning"; readonly text: string; readonly seal: string }
  | { readonly kind: "image"; readonly hash: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: string }
  | { readonly kind: "result"; readonly id: string; readonly text: string; readonly failed: boolean };

/** The last request that carries the prompt: clients ask for titles beside it. */
export function sentBy({ requests }: Pick<OfflineRun, "requests">, prompt: string): readonly Sent[] {
  const asked = requests.filter(({ path, body }) => {
    const isModel = /\/(?:messages|responses|completions)$/.test(path);
    return isModel && JSON.stringify(body["messages"] ?? body["input"] ?? "").includes(prompt);
  });
  const [last] = asked.toSorted((a, b) => sizeOf(b.body) - sizeOf(a.body));
  if (last === undefined) throw new Error("no request carries the prompt");
  const items = valuesOf(last.body["input"] ?? last.body["messages"]);
  // The other dialects have the system's prompt apart.
  return last.path.endsWith("/completions")
    ? items.filter(({ role }) => role !== "system").flatMap(sentInChat)
    : items.flatMap(sentIn);
}

/** A message of Chat Completions. */
function sentInChat(item: JsonObject): readonly Sent[] {
  if (item["role"] === "tool") return resultOf(textOf(item["tool_call_id"]), item["content"], false);
  const thought = textOf(item["reasoning_content"] ?? item["reasoning_text"]);
  const seal = textOf(item["reasoning_opaque"]);
  const calls = valuesOf(item["tool_calls"]).map((call) => ({
    ...(call["function"] as JsonObject),
    id: call["id"] ?? "",
  }));
  return [
    ...(thought === "" && seal === "" ? [] : [{ kind: "reasoning" as const, text: thought, seal }]),
    ...(item["content"] === "" ? [] : sentIn({ role: item["role"] ?? "", content: item["content"] ?? [] })),
    ...calls.map(callOf),
  ];
}

const sizeOf = (body: object): number => JSON.stringify(body).length;

function sentIn(item: JsonObject): readonly Sent[] {
  const { type, role, content } = item;
  if (typeof role === "string" && (type === undefined || type === "message"))
    return typeof content === "string"
      ? [{ kind: "text", role, text: content }]
      : valuesOf(content).flatMap((block) => sentBlock(role, block));
  return sentBlock("", item);
}

function sentBlock(role: string, block: JsonObject): readonly Sent[] {
  const type = textOf(block["type"]);
  if (type === "text" || type === "input_text" || type === "output_text")
    return [{ kind: "text", role, text: textOf(block["text"]) }];
  if (type === "thinking" || type === "reasoning" || type === "redacted_thinking")
    return [reasoningOf(block)];
  if (type.includes("image") || type === "document") return [{ kind: "image", hash: imageHash(block) }];
  if (type === "tool_result")
    return resultOf(textOf(block["tool_use_id"]), block["content"], block["is_error"] === true);
  if (type.endsWith("_output")) return resultOf(textOf(block["call_id"]), block["output"], false);
  if (type === "tool_use" || type.endsWith("_call")) return [callOf(block)];
  return [{ kind: "text", role, text: stringifyJson(block) }];
}

/** A block of the Messages API or an item of the Responses API, whose texts are summaries and raw thoughts. */
function reasoningOf(block: JsonObject): Sent {
  const texts = [...valuesOf(block["summary"]), ...valuesOf(block["content"])].map((one) =>
    textOf(one["text"]),
  );
  const text = [textOf(block["thinking"]), ...texts].filter((one) => one !== "").join("\n");
  const seal = textOf(block["signature"] ?? block["data"] ?? block["encrypted_content"]);
  return { kind: "reasoning", text, seal };
}

function callOf(block: JsonObject): Sent {
  const id = textOf(block["call_id"] ?? block["id"]);
  const name = textOf(block["name"] ?? block["type"]);
  const given = block["input"] ?? block["arguments"] ?? block["action"] ?? {};
  return {
    kind: "call",
    id: plainId(id),
    name: name.replaceAll(/[^A-Za-z0-9_-]/g, "_"),
    input: inputOf(given),
  };
}

/** Clients that take only objects wrap what is none. */
function inputOf(given: JsonValue): string {
  if (typeof given !== "string") return sorted(given);
  try {
    const value: JsonValue = JSON.parse(given);
    return sorted(typeof value === "object" && value !== null ? value : { input: value });
  } catch {
    return sorted({ input: given });
  }
}

function resultOf(id: string, content: JsonValue | undefined, failed: boolean): readonly Sent[] {
  const blocks = typeof content === "string" ? [] : valuesOf(content);
  // What is neither text nor a picture is shown as it is, all of it.
  if (blocks.some(({ type }) => type === "tool_reference"))
    return [{ kind: "result", id: plainId(id), text: stringifyJson(blocks), failed }];
  const inside = blocks.flatMap((one) => sentBlock("", one));
  const texts = inside.flatMap((one) => (one.kind === "text" ? [one.text] : []));
  const text = typeof content === "string" ? content : texts.join("\n");
  const [said, ...notes] = splitNotes(text);
  return [
    { kind: "result", id: plainId(id), text: said, failed },
    ...notes.map((note) => ({ kind: "text" as const, role: "user", text: note, isJoined: true as const })),
    ...inside.filter(({ kind }) => kind === "image"),
  ];
}

/** Claude Code joins what it tells its model to the end of the result before it. */
function splitNotes(text: string): readonly [string, ...string[]] {
  if (!text.trimEnd().endsWith("</system-reminder>")) return [text];
  const [said = "", ...notes] = text.split(/\n\n(?=<system-reminder>)/);
  return [said, ...notes];
}

/** The alphabet that every provider takes; pi joins two ids by a bar. */
export function plainId(id: string): string {
  return (id.split("|")[0] ?? "").replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/** By its bytes; an address by itself. */
function imageHash(block: JsonObject): string {
  const source = { ...block, ...(block["source"] as JsonObject | undefined) };
  const address = (source["image_url"] as JsonObject | undefined)?.["url"] ?? source["image_url"];
  const data = textOf(source["data"] ?? address ?? source["url"]).replace(/^data:[^,]*,/, "");
  return createHash("sha256").update(data).digest("hex").slice(0, 12);
}

function sorted(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((one) => sorted(one as JsonValue)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${sorted(one as JsonValue)}`).join(",")}}`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const valuesOf = (value: unknown): readonly JsonObject[] =>
  (Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : [value]) as readonly JsonObject[];
