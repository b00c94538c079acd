/** Hits as a transcript (spec.md#wire-mcp): by session, each under a rule with its ids, with what matched in it marked. Pure. */
import type { Hit, HitSession, SearchResponse } from "../wire/index.ts";
import { vectorsLine } from "./explanation.ts";
import { rule, STATES, summaryLine, timeOf } from "./lines.ts";
import type { Phrasing } from "./phrasing.ts";

export function searchTranscript(response: SearchResponse, query: string, phrasing: Phrasing): string {
  const wrap = phrasing.wrap ?? asItIs;
  const name = JSON.stringify(phrasing.line(query));
  if (response.sessions.length === 0)
    return wrap(`nothing matches ${name}${nothingElse(response, phrasing)}`);
  const shown = response.sessions.reduce((sum, { matches }) => sum + matches.length, 0);
  const least = response.matched_total_exact ? "" : "at least ";
  const matching = response.matched_total === 1 ? "message matches" : "messages match";
  const lines = [
    wrap(
      `${name}: ${least}${response.matched_total} ${matching}${byMeaning(response)}, ${shown} of them shown, by session; ${scopeOf(response)}.`,
    ),
  ];
  let index = 0;
  for (const session of response.sessions) {
    lines.push("", ...sessionHeader(session, phrasing).map(wrap));
    for (const hit of session.matches) lines.push(...hitLines(hit, session, { index: ++index, phrasing }));
  }
  lines.push(...vectorLines(response, phrasing));
  const { open, message, session } = phrasing;
  lines.push(
    "",
    open === undefined ? `read one: ${message}; its session: ${session}` : `a session: ${session}`,
  );
  if (response.next_cursor !== undefined) lines.push(`more: ${phrasing.cursor(response.next_cursor)}`);
  return lines.join("\n");
}

function byMeaning({ matched_total: all, vectors }: SearchResponse): string {
  const alone = vectors?.alone ?? 0;
  if (alone === 0) return "";
  return alone >= all ? " in meaning, though no word does" : ` (${alone} in meaning alone)`;
}

/** Only what people should know: that the model failed them, or has not come to all messages yet. */
function vectorLines({ vectors }: SearchResponse, { faint, line }: Phrasing): string[] {
  const isWorthSaying = vectors?.state === "failed" || (vectors?.missing ?? 0) > 0;
  return vectors !== undefined && isWorthSaying ? ["", faint(line(`vectors: ${vectorsLine(vectors)}`))] : [];
}

const asItIs = (text: string): string => text;

/** Why there is nothing, and what else to try. */
function nothingElse(response: SearchResponse, phrasing: Phrasing): string {
  const { next_cursor: next } = response;
  const more = next === undefined ? "" : ` so far; continue with ${phrasing.cursor(next)}`;
  const advice =
    response.mode === "words" ? ` ${phrasing.exact} finds any text, including text in tools.` : "";
  const without =
    phrasing.subagents === undefined ? "" : ` Subagents are left out unless ${phrasing.subagents}.`;
  return `${more}; ${scopeOf(response)}.${without}${advice}`;
}

function scopeOf(response: SearchResponse): string {
  // Exact text and patterns are looked for in tools too, so that more may match than have text.
  const tools = response.mode === "words" ? "" : ", and all tool calls and results,";
  // Other ends are searched too, and not counted among the messages that sessions have now.
  const isMore = response.mode === "words" && response.matched_total > response.searchable_in_scope;
  const searched = isMore ? `at least ${response.matched_total}` : `${response.searchable_in_scope}`;
  const unsearched = response.sessions_unsearched ?? 0;
  const left =
    unsearched === 0
      ? ""
      : `, ${unsearched} ${unsearched === 1 ? "session" : "sessions"} of it not searched yet`;
  return `${searched} messages with text${tools} were in scope${left}`;
}

interface Block {
  readonly index: number;
  readonly phrasing: Phrasing;
}

function hitLines(hit: Hit, session: HitSession, { index, phrasing }: Block): string[] {
  const { faint, line, open, wrap = asItIs } = phrasing;
  const inside = hit.kind === undefined ? [] : [[hit.kind, hit.tool_name].filter(Boolean).join(" ")];
  const named = open === undefined ? [hit.message_id] : [];
  const facts = [hit.score.toFixed(2), hit.role, timeOf(hit.timestamp), ...named, ...inside];
  if (hit.state !== undefined) facts.push(STATES[hit.state]);
  if (hit.newer !== undefined)
    facts.push(`session continued for ${lengthOf(hit.timestamp, hit.newer.last_at)}`);
  const lines = [rule(`[${index}] ${facts.join(" | ")}`, phrasing), marked(hit, phrasing)];
  lines.push(...(hit.parts_summary ?? []).map((part) => summaryLine(part, phrasing)));
  if (hit.also_in !== undefined)
    lines.push(faint(line(`  also in ${hit.also_in.map(({ session_id }) => session_id).join(", ")}`)));
  const shown = lines.map(wrap);
  // A command in two lines would be two commands where it is pasted.
  return open === undefined ? shown : [...shown, faint(open(session.session_id, hit.message_id))];
}

/** The text with what matched in it; each piece is made harmless by itself, so that nothing of it can look like a mark. */
function marked({ text, highlights = [] }: Hit, { clean, match = asItIs }: Phrasing): string {
  let shown = "";
  let at = 0;
  for (const { start, end } of highlights) {
    shown += clean(text.slice(at, start)) + match(clean(text.slice(start, end)));
    at = end;
  }
  return shown + clean(text.slice(at));
}

const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** In the largest unit that it has one of. */
function lengthOf(from: string, to: string): string {
  const seconds = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const [size, name] = UNITS.find(([each]) => seconds >= each) ?? [1, "second"];
  const count = Math.floor(seconds / size);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

function sessionHeader(session: HitSession, { line, strong, faint }: Phrasing): string[] {
  const { session_id, title, source_agent, project, matched_message_count: matched } = session;
  const all = session.session_messages_count;
  // Other ends, and what was removed, count for nothing among the messages that a session has now.
  const counts = matched > all ? `${matched} matches, ${all} messages now` : `${matched} of ${all} messages`;
  return [
    strong(`=== ${line(title ?? session_id)}`),
    faint(
      line(
        `session ${session_id} | ${source_agent} | ${project} | ${counts} | last ${timeOf(session.last_at)}`,
      ),
    ),
  ];
}
