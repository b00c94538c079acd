/**
 * What no full sync can do without, as a process of its own: start, make a store, parse every line and spell it again,
 * append ready batches as they are, build the indexes. Arguments: the folder of the sources, that of the batches.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { SessionStore } from "../dist/sessions/index.js";
import { openStore } from "../dist/substrate/index.js";

const [sources, batches] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "pond-bench-"));
const store = await SessionStore.open(await openStore(folder));
const connection = await createRequire(import.meta.url)("@lancedb/lancedb").connect(join(folder, "default"));
await Promise.all([append(), parse()]);
await store.updateIndexes();
rmSync(folder, { recursive: true, force: true });
process.exit();

async function append() {
  const tables = new Map();
  for (const name of ["sessions", "messages", "parts"])
    tables.set(name, (await connection.openTable(name)).inner);
  for (const file of readdirSync(batches).toSorted())
    await tables.get(file.split("-")[1]).add(readFileSync(join(batches, file)), "append");
}

async function parse() {
  for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".jsonl")) continue;
    for (const line of readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n")) {
      if (line === "") continue;
      try {
        JSON.stringify(JSON.parse(line));
      } catch {
        // Some samples are damaged on purpose.
      }
    }
    await setImmediate();
  }
}
