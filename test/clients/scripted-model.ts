/**
 * A model that answers from a script, on loopback, in the dialects that our clients speak: Anthropic Messages, OpenAI
 * Responses and Chat Completions. Real clients run against it offline, and what they send shows what they made of a restored
 * session. Run as a program: `node scripted-model.ts <port> <script.json> <requests.ndjson>`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import { zstdDecompressSync } from "node:zlib";

/** The first rule whose `when` occurs in what came after the model's last turn answers. */
export interface Rule {
  /** Text, as JSON escapes it; absent matches always. */
  readonly when?: string;
  readonly thinking?: string;
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  /** An HTTP failure instead of an answer. */
  readonly status?: number;
}

interface Block {
  readonly type: string;
  readonly [name: string]: unknown;
}

const [, , port = "8399", script = "", log = ""] = process.argv;
const rules: readonly Rule[] = script === "" ? [] : JSON.parse(readFileSync(script, "utf8"));
let ids = 0;

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const sent = Buffer.concat(chunks);
    const isPacked = request.headers["content-encoding"] === "zstd";
    answer(request.url ?? "/", (isPacked ? zstdDecompressSync(sent) : sent).toString("utf8"), response);
  });
}).listen(Number(port), "127.0.0.1");

function answer(url: string, raw: string, response: ServerResponse): void {
  const path = url.split("?")[0] ?? "";
  const body = raw === "" ? {} : JSON.parse(raw);
  if (log !== "") appendFileSync(log, `${JSON.stringify({ path, body })}\n`);
  if (path.endsWith("/count_tokens")) return sendJson(response, { input_tokens: 10 });
  if (path.endsWith("/messages")) return sendMessages(response, body, ruleFor(body.messages));
  if (path.endsWith("/responses")) return sendResponses(response, body, ruleFor(body.input));
  if (path.endsWith("/completions")) return sendChat(response, body, ruleFor(body.messages));
  sendJson(response, path.endsWith("/models") ? { object: "list", data: [] } : {});
}

function ruleFor(messages: unknown): Rule {
  const all: readonly { role?: string; type?: string }[] = Array.isArray(messages) ? messages : [];
  const last = all.findLastIndex(({ role, type }) => role === "assistant" || type === "function_call");
  const newest = JSON.stringify(all.slice(last + 1));
  return rules.find(({ when }) => when === undefined || newest.includes(when)) ?? { text: "done" };
}

function nextId(prefix: string): string {
  ids += 1;
  return `${prefix}_${process.pid}${String(ids).padStart(6, "0")}`;
}

function sendMessages(
  response: ServerResponse,
  body: { model?: string; stream?: boolean },
  rule: Rule,
): void {
  if (rule.status !== undefined)
    return sendJson(
      response,
      { type: "error", error: { type: "invalid_request_error", message: "scripted" } },
      rule.status,
    );
  const content: Block[] = [];
  if (rule.thinking !== undefined)
    content.push({ type: "thinking", thinking: rule.thinking, signature: "c2NyaXB0ZWQ=" });
  if (rule.text !== undefined) content.push({ type: "text", text: rule.text });
  for (const { name, input } of rule.tools ?? [])
    content.push({ type: "tool_use", id: nextId("toolu"), name, input });
  const message = {
    id: nextId("msg"),
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason: rule.tools === undefined ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  };
  if (body.stream !== true) return sendJson(response, message);
  const send = openStream(response);
  send({ type: "message_start", message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of content.entries()) {
    for (const part of streamed(block)) send({ ...part, index });
    send({ type: "content_block_stop", index });
  }
  send({
    type: "message_delta",
    delta: { stop_reason: message.stop_reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  });
  send({ type: "message_stop" });
  response.end();
}

/** The events that build one block: its empty start, then its content. */
function streamed(block: Block): readonly { readonly type: string }[] {
  const start = (content_block: Block) => ({ type: "content_block_start", content_block });
  const delta = (value: object) => ({ type: "content_block_delta", delta: value });
  if (block.type === "text")
    return [start({ type: "text", text: "" }), delta({ type: "text_delta", text: block["text"] })];
  if (block.type === "thinking")
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking: block["thinking"] }),
      delta({ type: "signature_delta", signature: block["signature"] }),
    ];
  return [
    start({ ...block, input: {} }),
    delta({ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }),
  ];
}

function sendResponses(
  response: ServerResponse,
  body: { model?: string; stream?: boolean },
  rule: Rule,
): void {
  if (rule.status !== undefined) return sendJson(response, { error: { message: "scripted" } }, rule.status);
  const output: { readonly id: string; readonly type: string; readonly [name: string]: unknown }[] = [];
  if (rule.thinking !== undefined)
    output.push({
      id: nextId("rs"),
      type: "reasoning",
      summary: [{ type: "summary_text", text: rule.thinking }],
      encrypted_content: "c2NyaXB0ZWQ=",
    });
  if (rule.text !== undefined)
    output.push({
      id: nextId("msg"),
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: rule.text, annotations: [] }],
    });
  for (const { name, input } of rule.tools ?? [])
    output.push({
      id: nextId("fc"),
      type: "function_call",
      call_id: nextId("call"),
      name,
      arguments: JSON.stringify(input),
      status: "completed",
    });
  const answered = {
    id: nextId("resp"),
    object: "response",
    created_at: 1,
    status: "completed",
    model: body.model,
    output,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    },
  };
  if (body.stream !== true) return sendJson(response, answered);
  const send = openStream(response);
  send({ type: "response.created", response: { ...answered, status: "in_progress", output: [] } });
  for (const [output_index, item] of output.entries()) {
    send({ type: "response.output_item.added", output_index, item });
    if (item.type === "message") {
      const delta = { item_id: item.id, output_index, content_index: 0, delta: rule.text };
      send({ type: "response.output_text.delta", ...delta });
    }
    send({ type: "response.output_item.done", output_index, item });
  }
  send({ type: "response.completed", response: answered });
  response.end();
}

/** Text only: no test has tools called in this dialect. */
function sendChat(
  response: ServerResponse,
  body: { model?: string; stream?: boolean },
  { text = "" }: Rule,
): void {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const base = { id: nextId("chat"), created: 1, model: body.model, usage };
  const end = { index: 0, finish_reason: "stop" };
  if (body.stream !== true) {
    const choices = [{ ...end, message: { role: "assistant", content: text } }];
    return sendJson(response, { ...base, object: "chat.completion", choices });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const choices = [{ ...end, delta: { role: "assistant", content: text } }];
  response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices })}\n\n`);
  response.end("data: [DONE]\n\n");
}

function openStream(
  response: ServerResponse,
): (event: { readonly type: string; readonly [name: string]: unknown }) => void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
