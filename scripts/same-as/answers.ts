/** The same commands by both checkouts, about the store of the one before. They only read, so they share the home. */
import { ARGUMENTS } from "./accepted.ts";
import type { Masks } from "./documents.ts";
import { compareEnded } from "./documents.ts";
import type { Bench, Ended } from "./homes.ts";
import { pond } from "./homes.ts";
import type { Pick } from "./picks.ts";
import { pickSessions } from "./picks.ts";
import type { Report } from "./report.ts";

/** Returns how many values of answers were compared. */
export async function compareAnswers(bench: Bench, report: Report): Promise<number> {
  const picks = await pickSessions(bench);
  const [first] = picks;
  if (first === undefined) return 0;
  const commands = [...general(bench, first), ...picks.flatMap((pick) => aboutSession(pick, bench.clients))];
  let compared = 0;
  for (const command of commands) compared += await compareCommand(bench, command, report);
  console.log(`  ${commands.length} commands on ${picks.length} sessions`);
  return compared;
}

async function compareCommand(bench: Bench, args: readonly string[], report: Report): Promise<number> {
  const [verb = ""] = args;
  const masks: Masks = [[bench.folder, "<folder>"]];
  const asked = { verb, command: `pond ${args.join(" ")}` };
  const [before, after] = await askBoth(bench, [args, args]);
  let compared = compareEnded(
    asked,
    [
      { ended: before, masks },
      { ended: after, masks },
    ],
    report,
  );
  // Each goes on by its own cursor.
  const cursors = [before, after].map(({ stdout }) => /"next_cursor":"([^"]+)"/.exec(stdout)?.[1]);
  if (cursors[0] === undefined || cursors[1] === undefined) return compared;
  const [next, other] = await askBoth(bench, [
    [...args, "--cursor", cursors[0]],
    [...args, "--cursor", cursors[1]],
  ]);
  compared += compareEnded(
    { verb, command: `${asked.command} (second page)` },
    [
      { ended: next, masks },
      { ended: other, masks },
    ],
    report,
  );
  return compared;
}

function askBoth(
  { before, after }: Bench,
  [one, two]: readonly [readonly string[], readonly string[]],
): Promise<readonly [Ended, Ended]> {
  return Promise.all([
    pond(before, [...one, "--json"]),
    pond(before, [...renamedArguments(two), "--json"], after.checkout),
  ]);
}

/** A command line as this checkout wants it. */
export function renamedArguments(args: readonly string[]): readonly string[] {
  return Object.entries(ARGUMENTS).reduce<readonly string[]>((line, [from, to]) => {
    const words = from.split(" ");
    const at = line.findIndex((_, i) => words.every((word, j) => line[i + j] === word));
    return at === -1 ? line : line.toSpliced(at, words.length, ...to.split(" "));
  }, args);
}

function general({ clients, sources }: Bench, { id, messages }: Pick): readonly (readonly string[])[] {
  const each = (...words: readonly string[]): string[][] => clients.map((client) => [...words, client]);
  return [
    ["status"],
    ["adapters"],
    ["verify"],
    ["verify", "--stored"],
    ["verify", "--adapter", "pi"],
    ["verify", "--adapter", "pi", "--path", `${sources}/pi/handing-over`],
    ["doctor"],
    ["doctor", "--deep"],
    ["sync", "--dry-run"],
    ["sync", "--dry-run", "--verify"],
    ["sync", "--dry-run", "--adapter", "codex-cli", "--path", `${sources}/codex-cli/handing-over`],
    ["config", "show"],
    ["config", "path"],
    ["config", "schema"],
    ["sessions"],
    ["sessions", "--limit", "7"],
    ["sessions", "--subagents", "--limit", "500"],
    ["sessions", "--project", "demo"],
    ["sessions", "--title", "hand"],
    ["sessions", "--from", "2026-11-16", "--to", "2026-11-16"],
    ["sessions", "--from", "2026-11-17"],
    ...each("sessions", "--limit", "5", "--agent"),
    ["search", "helper"],
    ["search", "garden", "grows"],
    ["search", "the", "--limit", "3"],
    ["search", "demo.app"],
    ["search", "error", "--subagents", "--superseded"],
    ["search", "file", "--role", "user"],
    ["search", "file", "--role", "assistant", "--limit", "4"],
    ["search", "notes", "--project", "demo", "--from", "2026-11-16", "--to", "2026-11-17"],
    ["search", "lilies", "--mode", "fts"],
    ["search", "demo", "--mode", "exact", "--limit", "3"],
    ["search", "/srv/demo.app", "--mode", "exact"],
    ["search", "no(tes|thing)", "--mode", "regex", "--limit", "3"],
    ["search", "one two three four five", "--mode", "fts", "--explain"],
    ["search", "zzzznothing"],
    ...each("search", "file", "--limit", "3", "--agent"),
    ["search", "the", "--session", id],
    ["sessions", "--parent", id],
    ["restore", id, "--dry-run"],
    ["resume", id, "--dry-run"],
    ["get", messages[0] ?? "", "--context", "1", "--mode", "complete"],
    // What is refused.
    ["search"],
    ["search", "", "--mode", "exact"],
    ["search", "(", "--mode", "regex"],
    ["search", "x", "--mode", "nosuch"],
    ["search", "x", "--cursor", "nosuch"],
    ["search", "x", "--session", "nosuch"],
    ["search", "x", "--limit", "0"],
    ["search", "x", "--from", "yesterday"],
    ["sessions", "--limit", "-1"],
    ["sessions", "--limit", "many"],
    ["sessions", "--agent", "nosuch"],
    ["sessions", "--parent", "nosuch"],
    ["sessions", "--cursor", "bm90IGEgY3Vyc29y"],
    ["sessions", "--from", "2026-13-01"],
    ["sessions", "--nosuch"],
    ["get"],
    ["get", "nosuch"],
    ["get", "5"],
    ["get", "nosuch", "--message", "nosuch"],
    ["restore"],
    ["restore", "nosuch", "--dry-run"],
    ["resume", "nosuch", "--dry-run"],
    ["sync", "--adapter", "nosuch"],
    ["sync", "--path", sources],
    ["sync", "--only", "nosuch"],
    ["sync", "--adapter", "pi", "--path", `${sources}/nosuch`],
    ["verify", "--adapter", "nosuch"],
    ["verify", "--stored", "--path", sources],
    ["status", "--namespace", "nosuch"],
    ["status", "--store", "s4://nosuch"],
    ["nosuch"],
  ];
}

function aboutSession({ id, client, ends, messages }: Pick, clients: readonly string[]): string[][] {
  const middle = messages[Math.floor(messages.length / 2)];
  const other = clients.find((name) => name !== client) ?? client;
  return [
    ["get", id],
    ["get", id, "--from", "end", "--limit", "4"],
    ["get", id, "--mode", "complete", "--branch", "all", "--limit", "200"],
    ["get", id, "--mode", "verbatim", "--limit", "5"],
    ["get", id, "--mode", "verbatim", "--history", "--limit", "60"],
    ["get", id, "--end", String(Math.max(ends, 2))],
    ...(middle === undefined
      ? []
      : [
          ["get", id, "--message", middle],
          ["get", id, "--after", middle, "--limit", "3"],
          ["get", id, "--before", middle, "--limit", "3", "--mode", "complete"],
        ]),
    ["restore", id, "--dry-run", "--state", "1"],
    ["resume", id, "--dry-run", "--in", other],
  ];
}
