/** `pond status`: what is stored, how fresh it is, how the indexes are. */
import { systemClock } from "../../base/clock.ts";
import { describeWaits, status as runStatus } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { ago, count, counted, size } from "../terminal/number.ts";
import type { Output } from "../terminal/output.ts";
import { safeLine } from "../terminal/text.ts";
import type { StatusReport, TableReport, VectorsReport } from "../../wire/status.ts";

export async function status(verb: VerbContext): Promise<Outcome> {
  const { out } = verb;
  await using context = await openContext(verb);
  const report = await runStatus(context, (first) => {
    if (!out.json) out.print(renderFirst(first, out));
  });
  if (report.exists || out.json) out.result(report, () => `\n${renderTables(report, out)}`);
  return "done";
}

function renderFirst(report: StatusReport, out: Output): string {
  const { bold } = out.style;
  if (report.is_gone === true)
    return `${bold("store")}   ${report.store}: gone (last synced ${syncedAt(report)}); pond doctor shows what to do\n${renderPending(report)}`;
  if (!report.exists)
    return `${bold("store")}   ${report.store}: none yet; pond sync creates it with the first session\n${renderPending(report)}`;
  return [
    `${bold("store")}   ${report.store}`,
    `        ${count(report.sessions)} sessions, ${count(report.messages)} messages, ${size(report.bytes)} of text`,
    `${bold("synced")}  ${syncedAt(report)}; embeddings ${report.embeddings.state === "off" ? "off: no model configured" : "on"}`,
    renderPending(report),
    ...[
      out.table(report.clients, groupColumns("CLIENT")),
      out.table(report.projects, groupColumns("PROJECT")),
    ]
      .filter(() => report.sessions > 0)
      .map((table) => `\n${table}`),
    "",
  ].join("\n");
}

function syncedAt({ last_sync: last }: StatusReport): string {
  if (last === undefined) return "never on this machine";
  return `${ago(Date.parse(last.at), systemClock.now())}${last.interrupted ? ", interrupted" : ""}`;
}

function renderPending({ pending }: StatusReport): string {
  const waits = describeWaits(
    pending.flatMap((client) => client.waits),
    systemClock.now(),
  );
  return [changes(pending), ...waits.map((line) => `waiting ${safeLine(line)}`)].join("\n");
}

function changes(pending: StatusReport["pending"]): string {
  const waiting = pending.filter(({ sources }) => sources > 0);
  if (pending.length === 0) return "pending no client with sessions was found";
  if (pending.every(({ seen }) => seen === 0)) return "pending nothing: no client has a session here";
  if (waiting.length === 0)
    return pending.some(({ waits }) => waits.length > 0)
      ? "pending nothing a sync could import now"
      : "pending nothing: every source on disk is as it was at the last sync";
  const clients = waiting.map(({ adapter, sources }) => `${adapter}: ${counted(sources, "source")}`);
  return `pending ${clients.join(", ")} to read; run pond sync`;
}

function groupColumns(header: string) {
  return [
    { header, cut: "start" as const, cell: (row: StatusReport["clients"][number]) => row.name },
    {
      header: "SESSIONS",
      align: "right" as const,
      cell: (row: StatusReport["clients"][number]) => count(row.sessions),
    },
    {
      header: "MESSAGES",
      align: "right" as const,
      cell: (row: StatusReport["clients"][number]) => count(row.messages),
    },
  ];
}

function renderTables({ tables = [], embeddings }: StatusReport, out: Output): string {
  const vectors = (embeddings.models ?? []).map(vectorLine);
  return [tableOf(tables, out), ...vectors].join("\n");
}

function vectorLine({ model, messages, missing, without, bytes }: VectorsReport): string {
  const share = messages + missing === 0 ? 0 : Math.floor((100 * messages) / (messages + missing));
  const none = without === 0 ? "" : `; ${counted(without, "message")} it can make nothing of`;
  return `vectors ${safeLine(model)}: ${counted(messages, "message")} (${share}%), ${size(bytes)}${none}`;
}

function tableOf(tables: readonly TableReport[], out: Output): string {
  return out.table(tables, [
    { header: "TABLE", cell: (row) => row.table },
    { header: "ROWS", align: "right", cell: (row) => count(row.rows) },
    { header: "LIVE", align: "right", cell: (row) => size(row.bytes) },
    { header: "OLD VERSIONS", align: "right", cell: (row) => size(row.old_bytes) },
    {
      header: "NOT INDEXED",
      align: "right",
      cell: (row) => count(Math.max(0, ...row.indexes.map((index) => index.unindexed_rows))),
    },
    {
      header: "DUE",
      cell: (row) =>
        row.due.length === 0 ? "nothing" : `${row.due[0]?.kind ?? ""}: ${row.due[0]?.reason ?? ""}`,
    },
  ]);
}
