/**
 * Files that this process may see and not read. Root reads what permissions forbid, so the refusal is put where programs
 * ask: `stat` answers as ever, which is what makes such a file dangerous, and opening it fails.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const denied = new Set<unknown>();
let isInstalled = false;

export function deny(path: string): void {
  if (!isInstalled) install();
  isInstalled = true;
  denied.add(path);
}

export function allow(path: string): void {
  denied.delete(path);
}

type Call = (...input: readonly unknown[]) => unknown;

function install(): void {
  const sync =
    (call: Call): Call =>
    (...input) => {
      if (denied.has(input[0])) throw refusal(input[0]);
      return call(...input);
    };
  const later =
    (call: Call): Call =>
    (...input) =>
      denied.has(input[0]) ? Promise.reject(refusal(input[0])) : call(...input);
  const withCallback =
    (call: Call): Call =>
    (...input) =>
      denied.has(input[0]) ? process.nextTick(input.at(-1) as Call, refusal(input[0])) : call(...input);
  replace(fs, "readFileSync", sync);
  replace(fs, "openSync", sync);
  replace(fs, "open", withCallback);
  replace(fs.promises, "readFile", later);
  replace(fs.promises, "open", later);
  // What was imported by name is bound anew, too.
  syncBuiltinESMExports();
}

function replace(holder: object, name: string, by: (call: Call) => Call): void {
  const calls = holder as Record<string, Call>;
  const call = calls[name]!;
  calls[name] = by(call.bind(holder));
}

function refusal(path: unknown): Error {
  const message = `EACCES: permission denied, open '${String(path)}'`;
  return Object.assign(new Error(message), { code: "EACCES", errno: -13, syscall: "open", path });
}
