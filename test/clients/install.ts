/** Installs every version of the real clients that the tests run below POND_CLIENTS, and names those that do not install. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ClientName, VersionSet } from "./versions.ts";
import { folderOf, VERSIONS } from "./versions.ts";

const root = process.env["POND_CLIENTS"];
if (root === undefined || root === "") throw new Error("set POND_CLIENTS to a folder outside the project");

const CLIENTS: readonly ClientName[] = ["claude-code", "codex-cli", "opencode", "pi", "qwen-code"];
const SETS: readonly VersionSet[] = ["pinned", "newest"];
for (const client of CLIENTS) for (const set of SETS) install(root, client, set);

function install(into: string, client: ClientName, set: VersionSet): void {
  const found = VERSIONS[client][set];
  const folder = folderOf(into, client, found);
  const name = `${client}: ${found.package}@${found.version}`;
  const executable = resolve(folder, "node_modules/.bin", found.executable);
  if (existsSync(executable)) return console.log(`${name} is there`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(resolve(folder, "package.json"), '{"private":true}\n');
  const options = ["--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", ["install", ...options, `${found.package}@${found.version}`], {
    cwd: folder,
    encoding: "utf8",
  });
  if (npm.status === 0 && existsSync(executable)) return console.log(`${name} installed`);
  console.log(`${name} does not install: ${npm.stderr.split("\n")[0]}`);
  process.exitCode = 1;
}
