/** `pond demo`: a tour over a made-up corpus in a throwaway home; nothing of the user's is read or written. */
import { get, openDemo, restore, search, sync, verify } from "../../handlers/index.ts";
import type { VerbContext } from "../command.ts";
import type { Outcome } from "../exit.ts";
import { count } from "../number.ts";
import { oneLine, shorten } from "../text.ts";
import type { demoFlags } from "../verb-flags.ts";

const RETRY_SESSION = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";

export async function demo({ flags, out, signal }: VerbContext<typeof demoFlags>): Promise<Outcome> {
  await using tour = await openDemo({ signal, keep: flags.keep });
  const { context, home } = tour;
  const { bold, dim } = out.style;
  const step = (command: string, why: string): void =>
    out.print(`\n${bold(`$ pond ${command}`)}\n${dim(why)}`);

  out.print("Made-up sessions of three clients, in a throwaway home. Your own sessions are not touched.");
  step("sync", "Takes in every session of every client. A second sync reads only what changed.");
  const report = await sync(context, {});
  for (const { adapter, stored } of report.clients)
    out.print(
      `${adapter}: ${count(stored.sessions.inserted)} sessions, ${count(stored.messages.inserted)} messages`,
    );

  step("verify", "Restores every session in memory and compares it with its source, record by record.");
  for (const { adapter, records, equal } of (await verify(context, {})).clients)
    out.print(`${adapter}: ${count(equal)} of ${count(records)} records equal`);

  step("search invoice", "By words, also the pieces of names such as fetchInvoice; in any language.");
  for (const session of (await search(context, { query: "invoice" })).sessions) {
    out.print(`${session.title ?? session.session_id} (${session.source_agent})`);
    for (const { score, role, text } of session.matches)
      out.print(`  ${score.toFixed(2)} ${role}: ${shorten(oneLine(text), 90)}`);
  }

  step(`get ${RETRY_SESSION} --limit 2`, "Reads a session page by page.");
  const page = await get(context, { session_id: RETRY_SESSION, limit: 2 });
  if (page.scope === "session")
    for (const { role, text } of page.messages) out.print(`${role}: ${shorten(oneLine(text ?? ""), 100)}`);

  step(
    `restore ${RETRY_SESSION} --to codex-cli`,
    "Hands a Claude Code session to Codex, and says what cannot come along.",
  );
  const restored = await restore(context, {
    session_id: RETRY_SESSION,
    to: "codex-cli",
    out: `${home}/.codex`,
  });
  out.print(`${restored.fidelity}: ${restored.files.map(({ path }) => path).join(", ")}`);
  for (const { what, why, count: n } of restored.losses)
    out.print(`not taken along: ${count(n)} x ${what} (${why})`);
  out.print(`resume with: ${restored.resume.command}`);

  out.print(flags.keep ? `\nkept in ${home}` : "\nThe throwaway home is gone again. Next: pond sync");
  return "done";
}
