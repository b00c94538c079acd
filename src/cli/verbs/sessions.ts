/** `pond sessions`: the list of what is stored. */
import { systemClock } from "../../base/clock.ts";
import { listSessions, resolveParent, shortIds } from "../../handlers/index.ts";
import type { SessionLine, SessionsResponse } from "../../wire/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import { datesOf } from "../command/dates.ts";
import { nextPage, readPage } from "../command/pages.ts";
import type { Outcome } from "../terminal/exit.ts";
import { ago, count } from "../terminal/number.ts";
import type { Output } from "../terminal/output.ts";
import type { sessionsFlags } from "../command/verb-flags.ts";

export async function sessions(verb: VerbContext<typeof sessionsFlags>): Promise<Outcome> {
  const { flags, out } = verb;
  await using context = await openContext(verb);
  const filters = {
    ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
    ...(flags.agent === undefined ? {} : { source_agent: flags.agent }),
    ...(flags.title === undefined ? {} : { title: flags.title }),
    ...datesOf(flags),
    ...(flags.parent === undefined ? {} : { parent_session_id: await resolveParent(context, flags.parent) }),
    ...(flags.subagents ? { include_subagents: true } : {}),
  };
  const limit = flags.limit === undefined ? {} : { limit: flags.limit };
  const response = await readPage(flags, (page) => listSessions(context, { ...filters, ...limit, ...page }));
  const ids = out.json ? [] : response.sessions.map(({ id }) => id);
  const short = await shortIds(context, ids);
  const nothing = Object.keys(filters).length === 0 ? NONE_STORED : NONE_MATCHES;
  out.result(response, () =>
    response.sessions.length === 0 ? nothing : render(response, out, (id) => short.get(id) ?? id),
  );
  if (response.has_more && !out.json)
    out.note(
      `${count(response.total)} sessions in all; more: ${nextPage(flags) ?? `--cursor ${response.next_cursor ?? ""}`}`,
    );
  return "done";
}

const NONE_STORED =
  "no session is stored (sessions of subagents are left out: --subagents); pond sync imports what is new";
const NONE_MATCHES =
  "no session matches; `pond sessions` without filters lists all, --subagents includes those of subagents";

function render({ sessions: lines }: SessionsResponse, out: Output, shortId: (id: string) => string): string {
  const now = systemClock.now();
  return out.table(lines, [
    {
      header: "LAST",
      cell: (row) => ago(Date.parse(row.last_at), now),
      brief: (row) => ago(Date.parse(row.last_at), now).replace(/ ago$/, ""),
    },
    { header: "CLIENT", cell: (row) => row.source_agent },
    { header: "TURNS", align: "right", cell: (row) => count(row.messages.user + row.messages.assistant) },
    ...(lines.some(({ ends }) => ends !== undefined)
      ? [{ header: "ENDS", align: "right" as const, cell: (row: SessionLine) => count(row.ends ?? 1) }]
      : []),
    ...(lines.some(({ restored_to }) => restored_to !== undefined)
      ? [{ header: "RESTORED TO", cell: restoredTo }]
      : []),
    { header: "TITLE", cell: (row) => row.title ?? "-" },
    { header: "PROJECT", cut: "start", cell: (row) => row.project },
    // Right: such a column is never cut, and an id that is cut cannot be used.
    {
      header: "SESSION",
      align: "right",
      cell: (row) => row.id,
      brief: (row) => shortId(row.id),
      style: out.style.dim,
    },
  ]);
}

const restoredTo = ({ restored_to: all = [] }: SessionLine): string =>
  [...new Set(all.map(({ client }) => client))].join(", ");
