/**
 * Compiles src/ to dist/, one file to one file, and gathers what the command runs into the few files of dist/bundle/: a
 * module that is loaded from a file of its own costs a third of a millisecond of every start. The new dist takes the place of the old one in one step, so that a
 * pond that is running meets neither a half-written nor a missing one; a failed build leaves the old one.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** What every sync loads, also one that finds nothing to do, below dist: the folder of the checkout may have any name. */
const START =
  /^(base|state)\/|^cli\/(?!main)([^/]+|terminal\/[^/]+|command\/[^/]+)\.js$|^adapters\/(registry|kit\/sources\/(discovery|stamp)|[^/]+\/(layout|places))\.js$/;
const started = new Date();
const fresh = `dist.new-${process.pid}`;
const old = `dist.old-${process.pid}`;
try {
  mkdirSync(fresh);
  execFileSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", fresh],
    {
      stdio: "inherit",
    },
  );
  await bundle();
  // The launcher builds again when a source is newer than the stamp: one that changed meanwhile must be.
  writeFileSync(`${fresh}/.stamp`, "");
  utimesSync(`${fresh}/.stamp`, started, started);
  if (existsSync("dist")) renameSync("dist", old);
  renameSync(fresh, "dist");
} catch (error) {
  process.exitCode = 1;
  // The compiler has said what is wrong.
  if (!(error instanceof Error && "status" in error)) throw error;
} finally {
  rmSync(fresh, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
}

/** In one folder as deep as a room's, so that what is found by its place (package.json, a worker's file) is found. */
async function bundle(): Promise<void> {
  const input = {
    main: `${fresh}/cli/main.js`,
    "import-worker": `${fresh}/handlers/import/import-worker.js`,
    "onnx-worker": `${fresh}/embeddings/onnx/onnx-worker.js`,
  };
  const bundled = await rolldown({
    input,
    platform: "node",
    external: [/node_modules/, /^[^./]/],
    checks: { ineffectiveDynamicImport: false },
  });
  await bundled.write({
    dir: `${fresh}/bundle`,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    // The rest is split by who imports it.
    codeSplitting: { groups: [{ name: "start", test: (path) => START.test(relative(fresh, path)) }] },
  });
  await bundled.close();
}
