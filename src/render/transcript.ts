/**
 * Answers of get as transcripts (spec.md#wire-mcp): one delimiter rule a message, told from the text around it, with the ids for
 * the next call. The same for terminals and for agents; only the words for the next call differ. Pure.
 */
import { printJson } from "../base/json/json.ts";
import type { GetResponse, MessageView, SessionResult, WirePart } from "../wire/index.ts";
import { rule, STATES, summaryLine, timeOf } from "./lines.ts";
import type { Phrasing } from "./phrasing.ts";

export function getTranscript(response: GetResponse, phrasing: Phrasing): string {
  const lines = [headOf(response, phrasing)];
  if (response.scope === "message") {
    const { target, target_parts, target_parts_remaining: left } = response;
    const { siblings, siblings_before: before } = response;
    const thread = [...siblings.slice(0, before), target, ...siblings.slice(before)];
    for (const [at, view] of thread.entries())
      lines.push("", ...messageLines(view, { index: at + 1, parts: partsOf(view, response), phrasing }));
    if (left > 0)
      lines.push(
        "",
        phrasing.line(
          `... ${left} more ${left === 1 ? "part" : "parts"}; continue with ${phrasing.after(target_parts.at(-1)?.id ?? "")}`,
        ),
      );
    return [...lines, ...issueLines(response, phrasing)].join("\n");
  }
  for (const [at, view] of response.messages.entries()) {
    const index = response.messages_before + at + 1;
    lines.push("", ...messageLines(view, { index, parts: view.parts, phrasing }));
  }
  return [...lines, ...sessionFooter(response, phrasing), ...issueLines(response, phrasing)].join("\n");
}

/** Stored rows that cannot be read: the transcript is whole but for them. */
function issueLines({ issues = [] }: GetResponse, { line }: Phrasing): string[] {
  return issues.map(({ message_id, part_id, message }) => {
    const part = part_id === undefined ? "" : `, part ${part_id}`;
    const what = message_id === undefined ? "the session" : `message ${message_id}${part}`;
    return line(`cannot be read: ${what}: ${message}`);
  });
}

function headOf({ session }: GetResponse, { line, strong, faint }: Phrasing): string {
  const { id, title, source_agent, project, relation = "child", parent_session_id: parent } = session;
  const name = title === undefined ? "" : `${strong(line(title))}\n`;
  const origin = parent === undefined ? "" : ` | ${relation} of ${parent}`;
  return name + faint(line(`session ${id} | ${source_agent} | ${project}${origin}`));
}

function sessionFooter(result: SessionResult, phrasing: Phrasing): string[] {
  const { messages, messages_remaining: left, hidden, children } = result;
  const lines: string[] = [];
  // The page belongs to what was asked for.
  const same =
    result.history === true
      ? ` ${phrasing.history}`
      : (result.end ?? 1) > 1
        ? ` ${phrasing.end(result.end ?? 1)}`
        : "";
  const first = messages[0];
  const last = messages.at(-1);
  // Read from the end, what remains lies before the page.
  if (left > 0 && result.session_from === "end" && first !== undefined)
    lines.push(
      phrasing.line(
        `... ${left} earlier ${messagesOf(left)}; go back with ${phrasing.before(first.id)}${same}`,
      ),
    );
  else if (left > 0 && last !== undefined)
    lines.push(
      phrasing.line(`... ${left} more ${messagesOf(left)}; continue with ${phrasing.after(last.id)}${same}`),
    );
  if (messages.length === 0) lines.push("no messages here");
  if (hidden > 0)
    lines.push(
      hidden === 1
        ? `1 message is on an abandoned branch; ${phrasing.allBranches} shows it`
        : `${hidden} messages are on abandoned branches; ${phrasing.allBranches} shows them`,
    );
  lines.push(...endLines(result, phrasing), ...stateLines(result, phrasing));
  if (children.length > 0) {
    lines.push(`children (${children.length + result.children_remaining}), each a session of its own:`);
    for (const { id, source_agent, relation, title } of children)
      lines.push(phrasing.line(`  ${[id, source_agent, relation, title].filter(Boolean).join(" | ")}`));
  }
  return lines.length === 0 ? [] : ["", ...lines];
}

/** Where its sources went different ways, and what was replaced or removed. */
function endLines(result: SessionResult, phrasing: Phrasing): string[] {
  const { end: shown, ends = [], replaced = 0, history } = result;
  const lines = ends.map(
    ({ end, source, records, last_at, parted_after: parted, mapped_paths: isMapped }) => {
      const facts = [
        `${records} ${records === 1 ? "record" : "records"}`,
        ...(last_at === undefined ? [] : [`last ${timeOf(last_at)}`]),
        ...(parted === undefined ? [] : [`diverged after ${parted}`]),
        `${source.form} ${source.path}`,
        `read by ${source.reader}`,
        ...(isMapped === true ? ["restored with mapped paths, then continued"] : []),
        end === shown ? "shown here" : phrasing.end(end),
      ];
      return phrasing.line(`  ${end} | ${facts.join(" | ")}`);
    },
  );
  if (lines.length > 0) lines.unshift(`${lines.length} ends, newest first: its sources diverged`);
  if (replaced > 0 && history === undefined) {
    const [messages, they] =
      replaced === 1 ? ["1 stored message was", "it"] : [`${replaced} stored messages were`, "them"];
    lines.push(`${messages} replaced or removed; ${phrasing.history} shows ${they}`);
  }
  return lines;
}

/** What its sources held whenever they were read, where that was more than once. */
function stateLines(
  { session, states = [], states_remaining: left = 0 }: SessionResult,
  phrasing: Phrasing,
): string[] {
  if (states.length < 2) return [];
  const isOne = new Set(states.map(({ source }) => source.id)).size === 1;
  const lines = states.map(({ source, state, records, read_at, whole }) => {
    const facts = [
      `${records} ${records === 1 ? "record" : "records"}${whole ? "" : ", in part"}`,
      `read ${timeOf(read_at)}`,
      `${source.form} ${source.path}`,
      phrasing.state(session.id, state, isOne ? undefined : source.id),
    ];
    return phrasing.line(`  ${facts.join(" | ")}`);
  });
  lines.unshift(`${states.length + left} states of its sources, the newest first; each can be restored:`);
  if (left > 0) lines.push(`  ... and ${left} more ${left === 1 ? "state" : "states"}`);
  return lines;
}

const messagesOf = (count: number): string => (count === 1 ? "message" : "messages");

interface Block {
  readonly index: number;
  /** Whole parts, where they are shown. */
  readonly parts: readonly WirePart[] | undefined;
  readonly phrasing: Phrasing;
}

function messageLines(view: MessageView, { index, parts, phrasing }: Block): string[] {
  const mark = parts !== undefined && view.parts === undefined ? "> " : "";
  const state = view.state === undefined ? "" : ` | ${STATES[view.state]}`;
  const lines = [
    rule(`[${index}] ${mark}${view.role} | ${timeOf(view.timestamp)} | ${view.id}${state}`, phrasing),
  ];
  if (view.content !== undefined) lines.push(phrasing.clean(view.content));
  if (parts !== undefined) return [...lines, ...parts.flatMap((part) => partLines(part, phrasing))];
  if (view.text !== undefined) lines.push(phrasing.clean(view.text));
  return [...lines, ...view.parts_summary.map((part) => summaryLine(part, phrasing))];
}

/** In message mode the one that was asked for is shown whole. */
function partsOf(view: MessageView, response: GetResponse): readonly WirePart[] | undefined {
  return response.scope === "message" && view.id === response.target.id ? response.target_parts : undefined;
}

function partLines(part: WirePart, { clean, line }: Phrasing): string[] {
  const indented = (text: string): string[] =>
    text === ""
      ? []
      : clean(text)
          .split("\n")
          .map((each) => `     ${each}`);
  const name = (value: string | undefined): string => line(value ?? "?");
  switch (part.type) {
    case "text":
      return [clean(part.text ?? "")];
    case "reasoning":
      return ["  (reasoning)", ...indented(part.text ?? "")];
    case "tool_call":
      return [`  -> ${name(part.name)} [${name(part.call_id)}]`, ...indented(textOf(part.params))];
    case "tool_result": {
      const failed = part.is_failure === true ? " (failed)" : "";
      return [`  <- ${name(part.name)} [${name(part.call_id)}]${failed}`, ...indented(textOf(part.result))];
    }
    case "file": {
      const size = "omitted_bytes" in part.data ? `, ${part.data.omitted_bytes} bytes` : "";
      return [`  [file ${line(part.file_name ?? part.media_type ?? "")}${size}]`];
    }
    case "tool_approval_request":
      return [`  [approval request ${line(part.approval_id)}]`];
    case "tool_approval_response": {
      const answer = part.approved === undefined ? "answered" : part.approved ? "given" : "denied";
      return [`  [approval ${line(part.approval_id)} ${answer}]`];
    }
  }
}

/** A text as it is, anything else as compact JSON. */
function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : printJson(value, 0);
}
