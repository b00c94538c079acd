/** `pond verify`: every stored session restored in memory and compared with its source. */
import { verify as runVerify } from "../../handlers/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
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
    ].join("\n");
  });
  return report.clients.some(({ unequal }) => unequal > 0) ? "failures" : "done";
}
