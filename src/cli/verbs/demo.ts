/** `pond demo`: a tour over a made-up corpus in a throwaway home; nothing of the user's is read or written. */
import { get, openDemo, restore, search, sync, verify } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import type { Outcome } from "../terminal/exit.ts";
import { count, counted } from "../terminal/number.ts";
import { oneLine, shorten } from "../terminal/text.ts";
import type { demoFlags } from "../command/verb-flags.ts";

const RETRY_SESSION = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";

export async function demo({ flags, out, signal }: VerbContext<typeof demoFlags>): Promise<Outcome> {
  await using tour = await openDemo({ signal, keep: flags.keep });
  const { context, home } = tour;
  const { bold, dim } = out.style;
  const print = (text: string): void => {
    if (!out.json) out.print(text);
  };
  const steps: { command: string; answer: object }[] = [];
  const step = async <Answer extends object>(command: string, why: string, run: () => Promise<Answer>) => {
    print(`\n${bold(`$ pond ${command}`)}\n${dim(why)}`);
    const answer = await run();
    steps.push({ command: `pond ${command}`, answer });
    return answer;
  };

  print("Made-up sessions of three clients, in a temporary home. Your own sessions are not touched.");
  const report = await step(
    "sync",
    "Imports every session of every client. A second sync reads only what changed.",
    () => sync(context, {}),
  );
  for (const { adapter, stored } of report.clients)
    print(
      `${adapter}: ${counted(stored.sessions.inserted, "session")}, ${counted(stored.messages.inserted, "message")}`,
    );

  const proof = await step(
    "verify",
    "Restores every session in memory and compares it with its source, record by record.",
    () => verify(context, {}),
  );
  for (const { adapter, records, equal } of proof.clients)
    print(`${adapter}: ${count(equal)} of ${count(records)} records equal`);

  const found = await step(
    "search invoice",
    "By words, also the pieces of names such as fetchInvoice; in any language.",
    () => search(context, { query: "invoice" }),
  );
  for (const session of found.sessions) {
    print(`${session.title ?? session.session_id} (${session.source_agent})`);
    for (const { score, role, text } of session.matches)
      print(`  ${score.toFixed(2)} ${role}: ${shorten(oneLine(text), 90)}`);
  }

  const page = await step(`get ${RETRY_SESSION} --limit 2`, "Reads a session page by page.", () =>
    get(context, { session_id: RETRY_SESSION, limit: 2 }),
  );
  if (page.scope === "session")
    for (const { role, text } of page.messages) print(`${role}: ${shorten(oneLine(text ?? ""), 100)}`);

  const restored = await step(
    `restore ${RETRY_SESSION} --to codex-cli`,
    "Restores a Claude Code session into Codex, and reports what cannot be carried over.",
    () => restore(context, { session_id: RETRY_SESSION, to: "codex-cli", out: `${home}/.codex` }),
  );
  print(`${restored.fidelity}: ${restored.files.map(({ path }) => path).join(", ")}`);
  for (const { what, why, count: n } of restored.losses) print(`left out: ${count(n)} x ${what} (${why})`);
  print(`resume with: ${restored.resume.command}`);

  out.result({ steps, ...(flags.keep && { home }) }, () =>
    flags.keep ? `\nkept in ${home}` : "\nThe temporary home was removed. Next: pond sync",
  );
  return "done";
}
