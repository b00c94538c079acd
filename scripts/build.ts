/** Compiles src/ to dist/, one file to one file, and stamps the result for the launcher's freshness check. */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

const stamp = new Date();
rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
writeFileSync("dist/.stamp", `${stamp.toISOString()}\n`);
