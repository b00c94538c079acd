/** `pond get`: a transcript for people and agents; `--json` is the wire's own answer. */
import { get as runGet } from "../../handlers/index.ts";
import type { GetResponse, MessageView, PartSummary, SessionResult, WirePart } from "../../wire/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { count } from "../number.ts";
import { safeText } from "../text.ts";
import type { getFlags } from "../verb-flags.ts";

export async function get(verb: VerbContext<typeof getFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const response = await runGet(context, {
    ...(args[0] === undefined ? {} : { session_id: args[0] }),
    ...(flags.message === undefined ? {} : { message_id: flags.message }),
    ...(flags.mode === undefined ? {} : { response_mode: flags.mode }),
    ...(flags.from === undefined ? {} : { session_from: flags.from }),
    ...(flags.after === undefined ? {} : { after_id: flags.after }),
    ...(flags.before === undefined ? {} : { before_id: flags.before }),
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
    ...(flags.context === undefined ? {} : { context_depth: flags.context }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
  });
  out.result(response, () => render(response));
  return "done";
}

function render(response: GetResponse): string {
  const { id, source_agent, project, title } = response.session;
  const head = [
    ...(title === undefined ? [] : [safeText(title)]),
    `session ${id} | ${source_agent} | ${safeText(project)}`,
  ];
  if (response.scope === "session") return [...head, ...sessionLines(response)].join("\n");
  const thread = [...response.siblings, response.target].toSorted(byPosition);
  const blocks = thread.map((view) =>
    view.id === response.target.id ? block(view, response.target_parts, "> ") : block(view, undefined, ""),
  );
  const more =
    response.target_parts_remaining === 0
      ? []
      : [
          `... ${count(response.target_parts_remaining)} more parts; --after ${response.target_parts.at(-1)?.id ?? ""}`,
        ];
  return [...head, ...blocks, ...more].join("\n");
}

function sessionLines(result: SessionResult): string[] {
  const blocks = result.messages.map((view) => block(view, view.parts, ""));
  const last = result.messages.at(-1);
  const lines = [...blocks];
  if (result.hidden > 0)
    lines.push(
      `${count(result.hidden)} messages are on branches that are not active; --branch all shows them`,
    );
  if (result.messages_remaining > 0 && last !== undefined)
    lines.push(`... ${count(result.messages_remaining)} more messages; --after ${last.id}`);
  if (result.children.length > 0) {
    lines.push(`children (${count(result.children.length + result.children_remaining)}):`);
    for (const child of result.children)
      lines.push(`  ${child.id} | ${child.source_agent} | ${safeText(child.title ?? "")}`);
  }
  return lines;
}

/** One message: a rule that no text can be taken for, then what was said, then its parts. */
function block(view: MessageView, parts: readonly WirePart[] | undefined, mark: string): string {
  const time = view.timestamp.replace("T", " ").slice(0, 19);
  const rule = `--- ${mark}${view.role} | ${time}Z | ${view.id} `;
  const lines = ["", rule.padEnd(72, "-")];
  if (parts === undefined) {
    if (view.text !== undefined) lines.push(safeText(view.text));
    if (view.content !== undefined) lines.push(safeText(view.content));
    lines.push(...view.parts_summary.map(summaryLine));
  } else {
    if (view.content !== undefined) lines.push(safeText(view.content));
    lines.push(...parts.map(partLines));
  }
  return lines.join("\n");
}

function summaryLine({ kind, label, is_failure }: PartSummary): string {
  const name = safeText(label ?? "");
  const failed = is_failure === true ? " (failed)" : "";
  if (kind === "tool_call") return `  -> ${name}`;
  if (kind === "tool_result") return `  <- ${name}${failed}`;
  return `  [${kind} ${name}]`;
}

function partLines(part: WirePart): string {
  switch (part.type) {
    case "text":
      return safeText(part.text ?? "");
    case "reasoning":
      return `  (reasoning)\n${indent(part.text ?? "")}`;
    case "tool_call":
      return `  -> ${part.name ?? "?"} [${part.call_id ?? "?"}]\n${indent(jsonText(part.params))}`;
    case "tool_result":
      return `  <- ${part.name ?? "?"} [${part.call_id ?? "?"}]${part.is_failure === true ? " (failed)" : ""}\n${indent(jsonText(part.result))}`;
    case "file":
      return `  [file ${part.file_name ?? part.media_type ?? ""}]`;
    case "tool_approval_request":
      return `  [approval request ${part.approval_id}]`;
    case "tool_approval_response":
      return `  [approval ${part.approval_id} ${part.approved ? "given" : "denied"}]`;
  }
}

function jsonText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 1) ?? "");
}

function indent(text: string): string {
  return safeText(text)
    .split("\n")
    .map((line) => `     ${line}`)
    .join("\n");
}

function byPosition(a: MessageView, b: MessageView): number {
  return (a.seq ?? 0) - (b.seq ?? 0) || (a.timestamp < b.timestamp ? -1 : 1);
}
