/** `pond search`: hits by session for people; `--json` is the wire's own answer. */
import { searchTranscript } from "../../render/index.ts";
import { explainSearch, resolveSession, search as runSearch } from "../../handlers/index.ts";
import { includesSubagents } from "../../wire/index.ts";
import type { SearchRequest } from "../../wire/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { phrasing } from "../terminal/phrasing.ts";
import type { searchFlags } from "../command/verb-flags.ts";

export async function search(verb: VerbContext<typeof searchFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const request: SearchRequest = {
    query: args.join(" "),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.in === undefined ? {} : { in: flags.in }),
    ...(flags.superseded ? { include_superseded: true } : {}),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    filters: {
      ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
      ...(flags.agent === undefined ? {} : { source_agent: flags.agent }),
      ...(flags.session === undefined ? {} : { session_id: await resolveSession(context, flags.session) }),
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
  const { subagents, ...phrases } = phrasing(out.style);
  const phrased = includesSubagents(request.filters ?? {}) ? phrases : { ...phrases, subagents };
  out.result(response, () => searchTranscript(response, args.join(" "), phrased));
  return "done";
}
