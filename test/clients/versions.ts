/**
 * Which versions of the real clients the tests run: the one that each format was captured with, and the newest that installs.
 * They are installed side by side, by `node test/clients/install.ts`, and never as a dependency of the project.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

export type ClientName = "claude-code" | "codex-cli" | "opencode" | "pi" | "qwen-code";

/** `pinned`: what the fixtures were captured with. `newest`: the last that was tried and installs. */
export type VersionSet = "pinned" | "newest";

export interface ClientVersion {
  readonly package: string;
  readonly version: string;
  readonly executable: string;
}

export const VERSIONS: Readonly<Record<ClientName, Readonly<Record<VersionSet, ClientVersion>>>> = {
  "claude-code": {
    pinned: { package: "@anthropic-ai/claude-code", version: "2.1.197", executable: "claude" },
    newest: { package: "@anthropic-ai/claude-code", version: "2.1.326", executable: "claude" },
  },
  "codex-cli": {
    pinned: { package: "@openai/codex", version: "0.166.0", executable: "codex" },
    newest: { package: "@openai/codex", version: "0.169.0", executable: "codex" },
  },
  opencode: {
    pinned: { package: "opencode-ai", version: "1.18.33", executable: "opencode" },
    newest: { package: "opencode-ai", version: "1.18.33", executable: "opencode" },
  },
  pi: {
    pinned: { package: "@mariozechner/pi-coding-agent", version: "0.73.1", executable: "pi" },
    // Its new name. 1.5.0 is newer and does not install: a dependency of it is not in the registry.
    newest: { package: "@earendil-works/pi-coding-agent", version: "0.87.1", executable: "pi" },
  },
  "qwen-code": {
    pinned: { package: "@qwen-code/qwen-code", version: "0.15.10", executable: "qwen" },
    newest: { package: "@qwen-code/qwen-code", version: "0.24.4", executable: "qwen" },
  },
};

/** The set that this run is about; vitest.clients.config.ts runs all of them. */
export function versionSet(): VersionSet {
  return process.env["POND_CLIENT_SET"] === "newest" ? "newest" : "pinned";
}

/** A folder per version, below the folder of the clients. */
export function folderOf(root: string, client: ClientName, { version }: ClientVersion): string {
  return resolve(root, `${client}-${version}`);
}

/** The client's executable, or why there is none and how to get it. */
export function findClient(client: ClientName): { readonly path: string } | { readonly missing: string } {
  const found = VERSIONS[client][versionSet()];
  const root = process.env["POND_CLIENTS"];
  const hint = "POND_CLIENTS=<folder> node test/clients/install.ts";
  if (root === undefined || root === "") return { missing: `POND_CLIENTS is not set: ${hint}` };
  const path = resolve(folderOf(root, client, found), "node_modules/.bin", found.executable);
  if (!existsSync(path)) return { missing: `${found.package}@${found.version} is not installed: ${hint}` };
  const isolated = spawnSync("unshare", ["-n", "true"]).status === 0;
  return isolated ? { path } : { missing: "network namespaces are refused here (unshare -n)" };
}
