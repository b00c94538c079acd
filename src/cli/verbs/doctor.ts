/** `pond doctor`: what is well, what is not, and the command that mends it. */
import { doctor as examine } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { worded } from "../terminal/next-step.ts";
import { wordedFinding } from "../command/report-words.ts";
import type { Style } from "../terminal/style.ts";
import { safeLine } from "../terminal/text.ts";
import type { doctorFlags } from "../command/verb-flags.ts";
import type { Finding } from "../../wire/health.ts";

export async function doctor(verb: VerbContext<typeof doctorFlags>): Promise<Outcome> {
  const { out } = verb;
  await using context = await openContext(verb);
  const rendered = (some: readonly Finding[]): string =>
    some.map((finding) => render(finding, out.style)).join("\n");
  let shown = 0;
  const findings = await examine(context, { deep: verb.flags.deep }, (first) => {
    if (!out.json) out.print(rendered(first));
    shown = first.length;
    out.progress("looking at the store and the sources");
  });
  out.result({ findings: findings.map(wordedFinding) }, () => rendered(findings.slice(shown)));
  return findings.some(({ status }) => status === "fail") ? "failures" : "done";
}

function render({ topic, status, message, details = [], fix }: Finding, style: Style): string {
  const mark = { ok: style.good("ok  "), warn: style.warn("warn"), fail: style.bad("FAIL") }[status];
  return [
    `${mark}  ${topic.padEnd(9)}  ${safeLine(message)}`,
    ...details.map((detail) => `${" ".repeat(17)}${safeLine(detail)}`),
    ...(fix === undefined ? [] : [`      ${style.bold("fix:")} ${safeLine(worded(fix))}`]),
  ].join("\n");
}
