/**
 * Compiles src/ to dist/, one file to one file. The new dist takes the place of the old one in one step, so that a
 * pond that is running meets neither a half-written nor a missing one; a failed build leaves the old one.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

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
