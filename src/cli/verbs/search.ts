/** `pond search`: hits by session for people; `--json` is the wire's own answer. */
import { explainSearch, search as runSearch } from "../../handlers/index.ts";
import type { SearchRequest, SearchResponse } from "../../wire/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { count } from "../number.ts";
import type { Style } from "../style.ts";
import { safeText } from "../text.ts";
import type { searchFlags } from "../verb-flags.ts";

export async function search(verb: VerbContext<typeof searchFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const request: SearchRequest = {
    query: args.join(" "),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    filters: {
      ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
      ...(flags.agent === undefined ? {} : { source_agent: flags.agent }),
      ...(flags.session === undefined ? {} : { session_id: flags.session }),
      ...(flags.role === undefined ? {} : { role: flags.role }),
      ...(flags.from === undefined ? {} : { from_date: flags.from }),
      ...(flags.to === undefined ? {} : { to_date: flags.to }),
      ...(flags.subagents ? { include_subagents: true } : {}),
    },
  };
  if (flags.explain) {
    const plan = await explainSearch(context, request);
    out.result({ plan }, () => plan);
    return "done";
  }
  const response = await runSearch(context, request);
  out.result(response, () => render(response, { query: args.join(" "), style: out.style }));
  return "done";
}

function render(
  response: SearchResponse,
  { query, style }: { readonly query: string; readonly style: Style },
): string {
  const scope = `${count(response.searchable_in_scope)} messages with text were in scope`;
  if (response.sessions.length === 0)
    return `nothing matches ${JSON.stringify(query)}; ${scope}. Subagents are left out unless --subagents is given; --mode exact finds any text`;
  const lines: string[] = [];
  for (const session of response.sessions) {
    const matched = `${count(session.matched_message_count)} of ${count(session.session_messages_count)} messages`;
    lines.push(style.bold(`=== ${safeText(session.title ?? session.session_id)}`));
    lines.push(
      style.dim(
        `${session.session_id} | ${session.source_agent} | ${safeText(session.project)} | ${matched}`,
      ),
    );
    for (const hit of session.matches) {
      const time = hit.timestamp.replace("T", " ").slice(0, 19);
      const inside =
        hit.kind === undefined ? "" : ` | ${[hit.kind, hit.tool_name].filter(Boolean).join(" ")}`;
      const rule = `--- ${hit.score.toFixed(2)} | ${hit.role} | ${time}Z | ${hit.message_id}${inside} `;
      lines.push(rule.padEnd(72, "-"), safeText(hit.text));
      if (hit.also_in !== undefined)
        lines.push(style.dim(`also in ${hit.also_in.map(({ session_id }) => session_id).join(", ")}`));
    }
    lines.push("");
  }
  const least = response.matched_total_exact ? "" : "at least ";
  lines.push(
    `${least}${count(response.matched_total)} messages match; ${scope}. Read one: pond get --message <id>`,
  );
  if (response.next_cursor !== undefined) lines.push(`more: --cursor ${response.next_cursor}`);
  return lines.join("\n");
}
