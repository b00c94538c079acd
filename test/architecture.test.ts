/**
 * The walls of the house, as data (ARCHITECTURE.md): which room may import which, which door it must use, and where
 * the machine may be touched. A guard that looked at nothing fails.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

/** Room -> rooms it may import. Every room may import base; a client never imports another client. */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: [],
  config: [],
  state: [],
  wire: ["model"],
  "adapters/seam": ["model"],
  "adapters/<client>": ["adapters/seam", "model"],
  adapters: ["adapters/seam", "adapters/<client>"],
  substrate: ["config"],
  sessions: ["model", "substrate"],
  embeddings: [],
  search: ["model", "sessions", "substrate", "embeddings"],
  sql: ["substrate"],
  archive: ["model", "sessions"],
  watch: ["model", "adapters"],
  handlers: [
    "model",
    "config",
    "state",
    "wire",
    "adapters",
    "sessions",
    "search",
    "embeddings",
    "sql",
    "archive",
    "watch",
  ],
  transports: ["wire", "handlers"],
  cli: ["config", "wire", "handlers", "transports"],
  index: ["model", "adapters", "sessions", "handlers", "substrate"],
};

/** Doors beside index.ts: `base` is imported by file; the others keep the start of the command light. */
const EXTRA_DOORS: Readonly<Record<string, readonly string[]>> = {
  model: ["schema.ts"],
  wire: ["schema.ts"],
  config: ["create.ts", "describe.ts", "environment.ts", "json-schema.ts"],
  adapters: ["registry.ts"],
  "adapters/seam": ["discovery.ts", "stamp.ts"],
  sessions: ["peek.ts"],
  state: ["besides.ts"],
  substrate: ["peek.ts", "storage-url.ts"],
  base: ["*"],
};

/** Exceptions, each with its count and reason; an entry that is no longer used fails. */
const ALLOWED: readonly {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly why: string;
}[] = [
  {
    from: "adapters/seam/extract.ts",
    to: "model/extracted.ts",
    count: 1,
    why: "the extractor helpers seal values; the seal is not on model's door",
  },
  {
    from: "sessions/rows.ts",
    to: "model/extracted.ts",
    count: 1,
    why: "the row decoder seals what it stored",
  },
];

/** A token that only some files may contain. Counted, so that a guard whose pattern rotted is seen. */
const CHOKEPOINTS: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly where: RegExp;
  readonly used: boolean;
}[] = [
  {
    what: "the machine's clock",
    pattern: /\bDate\.now\(|performance\.now\(|new Date\(\)/,
    where: /^base\/clock\.ts$/,
    used: true,
  },
  {
    what: "the environment",
    pattern: /\bprocess\.env\b/,
    where: /^(config\/|substrate\/lance\.ts$)/,
    used: true,
  },
  {
    what: "printing",
    pattern: /\bprocess\.(stdout|stderr)\b|\bconsole\./,
    where: /^cli\/output\.ts$/,
    used: true,
  },
  {
    what: "the engine",
    pattern: /["'](@lancedb\/lancedb|apache-arrow)["']/,
    where: /^substrate\//,
    used: true,
  },
  { what: "child processes", pattern: /["']node:child_process["']/, where: /^(cli|sql)\//, used: true },
  {
    what: "sealing",
    pattern: /\bsealExtracted(Json)?\b/,
    where: /^(model\/(extracted|schema)\.ts|adapters\/seam\/extract\.ts|sessions\/rows\.ts)$/,
    used: true,
  },
  { what: "making folders", pattern: /\bmkdir(Sync)?\(/, where: /^base\/folders\.ts$/, used: true },
  {
    what: "writing files",
    pattern:
      /\b(writeFile|appendFile|createWriteStream|makeFolders|mkdtemp|rename|unlink|rm|rmdir|copyFile|cp|symlink|truncate|utimes|chmod)(Sync)?\(/,
    // The seam's database reader copies into pond's own scratch folder, never beside a source.
    where:
      /^(substrate|archive|state|config)\/|^base\/(append-log|folders)\.ts$|^handlers\/(restore|demo)[^/]*\.ts$|^adapters\/seam\/sqlite\.ts$/,
    used: false,
  },
];

const files = sourceFiles(SRC).map((path) => ({
  path: relative(SRC, path),
  text: readFileSync(path, "utf8"),
}));
const imports = files.flatMap(({ path, text }) => relativeImports(path, text));

describe("the house", () => {
  test("has files and imports to look at", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(imports.length).toBeGreaterThan(30);
  });

  test("every room is in the table", () => {
    const unknown = files.map(({ path }) => roomOf(path)).filter((room) => !(room in DIRECTIONS));
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("rooms import only the rooms in their row", () => {
    const wrong = imports.filter(({ from, to }) => !isAllowedDirection(from, to)).map(describeImport);
    expect(wrong).toEqual([]);
  });

  test("rooms are entered by their door", () => {
    const wrong = imports.filter((edge) => !usesDoor(edge) && !isException(edge)).map(describeImport);
    expect(wrong).toEqual([]);
  });

  test("every declared exception is still used as often as it says", () => {
    for (const { from, to, count } of ALLOWED)
      expect([from, to, imports.filter((edge) => edge.from === from && edge.to === to).length]).toEqual([
        from,
        to,
        count,
      ]);
  });

  test("one noun a file: no utils, helpers, common or misc", () => {
    expect(
      files.map(({ path }) => path).filter((path) => /(^|\/)(utils?|helpers?|common|misc)\.ts$/.test(path)),
    ).toEqual([]);
  });

  test("every file opens by saying what it is for", () => {
    expect(files.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([]);
  });
});

describe("chokepoints", () => {
  test.each(CHOKEPOINTS)("$what", ({ pattern, where, used }) => {
    const users = files.filter(({ text }) => pattern.test(stripComments(text))).map(({ path }) => path);
    expect(users.filter((path) => !where.test(path))).toEqual([]);
    if (used) expect(users.length).toBeGreaterThan(0);
  });
});

describe("documents", () => {
  test("every rule that code cites is an anchor of docs/spec.md", () => {
    const spec = readFileSync(join(ROOT, "docs/spec.md"), "utf8");
    const anchors = new Set([...spec.matchAll(/\{#([a-z0-9-]+)\}/g)].map((match) => match[1]));
    const cited = files.flatMap(({ path, text }) =>
      [...text.matchAll(/spec\.md#([a-z0-9-]+)/g)].map((match) => ({ path, anchor: match[1] })),
    );
    expect(anchors.size).toBeGreaterThan(20);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ anchor }) => !anchors.has(anchor))).toEqual([]);
  });

  test("AGENTS.md and ARCHITECTURE.md name every room", () => {
    const rooms = new Set(
      files.map(({ path }) => path.split("/")[0] ?? "").filter((name) => !name.endsWith(".ts")),
    );
    for (const document of ["AGENTS.md", "ARCHITECTURE.md"]) {
      const text = readFileSync(join(ROOT, document), "utf8");
      expect([document, [...rooms].filter((room) => !text.includes(`${room}/`))]).toEqual([document, []]);
    }
  });

  test("the rooms that AGENTS.md draws exist", () => {
    const text = readFileSync(join(ROOT, "AGENTS.md"), "utf8");
    const drawn = [...text.matchAll(/^ {2}(src\/[a-z/-]+\/) /gm)].map((match) => match[1] ?? "");
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn.filter((room) => sourceFiles(join(ROOT, room)).length === 0)).toEqual([]);
  });
});

interface Edge {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith(".ts") && !/\.(type-)?test\.ts$/.test(entry.name),
    )
    .map((entry) => join(entry.parentPath, entry.name));
}

function relativeImports(path: string, text: string): Edge[] {
  return [...text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g)].map((match) => ({
    from: path,
    to: relative(SRC, resolve(SRC, dirname(path), match[1] ?? "")),
  }));
}

function roomOf(path: string): string {
  const [first = "", second = "", third] = path.split("/");
  if (first.endsWith(".ts")) return "index";
  const isRegistry = third === undefined && (second === "index.ts" || second === "registry.ts");
  if (first !== "adapters" || isRegistry) return first;
  return second === "seam" ? "adapters/seam" : "adapters/<client>";
}

function isAllowedDirection(from: string, to: string): boolean {
  const source = roomOf(from);
  const target = roomOf(to);
  if (target === "base") return true;
  if (source === target) return source !== "adapters/<client>" || clientOf(from) === clientOf(to);
  return DIRECTIONS[source]?.includes(target) ?? false;
}

function clientOf(path: string): string {
  return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

function usesDoor({ from, to }: Edge): boolean {
  const room = roomOf(to);
  if (roomOf(from) === room) return true;
  const file = to.split("/").at(-1) ?? "";
  if (file === "index.ts") return true;
  // A client that fits on one page is a file, its own door.
  if (room === "adapters/<client>" && to.split("/").length === 2) return true;
  const doors = EXTRA_DOORS[room] ?? [];
  return doors.includes("*") || doors.includes(file);
}

function isException(edge: Edge): boolean {
  return ALLOWED.some(({ from, to }) => from === edge.from && to === edge.to);
}

function describeImport({ from, to }: Edge): string {
  return `${from} -> ${to}`;
}

function stripComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
}
