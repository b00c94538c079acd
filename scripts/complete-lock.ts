/**
 * Adds to package-lock.json the builds for other platforms that the registry did not answer for.
 *
 * `npm install` leaves an optional dependency out of the lock when its registry (a mirror that lags, an offline
 * cache) does not know that version; `npm ci` then refuses the lock on EVERY machine ("Missing: ... from lock
 * file"). The entries need no download: name, version and platform are enough for npm to skip them here and to
 * fetch them there. Run it after every change of dependencies: `node scripts/complete-lock.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  version?: string;
  dev?: boolean;
  peer?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const LOCK = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(LOCK, "utf8")) as { packages: Record<string, Entry> };
const added: Record<string, Entry> = {};

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name)) continue;
    const platform = platformOf(name);
    if (platform === undefined || !/^\d/.test(version)) {
      throw new Error(`${path}: cannot lock ${name}@${version} without the registry; run npm install online`);
    }
    added[`node_modules/${name}`] = {
      version,
      cpu: platform.cpu,
      ...(entry.dev && { dev: true }),
      ...(platform.libc && { libc: platform.libc }),
      optional: true,
      ...(platform.os && { os: platform.os }),
      ...(entry.peer && { peer: true }),
    };
  }
}

lock.packages = Object.fromEntries(
  Object.entries({ ...lock.packages, ...added }).toSorted(([a], [b]) => a.localeCompare(b, "en")),
);
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${Object.keys(added).length} entries added`);

/** Node's resolution: the nearest node_modules up the path. */
function isLocked(from: string, name: string): boolean {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (`${at === "" ? "" : `${at}/`}node_modules/${name}` in lock.packages) return true;
    if (at === "") return false;
  }
}

/** `@scope/binding-linux-arm64-musl`: every package of this kind is named by its napi-rs target. */
function platformOf(name: string): { cpu: string[]; os?: string[]; libc?: string[] } | undefined {
  const match =
    /(?<os>android|darwin|freebsd|linux|openharmony|win32|wasm32)-(?<cpu>wasi|[a-z0-9]+)(?:-(?<abi>[a-z]+))?$/.exec(
      name,
    )?.groups;
  if (match === undefined) return undefined;
  if (match["os"] === "wasm32") return { cpu: ["wasm32"] };
  const libc =
    match["os"] !== "linux" || !match["abi"] ? undefined : match["abi"].startsWith("musl") ? "musl" : "glibc";
  return { cpu: [match["cpu"] ?? ""], os: [match["os"] ?? ""], ...(libc && { libc: [libc] }) };
}
