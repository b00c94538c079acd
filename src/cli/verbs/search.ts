/** `pond search`: hits by session for people; `--json` is the wire's own answer. */
import { optionWords, shellLine } from "../../base/shell.ts";
import { explanationText, searchTranscript } from "../../render/index.ts";
import type { Phrasing } from "../../render/index.ts";
import { explainSearch, resolveSession, search as runSearch, shortIds } from "../../handlers/index.ts";
import type { Context } from "../../handlers/index.ts";
import { includesSubagents } from "../../wire/index.ts";
import type { SearchRequest, SearchResponse } from "../../wire/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import { datesOf } from "../command/dates.ts";
import { nextPage, readPage } from "../command/pages.ts";
import type { Outcome } from "../terminal/exit.ts";
import { phrasing } from "../terminal/phrasing.ts";
import { pondCommand } from "../terminal/pond-command.ts";
import { safeLine, wrapText } from "../terminal/text.ts";
import type { searchFlags } from "../command/verb-flags.ts";
import { usage } from "../command/parse.ts";

type SearchVerb = VerbContext<typeof searchFlags>;

export async function search(verb: SearchVerb): Promise<Outcome> {
  const { args, flags, out } = verb;
  if (args.length === 0 && flags["similar-to"] === undefined)
    throw usage("search needs <query>", "see pond help search");
  await using context = await openContext(verb);
  const request = await requestOf(context, verb);
  if (flags.explain) {
    const explanation = await explainSearch(context, request);
    out.result(explanation, () => explanationText(explanation));
    return "done";
  }
  const response = await readPage(flags, (page) => runSearch(context, { ...request, ...page }));
  const { subagents, ...phrases } = phrasing(out.style);
  const next = nextPage(flags);
  const phrased: Phrasing = {
    ...phrases,
    ...(includesSubagents(request.filters ?? {}) ? {} : { subagents }),
    ...(next === undefined ? {} : { cursor: () => next }),
    ...(out.json || out.width === undefined ? {} : await onTerminal(context, response, out.width)),
  };
  out.result(response, () => searchTranscript(response, flags["similar-to"] ?? args.join(" "), phrased));
  return "done";
}

async function requestOf(context: Context, { args, flags }: SearchVerb): Promise<SearchRequest> {
  const similar = flags["similar-to"];
  return {
    ...(similar === undefined || args.length > 0 ? { query: args.join(" ") } : {}),
    ...(similar === undefined ? {} : { similar_to: similar }),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.in === undefined ? {} : { in: flags.in }),
    ...(flags.superseded ? { include_superseded: true } : {}),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    filters: {
      ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
      ...(flags.agent === undefined ? {} : { source_agent: flags.agent }),
      ...(flags.session === undefined ? {} : { session_id: await resolveSession(context, flags.session) }),
      ...(flags.role === undefined ? {} : { role: flags.role }),
      ...datesOf(flags),
      ...(flags.tool === undefined ? {} : { tool_name: flags.tool }),
      ...(flags.failed ? { failed_only: true } : {}),
      ...(flags.subagents ? { include_subagents: true } : {}),
    },
  };
}

/** Lines that fit, and a command for each hit, with its session by the shortest beginning that names it. */
async function onTerminal(
  context: Context,
  { sessions }: SearchResponse,
  width: number,
): Promise<Partial<Phrasing>> {
  const short = await shortIds(
    context,
    sessions.map(({ session_id }) => session_id),
  );
  return {
    width,
    wrap: (text) => wrapText(text, width),
    open: (session, message) => {
      const options = shellLine(optionWords("--message", message));
      return safeLine(pondCommand("get", short.get(session) ?? session, options));
    },
  };
}
