/** What a client sent to the model, as lines to compare: the history that it made of a restored session. */
import { expect } from "vitest";
import type { OfflineRun } from "./offline.ts";

/** The history in the last request to the model, a line a block, in either dialect. */
export function turnsOf({ requests }: OfflineRun): string[] {
  const last = requests.findLast(({ path }) => path.endsWith("/messages") || path.endsWith("/responses"));
  if (last?.path.endsWith("/responses") === true)
    return (last.body["input"] as readonly Item[]).flatMap(linesOfItem);
  const turns = last?.body["messages"] as readonly { role: string; content: string | readonly Block[] }[];
  return turns.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block) =>
      line(role, block),
    ),
  );
}

/** Each expected line begins a turn, and they come in this order. */
export function expectInOrder(turns: readonly string[], expected: readonly string[]): void {
  let at = -1;
  for (const start of expected) {
    const found = turns.findIndex((turn, index) => index > at && turn.startsWith(start));
    expect(found === -1 ? { missing: start, turns } : undefined).toBeUndefined();
    at = found;
  }
}

/** A block of the Messages API. */
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: { readonly command?: string };
  readonly content?: string | readonly Block[];
  readonly is_error?: boolean;
  readonly source?: { readonly media_type?: string };
}

function line(role: string, block: Block): string {
  if (block.type === "text") return `${role}: ${block.text}`;
  if (block.type === "image") return `${role}: image ${block.source?.media_type}`;
  if (block.type === "tool_use")
    return `call: ${block.name} ${typeof block.input?.command === "string" ? block.input.command : JSON.stringify(block.input)}`;
  if (block.type !== "tool_result") return block.type;
  const { content = "" } = block;
  const text =
    typeof content === "string" ? content : content.map((one) => line("", one).slice(2)).join("\n");
  return `${block.is_error === true ? "failure" : "result"}: ${text}`;
}

/** An item of the Responses API. */
interface Item {
  readonly type: string;
  readonly role?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: unknown;
  readonly content?: readonly { readonly text?: string; readonly image_url?: string }[];
}

function linesOfItem(item: Item): string[] {
  if (item.type === "function_call") return [`call: ${item.name} ${item.arguments}`];
  if (item.type.endsWith("_output"))
    return [`result: ${typeof item.output === "string" ? item.output : JSON.stringify(item.output)}`];
  if (item.type !== "message") return [item.type];
  return (item.content ?? []).map(({ text, image_url }) => `${item.role}: ${text ?? `image ${image_url}`}`);
}
