/**
 * What real clients send of a session: in its own client, with its own model, and restored into each other one. Run as
 * `POND_CLIENTS=<folder> node bench/handing-over.ts <adapter> <log>...`; logs are copied, never written to. With
 * `POND_HANDING_OVER=<folder>` the requests and what is missing in them are kept there, to be looked at.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Lineage } from "../src/adapters/index.ts";
import { adapterNamed } from "../src/adapters/index.ts";
import { authorOf } from "../src/adapters/kit/foreign/index.ts";
import { extractName, objectField } from "../src/adapters/kit/extract/index.ts";
import { replay } from "../src/model/events/index.ts";
import { compareRequests } from "../test/clients/compare-requests.ts";
import type { RealClient, SessionModel } from "../test/clients/real-clients.ts";
import { claudeCode, codexCli, goOn, opencode, pi, PROMPT } from "../test/clients/real-clients.ts";
import { kinds, lackingIn, reportedAsLost } from "../test/clients/reported.ts";
import type { Sent } from "../test/clients/requests.ts";
import { sentBy } from "../test/clients/requests.ts";
import { lineagesOf, readFolder } from "../test/support/adapter-run.ts";

const CLIENTS = [claudeCode, codexCli, opencode, pi];
const LARGE: SessionModel = { provider: "anthropic", model: "claude-opus-4-6", api: "anthropic-messages" };
const KINDS = ["text", "call", "result", "image", "reasoning"] as const;

async function compare(client: RealClient, log: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pond-handing-over-"));
  const keep = keeping(basename(log).replace(/\.jsonl?$/, ""));
  try {
    const lineage = await read(client, log, join(folder, "read"));
    const model = modelOf(lineage);
    const going = { folder: join(folder, "own"), fidelity: "native", model } as const;
    const original = await sentIn(client, lineage, going);
    keep("own", original.sent);
    const size = `${(statSync(log).size / 1e6).toFixed(1)} MB`;
    const called = `${client.adapter}, ${size}`;
    print([
      called,
      `${client.adapter}, its own`,
      ...counts(original.sent),
      "",
      said(original.losses),
      "",
      "",
      "",
    ]);
    for (const target of CLIENTS) {
      if (target === client) continue;
      const into = join(folder, target.adapter);
      const { sent, losses } = await sentIn(target, lineage, {
        folder: into,
        fidelity: "foreign",
        // Its own models have windows that it knows, and refuses what is longer.
        model: target === claudeCode ? LARGE : undefined,
      });
      const difference = compareRequests(original.sent, sent);
      const { added, failures, misplaced } = difference;
      keep(target.adapter, { sent, difference, losses });
      const [missing, lost] = [listed(lackingIn(difference)), listed(reportedAsLost(losses))];
      const rest = [failures.length, misplaced.length, listed(kinds(added))];
      print([
        called,
        target.adapter,
        ...counts(sent),
        missing,
        lost === missing ? "the same" : said(losses),
        ...rest,
      ]);
    }
  } catch (thrown) {
    console.log(`| ${basename(log)} | ${thrown instanceof Error ? thrown.message.slice(0, 300) : ""} |`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keeping(session: string): (what: string, value: unknown) => void {
  const folder = process.env["POND_HANDING_OVER"];
  if (folder === undefined || folder === "") return () => {};
  mkdirSync(folder, { recursive: true });
  return (what, value) =>
    writeFileSync(join(folder, `${session}.${what}.json`), JSON.stringify(value, undefined, 1));
}

async function sentIn(client: RealClient, lineage: Lineage, going: Parameters<typeof goOn>[2]) {
  const run = await goOn(client, lineage, going);
  return { sent: sentBy(run, PROMPT), losses: run.restored.losses };
}

/** Which model the session had last. */
function modelOf({ state }: Lineage): SessionModel | undefined {
  for (const { message, parts } of state.messages.toReversed()) {
    const author = authorOf(message);
    if (author === undefined || message.role !== "assistant") continue;
    const record = objectField(objectField(message.options, "source") ?? {}, "record") ?? {};
    const api = extractName(objectField(record, "message") ?? {}, "api");
    const spaces = parts.map((part) => Object.keys(part.options).join(" ")).join(" ");
    return { ...author, api: apiOf(api ?? `${author.model} ${spaces}`) };
  }
  return undefined;
}

function apiOf(hint: string): SessionModel["api"] {
  if (hint === "openai-codex-responses") return hint;
  if (hint.includes("anthropic") || hint.startsWith("claude")) return "anthropic-messages";
  return hint.includes("responses") || hint.startsWith("gpt") ? "openai-responses" : "openai-completions";
}

/** The log alone, with the folder beside it that Claude Code may have. */
async function read({ adapter }: RealClient, log: string, root: string): Promise<Lineage> {
  const parent = adapter === "codex-cli" ? "sessions/2026/01/01" : adapter === "opencode" ? "." : "project";
  const copy = join(root, parent, basename(log));
  mkdirSync(dirname(copy), { recursive: true });
  const beside = log.replace(/\.jsonl$/, "");
  if (beside !== log && existsSync(beside)) cpSync(beside, copy.replace(/\.jsonl$/, ""), { recursive: true });
  cpSync(log, copy);
  // Codex goes on only with the provider that a thread recorded, and this one is a scripted one.
  if (adapter === "codex-cli")
    writeFileSync(
      copy,
      readFileSync(log, "utf8").replace(/"model_provider":"[^"]*"/g, '"model_provider":"mock"'),
    );
  // A provider of opencode's own takes no other address.
  if (adapter === "opencode")
    writeFileSync(
      copy,
      readFileSync(log, "utf8").replaceAll(/("providerID": ?)"opencode"/g, '$1"elsewhere"'),
    );
  const runs = await readFolder(adapterNamed(adapter)!, root);
  const lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  const [longest] = lineages.toSorted((a, b) => b.state.messages.length - a.state.messages.length);
  // What its subagents lose is no loss to the model of this session.
  return { state: longest!.state, children: [] };
}

function counts(sent: readonly Sent[]): readonly (string | number)[] {
  const found = kinds(sent);
  return [...KINDS.map((kind) => found[kind]), tokens(sent)];
}

const listed = (found: Readonly<Record<string, number>>): string =>
  Object.entries(found)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ") || "nothing";

const said = (losses: readonly { what: string; count: number; affects: string }[]): string =>
  losses
    .filter(({ affects }) => affects === "model")
    .map(({ what, count }) => `${count} ${what}`)
    .join(", ") || "nothing";

/** About 4 characters each; of pictures only their names are here. */
function tokens(sent: readonly Sent[]): number {
  return Math.round(JSON.stringify(sent).length / 4);
}

function print(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

const [name = "", ...logs] = process.argv.slice(2);
const source = CLIENTS.find(({ adapter }) => adapter === name);
if (source === undefined || logs.length === 0)
  throw new Error("usage: node bench/handing-over.ts <adapter> <log>...");
console.log(
  `| session | in | ${KINDS.map((kind) => `${kind}s`).join(" | ")} | tokens | missing | reported as lost | not marked | misplaced | added |`,
);
console.log(`|${"---|".repeat(KINDS.length + 8)}`);
for (const log of logs) await compare(source, log);
