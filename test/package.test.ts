/** The package as it is installed: its surface, its command, the versions it was built and measured with. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { remoteCalls } from "../src/base/thread-calls.ts";
import { ROOT } from "./cli/pond.ts";

interface Manifest {
  readonly version: string;
  readonly keywords: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}
interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const json = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const manifest = json("package.json") as Manifest;
const lock = json("package-lock.json") as Lock;

/** Every name here is API; adding one is a decision. */
const SURFACES: Readonly<Record<string, readonly string[]>> = {
  ".": ["PondError", "isPondError", "openPond", "plainText"],
  "./model": [
    "REF",
    "createMessage",
    "createSession",
    "describeKey",
    "eventsOf",
    "filePart",
    "formatTimestamp",
    "hydrateTree",
    "lineageOf",
    "loadTree",
    "messageId",
    "openJson",
    "parseEvent",
    "parseMessage",
    "parsePart",
    "parseSession",
    "parseTimestamp",
    "partAuthor",
    "partId",
    "planParts",
    "planTree",
    "reasoningPart",
    "replay",
    "resolveTree",
    "searchText",
    "sessionId",
    "sessionsIn",
    "stateOf",
    "textPart",
    "toolCall",
    "toolResult",
  ],
  "./json": [
    "equalJson",
    "firstDifference",
    "isJsonObject",
    "isRawNumber",
    "parseJson",
    "stringifyJson",
    "tryParseJson",
  ],
  "./adapters": [
    "ShapedRecords",
    "adapterNamed",
    "adapters",
    "arrayField",
    "copyId",
    "extractBoolean",
    "extractFailureByStatus",
    "extractFromPath",
    "extractItem",
    "extractJson",
    "extractName",
    "extractPresence",
    "extractPrintedFailure",
    "extractSpan",
    "extractString",
    "extractTimestamp",
    "extractWhole",
    "failuresIn",
    "field",
    "filesIn",
    "folderInVariable",
    "foldersIn",
    "hasSpans",
    "integerField",
    "isCanonicalTimestamp",
    "keptBehind",
    "lastCompaction",
    "logHashes",
    "logReader",
    "nameOfSource",
    "objectField",
    "openPlace",
    "openSpanTree",
    "serializeLogs",
    "shapedRecord",
    "sourceOf",
    "unitsPerFile",
    "withFacts",
    "without",
  ],
};

const doors = Object.entries(manifest.exports).filter(([door]) => door !== "./package.json");

test("the package has these doors and can be published", () => {
  expect(doors.map(([door]) => door)).toEqual(Object.keys(SURFACES));
  expect(manifest).toMatchObject({ name: "pond-db", bin: { pond: "bin/pond.js" } });
  expect(manifest).not.toHaveProperty("private");
  expect(manifest.keywords.length).toBeGreaterThan(3);
});

test.each(doors)("%s exports exactly its surface", async (door, entry) => {
  const surface = (await import(join(ROOT, entry["default"] ?? ""))) as Record<string, unknown>;
  expect(Object.keys(surface).toSorted()).toEqual(SURFACES[door]);
});

test.each(doors)("no declaration that %s reaches names another package or Node", (_, entry) => {
  const reached = new Map<string, string>();
  const queue = [join(ROOT, entry["types"] ?? "")];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    const text = readFileSync(file, "utf8");
    reached.set(file, text);
    for (const [, path = ""] of text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)\.(?:ts|js)"/g))
      queue.push(join(dirname(file), `${path}.d.ts`));
  }
  expect(reached.size).toBeGreaterThan(1);
  const foreign = [...reached].flatMap(([file, text]) =>
    [...text.matchAll(/(?:from|import\()\s*"([^."][^"]*)"/g)].map(
      ([, name = ""]) => `${relative(ROOT, file)}: ${name}`,
    ),
  );
  expect(foreign).toEqual([]);
});

test("the thread of an import is where the bundled command looks for it, and answers", async () => {
  const { port1, port2 } = new MessageChannel();
  const file = join(ROOT, "dist/bundle/import-worker.js");
  const worker = new Worker(file, { workerData: port2, transferList: [port2] });
  const calls = remoteCalls<{ stop: (nothing: undefined) => void }>(worker);
  await Promise.race([calls.stop(undefined), once(worker, "error").then(([error]) => Promise.reject(error))]);
  await worker.terminate();
  port1.close();
});

test("the command runs", () => {
  const bin = join(ROOT, manifest.bin["pond"] ?? "");
  expect(execFileSync(process.execPath, [bin, "--version"], { encoding: "utf8" })).toBe(
    `pond ${manifest.version}\n`,
  );
});

// On Node 20 a plain install silently takes an older binding, and two copies of arrow do not understand each other.
test.each([
  ["@lancedb/lancedb", "0.39.0"],
  ["apache-arrow", "18.1.0"],
])("%s is exactly %s in package.json, the lock and node_modules, and there is one copy", (name, version) => {
  expect(manifest.dependencies[name]).toBe(version);
  const locked = Object.entries(lock.packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
  expect(locked.map(([path, entry]) => [path, entry.version])).toEqual([[`node_modules/${name}`, version]]);
  expect(json(`node_modules/${name}/package.json`)).toMatchObject({ version });
});

test("the binding and we load the same arrow", () => {
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve("@lancedb/lancedb"));
  expect(theirs.resolve("apache-arrow")).toBe(ours.resolve("apache-arrow"));
});

// Else `npm ci` refuses the lock on every machine; scripts/complete-lock.ts adds what is missing.
test("the lock holds every dependency of every package, for all platforms", () => {
  const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !isLocked(path, name))
      .map((name) => `${path} -> ${name}`),
  );
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test("the lock names no place to download from", () => {
  expect(Object.values(lock.packages).filter(({ resolved }) => resolved?.startsWith("http"))).toEqual([]);
});

/** Node's resolution: the nearest node_modules up the path. */
function isLocked(from: string, name: string): boolean {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (`${at === "" ? "" : `${at}/`}node_modules/${name}` in lock.packages) return true;
    if (at === "") return false;
  }
}
