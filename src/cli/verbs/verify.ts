/** `pond verify`: every stored session restored in memory and compared with its source. */
import type { ClientVerification } from "../../handlers/index.ts";
import { verify as runVerify } from "../../handlers/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { notLookedAt } from "../issues.ts";
import { count } from "../number.ts";
import { safeText } from "../text.ts";
import type { verifyFlags } from "../verb-flags.ts";

export async function verify(verb: VerbContext<typeof verifyFlags>): Promise<Outcome> {
  const { flags, out } = verb;
  await using context = await openContext(verb);
  const filter = {
    ...(flags.adapter.length === 0 ? {} : { adapters: flags.adapter }),
    ...(flags.path.length === 0 ? {} : { paths: flags.path }),
  };
  const report = await runVerify(context, filter, ({ client, done, total }) =>
    out.progress(`${client} ${count(done)}/${count(total)} sources`, total === 0 ? 1 : done / total),
  );
  out.progress(undefined);
  out.result(report, ({ clients }) => {
    const table = out.table(clients, [
      { header: "CLIENT", cell: (row) => row.adapter },
      { header: "SOURCES", align: "right", cell: (row) => count(row.sources) },
      { header: "UNSTORED", align: "right", cell: (row) => count(row.unstored) },
      { header: "FILES", align: "right", cell: (row) => count(row.files) },
      { header: "RECORDS", align: "right", cell: (row) => count(row.records) },
      { header: "EQUAL", align: "right", cell: (row) => count(row.equal) },
      { header: "UNEQUAL FILES", align: "right", cell: (row) => count(row.unequal) },
    ]);
    return [
      table,
      ...clients.flatMap(({ differences }) => differences.map((line) => `  ${safeText(line)}`)),
      ...clients.flatMap(({ adapter, issues }) => notLookedAt(adapter, issues)),
      ...advice(clients),
    ].join("\n");
  });
  return clientsFailed(report.clients) ? "failures" : "done";
}

const clientsFailed = (clients: readonly ClientVerification[]): boolean =>
  clients.some(({ unequal, issues }) => unequal > 0 || issues.length > 0);

function advice(clients: readonly ClientVerification[]): string[] {
  const lines: string[] = [];
  const unstored = clients.reduce((sum, client) => sum + client.unstored, 0);
  if (unstored > 0)
    lines.push(
      `${count(unstored)} sources have no session stored under their path; pond sync takes in what is new`,
    );
  const changed = clients.reduce((sum, client) => sum + client.changed, 0);
  if (changed > 0)
    lines.push(`${count(changed)} sources were written to since the last sync: pond sync, then verify again`);
  const shrunk = clients.reduce((sum, client) => sum + client.shrunk, 0);
  if (shrunk > 0)
    lines.push(
      `${count(shrunk)} files lost records since they were stored; the store has those and all the others`,
    );
  return lines;
}
