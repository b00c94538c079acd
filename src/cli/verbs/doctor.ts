/** `pond doctor`: what is well, what is not, and the command that mends it. */
import type { Finding } from "../../handlers/index.ts";
import { doctor as examine } from "../../handlers/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import type { Style } from "../style.ts";
import { safeText } from "../text.ts";
import type { doctorFlags } from "../verb-flags.ts";

export async function doctor(verb: VerbContext<typeof doctorFlags>): Promise<Outcome> {
  await using context = await openContext(verb);
  const findings = await examine(context, { deep: verb.flags.deep });
  verb.out.result({ findings }, () => findings.map((finding) => render(finding, verb.out.style)).join("\n"));
  return findings.some(({ status }) => status === "fail") ? "failures" : "done";
}

function render({ topic, status, message, details = [], fix }: Finding, style: Style): string {
  const mark = { ok: style.good("ok  "), warn: style.warn("warn"), fail: style.bad("FAIL") }[status];
  return [
    `${mark}  ${topic.padEnd(9)}  ${safeText(message)}`,
    ...details.map((detail) => `${" ".repeat(17)}${safeText(detail)}`),
    ...(fix === undefined ? [] : [`      ${style.bold("fix:")} ${safeText(fix)}`]),
  ].join("\n");
}
