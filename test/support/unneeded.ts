/** Which files of a local namespace nothing needs: what is there, less what the manifests that are kept name. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { manifestNames, readManifest } from "../../src/substrate/local/manifest.ts";

/** Files and empty folders below a namespace, by their paths. A version is kept that was the newest at `since` or later. */
export async function unneededIn(namespace: string, since: number): Promise<readonly string[]> {
  const left: string[] = [];
  const names = readdirSync(namespace);
  const tables = names.filter((name) => name.endsWith(".lance") && !/^pond_(?:new|torn)_/.test(name));
  left.push(...names.filter((name) => name !== ".locks" && !tables.includes(name)));
  const locks = new Set(tables.map((name) => name.replace(/\.lance$/, ".sqlite")));
  left.push(...filesIn(join(namespace, ".locks")).filter((name) => !locks.has(name)));
  for (const table of tables)
    for (const path of await unneededInTable(join(namespace, table), since)) left.push(`${table}/${path}`);
  return left;
}

async function unneededInTable(table: string, since: number): Promise<readonly string[]> {
  const versions = await manifestNames(table);
  // Names come newest first. One that was the newest until then may have readers still.
  const madeAt = (name: string | undefined): number =>
    name === undefined ? Infinity : statSync(join(table, "_versions", name)).mtimeMs;
  const kept = versions.filter((_, place) => madeAt(versions[place - 1]) >= since);
  const files = new Set(["_versions/latest_version_hint.json", "_sums/files.log"]);
  const folders = new Set<string>();
  for (const name of kept) {
    files.add(`_versions/${name}`).add(`_sums/${name}`);
    const manifest = await readManifest(table, name);
    if (manifest === undefined) throw new Error(`${name} is gone`);
    files.add(`_transactions/${manifest.transaction}`);
    for (const { folder } of manifest.indexes) folders.add(folder);
    for (const { files: ofData, deletions } of manifest.fragments) {
      if (deletions !== undefined) files.add(deletions);
      for (const { path } of ofData) {
        files.add(path);
        folders.add(path.replace(/\.lance$/, ""));
      }
    }
  }
  const isNeeded = (path: string): boolean => {
    const [top = "", second = "", name = ""] = path.split("/");
    if (files.has(path)) return true;
    return folders.has(`${top}/${second}`) && name !== "" && !/^\.tmp|#\d+$/.test(name);
  };
  return filesIn(table).filter((path) => !isNeeded(path));
}

/** Empty folders end in `/`. */
function filesIn(folder: string, within = ""): string[] {
  return readdirSync(join(folder, within), { withFileTypes: true }).flatMap((entry) => {
    const path = within === "" ? entry.name : `${within}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    const below = filesIn(folder, path);
    // The engine makes these with the table.
    const isOfTable = ["data", "_deletions", "_indices", "_transactions", "_sums"].includes(path);
    return below.length === 0 && !isOfTable ? [`${path}/`] : below;
  });
}
