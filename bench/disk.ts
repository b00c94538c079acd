/**
 * What a store takes of its sources (spec.md#storage-packing): the samples of each client synced into a new store, indexes
 * built, old versions gone. Payloads of files are told apart: they are stored as they are, and are base64 in most sources.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { SessionStore } from "../src/sessions/index.ts";
import { eq } from "../src/substrate/engine/predicate.ts";
import { openStore } from "../src/substrate/index.ts";
import { NO_SAMPLES, samplesOf } from "../test/support/samples.ts";
import { LAUNCHER_ENV, LAUNCHER_FLAGS } from "./launcher.ts";

const BIN = resolve(import.meta.dirname, "../bin/pond.js");
const CLIENTS = ["claude-code", "codex-cli", "opencode", "pi"];

export async function run(): Promise<void> {
  console.log("client        source MB  payloads MB   store MB   data  indexes  without payloads");
  for (const client of CLIENTS) {
    const folder = samplesOf(client);
    if (folder === undefined) return console.log(`skipped, ${NO_SAMPLES}`);
    const home = mkdtempSync(join(tmpdir(), "pond-bench-"));
    try {
      await report(client, folder, home);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
}

async function report(client: string, folder: string, home: string): Promise<void> {
  const path = join(home, "store");
  sync(home, ["--store", path, "--adapter", client, "--path", folder]);
  const sessions = await SessionStore.open(await openStore(path));
  // The first round leaves versions of its own.
  for (let round = 0; round < 2; round++) await sessions.maintain({ force: true, retentionMs: 0 });
  const source = bytesOf(folder);
  const store = bytesOf(path);
  const payloads = await payloadsOf(sessions);
  const tables = await sessions.health();
  const indexes = tables.flatMap(({ facts }) => facts.indexes).reduce((sum, { bytes }) => sum + bytes, 0);
  const share = (store - payloads.stored) / (source - payloads.source);
  const cells = [mb(source, 10), mb(payloads.source, 12), mb(store, 10)];
  const shares = [(store - indexes) / source, indexes / source].map((value) => value.toFixed(3).padStart(7));
  console.log(
    `${client.padEnd(12)} ${cells.join(" ")} ${shares.join("  ")} ${share.toFixed(3).padStart(17)}`,
  );
}

function sync(home: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [...LAUNCHER_FLAGS, BIN, "sync", "--quiet", ...args],
    {
      env: { ...LAUNCHER_ENV, HOME: home, PATH: process.env["PATH"] ?? "" },
      encoding: "utf8",
    },
  );
  // 1: some samples are damaged on purpose.
  if (status !== 0 && status !== 1) throw new Error(stderr);
}

/** Bytes of the payloads of file parts, here and in the source. */
async function payloadsOf(
  sessions: SessionStore,
): Promise<{ readonly stored: number; readonly source: number }> {
  const select = ["variant_data", "data"] as const;
  const rows = await sessions.tables.parts.scan({ select, where: eq("type", "file") });
  let stored = 0;
  let source = 0;
  for (let row = 0; row < rows.length; row++) {
    const size = rows.blobSize("data", row) ?? 0;
    const { data } = JSON.parse(rows.string("variant_data", row)) as { data?: { encoding?: string } };
    stored += size;
    source += data?.encoding === "base64" ? Math.ceil(size / 3) * 4 : size;
  }
  return { stored, source };
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const mb = (bytes: number, width: number): string => (bytes / 1e6).toFixed(1).padStart(width);
