/** `pond init`: looks around, asks where the store should be, writes the settings once. */
import type { InitReport } from "../../handlers/index.ts";
import { init as setUp, lookAround } from "../../handlers/index.ts";
import { ask, canAsk } from "../ask.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { count, size } from "../number.ts";
import type { initFlags } from "../verb-flags.ts";

export async function init(verb: VerbContext<typeof initFlags>): Promise<Outcome> {
  const { flags, out, signal } = verb;
  await using context = await openContext(verb);
  const look = await lookAround(context);
  const asks = !flags.yes && !look.config_exists && flags.store === undefined && canAsk();
  const store = asks ? await ask("Where should pond keep its store?", look.store, signal) : look.store;
  const report = await setUp(context, { store });
  out.result(report, () => render(report));
  return "done";
}

function render(report: InitReport): string {
  const found = report.clients.filter(({ files }) => files > 0);
  const clients = found.map(
    ({ title, files, bytes }) => `  ${title}: ${count(files)} sources, ${size(bytes)}`,
  );
  return [
    report.changed.length === 0
      ? `settings: ${report.config_file} is there, left as it is`
      : `settings: wrote ${report.config_file}`,
    `store:    ${report.store}`,
    found.length === 0 ? "clients:  none found (`pond adapters` tells where pond looks)" : "clients:",
    ...clients,
    "",
    found.length === 0 ? "next: pond demo" : "next: pond sync",
  ].join("\n");
}
