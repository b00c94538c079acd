#!/usr/bin/env node
/**
 * The command of an installed package, and what the launcher of a clone runs. Plain JavaScript that Node 18 parses:
 * a Node that is too old hands over to the one in node_modules, or says in one line what is needed.
 */
import { existsSync, mkdirSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const [major, minor] = process.versions.node.split(".").map(Number);
const bundled = at(`../node_modules/node/bin/node${process.platform === "win32" ? ".exe" : ""}`);

if (!existsSync(at("../dist/bundle/main.js"))) {
  stop("this copy is not built", `npm install && npm run build, in ${at("..")}`);
} else if (major > 22 || (major === 22 && minor >= 18)) {
  // Not in the package's own folder, which may be read-only or everybody's.
  module.enableCompileCache?.(privately(cacheFolder()));
  boundHeap();
  await import("../dist/bundle/main.js");
} else if (existsSync(bundled)) {
  await handOver();
} else {
  stop(
    `needs Node 22.18 or newer, this is ${process.version}`,
    "install a newer Node.js (https://nodejs.org)",
  );
}

/** As src/config/paths.ts finds the other folders; undefined, which is a temporary one, where there is no home. */
function cacheFolder() {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env;
  if (xdg && isAbsolute(xdg)) return join(xdg, "pond");
  try {
    const isWindows = process.platform === "win32";
    return isWindows ? join(local || homedir(), "pond", "cache") : join(homedir(), ".cache", "pond");
  } catch {
    return undefined;
  }
}

/** Node would make the folder for everybody to read. Without one, Node does without a cache. */
function privately(folder) {
  try {
    if (folder !== undefined && !process.env.NODE_COMPILE_CACHE)
      mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {}
  return folder;
}

/**
 * What the launcher's flags do, for who runs this file: a flag of the start cannot be given any more, and another process
 * would cost a start. Not at once: with a flag changed, V8 refuses the code caches of what is still to be loaded, and most
 * commands end before.
 */
function boundHeap() {
  const v8 = process.getBuiltinModule("v8");
  // V8 lets 40 MB of living objects grow to 160 before it looks for dead ones; twice is enough, and an import takes 80 MB
  // less for the same CPU.
  setTimeout(() => v8.setFlagsFromString("--heap-growing-percent=100"), 1000).unref();
  if (process.execArgv.some((flag) => flag.startsWith("--max-semi-space-size"))) return;
  // The young generation grows to 128 MB and is no faster for it than 16 (two halves of 8): from there on it stays, and so
  // do those of threads to come.
  const watch = setInterval(() => {
    const young = v8.getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
    if ((young?.space_size ?? 0) < 16_000_000) return;
    clearInterval(watch);
    for (const flag of ["max-semi-space-size=8", "min-semi-space-size=8", "semi-space-growth-factor=1"])
      v8.setFlagsFromString(`--${flag}`);
  }, 100).unref();
}

/** Runs the same command line on the bundled Node, in this terminal, and ends as it ends. */
async function handOver() {
  const { spawn } = await import("node:child_process");
  const child = spawn(bundled, [at("pond.js"), ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends Ctrl-C to both; this one has to outlive the other's clean-up.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => stop(`cannot run ${bundled}: ${error.message}`, "npm ci"));
  child.on("exit", (code) => process.exit(code ?? 2));
}

function stop(what, fix) {
  process.stderr.write(`pond: ${what}\n  fix: ${fix}\n`);
  process.exitCode = 2;
}
