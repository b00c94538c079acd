/**
 * What real clients send of a session: in its own client, and restored into each other one. Run as
 * `POND_CLIENTS=<folder> node bench/handing-over.ts <adapter> <log>...`; logs are copied, never written to.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Lineage } from "../src/adapters/index.ts";
import { adapterNamed } from "../src/adapters/index.ts";
import { replay } from "../src/model/index.ts";
import { compareRequests } from "../test/clients/compare-requests.ts";
import type { RealClient } from "../test/clients/real-clients.ts";
import { claudeCode, codexCli, goOn, opencode, pi, PROMPT } from "../test/clients/real-clients.ts";
import type { Sent } from "../test/clients/requests.ts";
import { sentBy } from "../test/clients/requests.ts";
import { lineagesOf, readFolder } from "../test/support/adapter-run.ts";

const CLIENTS = [claudeCode, codexCli, opencode, pi];

const [name = "", ...logs] = process.argv.slice(2);
const source = CLIENTS.find(({ adapter }) => adapter === name);
if (source === undefined || logs.length === 0)
  throw new Error("usage: node bench/handing-over.ts <adapter> <log>...");
for (const log of logs) await compare(source, log);

async function compare(client: RealClient, log: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pond-handing-over-"));
  try {
    const lineage = await read(client, log, join(folder, "read"));
    console.log(`\n${basename(log)}: ${(statSync(log).size / 1e6).toFixed(1)} MB`);
    const original = await sentIn(client, lineage, { folder: join(folder, "own"), fidelity: "native" });
    console.log(`  ${client.adapter}, its own: ${counts(original.sent)}, ${tokens(original.sent)} tokens`);
    for (const target of CLIENTS) {
      if (target === client) continue;
      const into = join(folder, target.adapter);
      const { sent, losses } = await sentIn(target, lineage, { folder: into, fidelity: "foreign" });
      const { missing, added, failures, misplaced } = compareRequests(original.sent, sent);
      console.log(`  ${target.adapter}: ${counts(sent)}, ${tokens(sent)} tokens`);
      console.log(`    missing: ${counts(missing)}; added: ${counts(added)}`);
      console.log(`    failures not marked: ${failures.length}; misplaced: ${misplaced.length}`);
      for (const { what, why, count, affects } of losses)
        if (affects === "model") console.log(`    reported: ${count} ${what}: ${why}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sentIn(client: RealClient, lineage: Lineage, going: Parameters<typeof goOn>[2]) {
  const run = await goOn(client, lineage, going);
  return { sent: sentBy(run, PROMPT), losses: run.restored.losses };
}

/** The log alone, with the folder beside it that Claude Code may have. */
async function read({ adapter }: RealClient, log: string, root: string): Promise<Lineage> {
  const parent = adapter === "codex-cli" ? "sessions/2026/01/01" : adapter === "opencode" ? "." : "project";
  const copy = join(root, parent, basename(log));
  mkdirSync(dirname(copy), { recursive: true });
  const beside = log.replace(/\.jsonl$/, "");
  if (beside !== log && existsSync(beside)) cpSync(beside, copy.replace(/\.jsonl$/, ""), { recursive: true });
  cpSync(log, copy);
  const runs = await readFolder(adapterNamed(adapter)!, root);
  const lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  return lineages.toSorted((a, b) => b.state.messages.length - a.state.messages.length)[0]!;
}

function counts(sent: readonly Sent[]): string {
  const groups = Object.entries(Object.groupBy(sent, ({ kind }) => kind));
  return groups.map(([kind, group]) => `${group.length} ${kind}`).join(", ") || "nothing";
}

/** About 4 characters each. */
function tokens(sent: readonly Sent[]): number {
  return Math.round(JSON.stringify(sent).length / 4);
}
