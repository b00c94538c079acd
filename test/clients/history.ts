/** What a client sent to the model, as lines to compare: the history that it made of a restored session. */
import { expect } from "vitest";
import type { OfflineRun } from "./offline.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: { readonly command?: string };
  readonly content?: string | readonly Block[];
  readonly is_error?: boolean;
  readonly source?: { readonly media_type?: string };
}

/** The history in the last request to the model, a line a block. */
export function turnsOf({ requests }: OfflineRun): string[] {
  const messages = requests.findLast(({ path }) => path.endsWith("/messages"))?.body["messages"];
  const turns = messages as readonly { role: string; content: string | readonly Block[] }[];
  return turns.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block) =>
      line(role, block),
    ),
  );
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

/** Each expected line begins a turn, and they come in this order. */
export function expectInOrder(turns: readonly string[], expected: readonly string[]): void {
  let at = -1;
  for (const start of expected) {
    const found = turns.findIndex((turn, index) => index > at && turn.startsWith(start));
    expect({ turns, start, found: found !== -1 }).toEqual({ turns, start, found: true });
    at = found;
  }
}
