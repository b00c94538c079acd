/** `pond adapters`: the clients pond knows and what is there of each. */
import { systemClock } from "../../base/clock.ts";
import { listAdapters } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { notLookedAt } from "../terminal/issues.ts";
import { ago, count, size } from "../terminal/number.ts";
import { oneLine } from "../terminal/text.ts";
import type { AdapterReport } from "../../wire/setup.ts";

export async function adapters(verb: VerbContext): Promise<Outcome> {
  await using context = await openContext(verb);
  const { out } = verb;
  const rows = await listAdapters(context);
  const now = systemClock.now();
  out.result({ adapters: rows }, () => {
    const table = out.table(rows, [
      { header: "CLIENT", cell: (row) => row.adapter },
      { header: "SOURCES", align: "right", cell: (row) => count(row.files) },
      { header: "SIZE", align: "right", cell: (row) => (row.files === 0 ? "-" : size(row.bytes)) },
      {
        header: "NEWEST",
        cell: (row) => (row.newest === undefined ? "-" : ago(Date.parse(row.newest), now)),
      },
      { header: "RESTORE", cell: (row) => RESTORES[row.restore] },
      {
        header: "WHERE",
        cut: "start",
        cell: (row) =>
          row.enabled ? row.places.map(({ path }) => path).join(", ") || "not found" : "disabled",
      },
    ]);
    return [table, ...rows.flatMap(absentLines), ...rows.flatMap(issueLines)].join("\n");
  });
  return rows.some(({ issues }) => issues.length > 0) ? "failures" : "done";
}

const RESTORES = { supported: "yes", "own-sessions": "its own", unsupported: "no" } as const;

const issueLines = ({ adapter, issues }: AdapterReport): readonly string[] => notLookedAt(adapter, issues);

/** Where it was looked for in vain: all of that for a client that is not here, else what its own variables name. */
function absentLines({ adapter, places, absent }: AdapterReport): readonly string[] {
  const shown = absent.filter(({ variable }) => places.length === 0 || variable !== undefined);
  return shown.map(({ path, variable }) => {
    const by = variable === undefined ? "" : ` (${variable})`;
    return `  ${adapter}: nothing at ${oneLine(path)}${by}`;
  });
}
