/**
 * A restore in a process of its own that dies before a given step: `{"to":"pi","out":"...","dieAt":3}`. A step is a file
 * that is made, given its place or removed. Without `dieAt` it prints how many steps there were.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

interface Job {
  readonly to: string;
  readonly out: string;
  readonly dieAt?: number;
}

const { to, out, dieAt } = JSON.parse(process.argv[2] ?? "{}") as Job;
let steps = 0;

function step(): void {
  if (steps === dieAt) process.kill(process.pid, "SIGKILL");
  steps += 1;
}

const { link, open, rm } = fs.promises;
fs.promises.link = (...args) => {
  step();
  return link(...args);
};
fs.promises.open = (...args) => {
  if (args[1] === "wx") step();
  return open(...args);
};
fs.promises.rm = (...args) => {
  step();
  return rm(...args);
};
syncBuiltinESMExports();

const { adapterNamed } = await import("../../src/adapters/index.ts");
const { restoreInto, smallLineage } = await import("./restore-lineage.ts");
const adapter = adapterNamed(to);
if (adapter === undefined) throw new Error(`no client ${to}`);
// Another time than that of whoever goes on: what is written must not depend on it.
await restoreInto(adapter, smallLineage(), { out, now: Date.UTC(2026, 6, 1) });
fs.writeSync(1, `${steps}\n`);
