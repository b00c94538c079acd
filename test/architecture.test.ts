/**
 * The walls of the house, as data (ARCHITECTURE.md): which room may import which, which door it must use, and where
 * the machine may be touched. A guard that looked at nothing fails.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT as ROOT_COMMAND } from "../src/cli/verbs.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

/** Room -> rooms it may import. Every room may import base; a client never imports another client (spec.md#interchange-hub). */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: [],
  config: [],
  state: [],
  wire: ["model"],
  render: ["model", "wire"],
  "adapters/kit": ["model"],
  "adapters/<client>": ["adapters/kit", "model"],
  adapters: ["adapters/kit", "adapters/<client>"],
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
  transports: ["wire", "render", "handlers"],
  cli: ["config", "wire", "render", "handlers", "transports"],
  library: ["model", "config", "wire", "adapters", "adapters/kit", "handlers"],
  index: ["wire", "adapters", "library"],
};

/**
 * Rooms inside a room: folder -> folders of the same room that its files may import. A room's own files (`.`) are above
 * them all; its door is left out, for it names what all of them give. Folders that are not listed have no rooms inside.
 */
const INNER: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  base: { ".": [], json: ["."], files: [".", "json"] },
  model: { ".": [], derived: ["."], events: [".", "derived"], tree: [".", "events", "derived"] },
  substrate: {
    engine: [],
    local: ["engine"],
    arrow: ["engine", "local"],
    handle: ["engine", "local"],
    read: ["engine", "arrow", "handle"],
    write: ["engine", "local", "arrow", "handle", "read"],
    maintain: ["engine", "local", "arrow", "handle"],
    catalog: ["engine", "local", "arrow", "handle", "write", "maintain"],
    ".": ["engine", "local", "arrow", "handle", "read", "write", "maintain", "catalog"],
  },
  sessions: {
    tables: [],
    ingest: ["tables"],
    states: ["tables"],
    summaries: ["tables", "states"],
    signatures: ["tables"],
    read: ["tables", "states", "summaries"],
    vectors: ["tables"],
    repair: ["tables", "states", "read"],
    ".": ["tables", "ingest", "states", "summaries", "signatures", "read", "vectors", "repair"],
  },
  search: {
    analysis: [],
    kept: ["analysis"],
    hits: [],
    words: ["analysis", "kept", "hits", "vectors"],
    exact: ["hits"],
    vectors: ["hits"],
    snippet: ["analysis", "words"],
    ".": ["analysis", "kept", "hits", "vectors", "words", "exact", "snippet"],
  },
  embeddings: { ".": [], http: ["."], onnx: ["."], static: ["."] },
  handlers: {
    context: [],
    sources: ["context"],
    import: ["context", "sources"],
    verify: ["context", "sources", "import"],
    embed: ["context"],
    sync: ["context", "sources", "import", "verify", "embed"],
    "restore/files": [],
    restore: ["context", "sources", "import", "verify", "restore/files"],
    read: ["context", "restore"],
    health: ["context", "sources", "import", "verify", "embed", "sync"],
    setup: ["context", "sources"],
    ".": ["context"],
  },
  "adapters/kit": {
    extract: [],
    files: [],
    sources: ["extract", "files"],
    session: ["extract", "files", "sources"],
    log: ["extract", "files", "sources", "session"],
    document: ["extract", "files", "sources", "session"],
    folder: ["extract", "files", "sources", "session", "document"],
    database: ["extract", "files", "sources", "session", "document"],
    foreign: ["extract", "files", "session"],
    restore: ["extract", "files", "sources", "session", "log", "database", "foreign"],
    shapes: ["extract", "files", "session", "sources", "restore"],
    adapter: ["files", "sources", "restore", "foreign"],
    spans: ["extract", "files", "sources", "adapter"],
  },
  "adapters/<client>": {
    ".": [],
    records: ["."],
    parse: [".", "records"],
    restore: [".", "records", "parse"],
  },
  cli: {
    terminal: [],
    command: ["terminal"],
    verbs: ["terminal", "command"],
    ".": ["terminal", "command", "verbs"],
  },
};

/** Doors beside index.ts: `base` is imported by file; the files of `library` are the doors of the package; the others keep the start of the command light. */
const EXTRA_DOORS: Readonly<Record<string, readonly string[]>> = {
  model: ["schema.ts", "bound-text.ts", "identifiers.ts"],
  // One operation each; most of them types only, so that a door for all would cost more than it says.
  wire: [
    "schema.ts",
    "health.ts",
    "restore.ts",
    "setup.ts",
    "sources.ts",
    "status.ts",
    "sync.ts",
    "verify.ts",
  ],
  library: ["*"],
  config: ["create.ts", "describe.ts", "environment.ts", "json-schema.ts"],
  adapters: ["registry.ts", "restore.ts"],
  "adapters/kit": ["discovery.ts", "path-names.ts", "stamp.ts"],
  sessions: ["peek.ts"],
  state: ["besides.ts"],
  substrate: ["peek.ts", "predicate.ts", "storage-url.ts"],
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
    from: "adapters/kit/extract/extract.ts",
    to: "model/extracted.ts",
    count: 1,
    why: "the extractor helpers seal values; the seal is not on model's door",
  },
  {
    from: "sessions/tables/rows.ts",
    to: "model/extracted.ts",
    count: 1,
    why: "the row decoder seals what it stored",
  },
];

/** Rules of docs/spec.md that nothing upholds yet, by what will. A rule that is cited leaves the list. */
const NOT_BUILT_YET: readonly { readonly by: string; readonly rules: readonly string[] }[] = [
  {
    by: "HTTP and MCP",
    rules: ["wire-loopback", "wire-read-options", "wire-session-events"],
  },
  { by: "SQL", rules: ["sql-bounds", "sql-read-only"] },
  { by: "archives and redaction", rules: ["archive-format", "keep-redact"] },
  {
    by: "watching and our own log",
    rules: ["live-change-feed", "live-generation-clock", "live-session-log", "live-watch"],
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
    where: /^(config\/|substrate\/engine\/lance\.ts$)/,
    used: true,
  },
  {
    what: "printing",
    pattern: /\bprocess\.(stdout|stderr)\b|\bconsole\./,
    where: /^cli\/terminal\/output\.ts$/,
    used: true,
  },
  {
    what: "the engine",
    pattern: /["'](@lancedb\/lancedb|apache-arrow)["']/,
    where: /^substrate\//,
    used: true,
  },
  {
    what: "patterns of JavaScript that are made at run time: those of people are the engine's",
    pattern: /\bnew RegExp\(|\bRegExp\(/,
    where: /^(?!(search|sessions|substrate|wire|render|handlers\/read|library)\/)/,
    used: true,
  },
  { what: "child processes", pattern: /["']node:child_process["']/, where: /^(cli|sql)\//, used: true },
  {
    what: "sealing",
    pattern: /\bsealExtracted(Json)?\b/,
    where:
      /^(model\/(extracted|events\/schema)\.ts|adapters\/kit\/extract\/extract\.ts|sessions\/tables\/rows\.ts)$/,
    used: true,
  },
  {
    what: "the keys of pond's facts",
    pattern: /\["pond"\]|\bpond: ?\{|[{,]\s*pond\s*[},]|\b(?!options\b)\w+\.pond\b|"pond"\)/,
    // There are folders of that name, too.
    where: /^(model\/derived\/facts|config\/paths)\.ts$/,
    used: true,
  },
  {
    what: "the names in source_agent",
    pattern: /(source_agent|sourceAgent|\bagent)\??\.(includes|split|indexOf|startsWith)\(/,
    where: /^model\/derived\/source-agent\.ts$/,
    used: true,
  },
  {
    what: "the list of pond's own clients",
    pattern: /\badapterNamed\(|\badapters\(\)/,
    // Handlers ask the context, which knows those of the program, too; a thread has pond's own only.
    where: /^(adapters\/registry|handlers\/import\/import-worker|library\/given-adapters)\.ts$/,
    used: true,
  },
  { what: "making folders", pattern: /\bmkdir(Sync)?\(/, where: /^base\/files\/folders\.ts$/, used: true },
  {
    what: "writing files",
    pattern:
      /\b(writeFile|appendFile|createWriteStream|makeFolders|mkdtemp|rename|unlink|rm|rmdir|copyFile|cp|symlink|truncate|utimes|chmod)(Sync)?\(/,
    // The kit's database reader copies into pond's own scratch folder, never beside a source.
    where:
      /^(substrate|archive|state|config)\/|^base\/files\/(append-log|folders)\.ts$|^handlers\/(restore\/|setup\/demo)|^adapters\/kit\/database\/sqlite\.ts$/,
    used: false,
  },
];

/** Words of the command line: below cli, next steps and fields are data, which each surface words (base/sentence.ts). */
const COMMAND_LINE: readonly { readonly what: string; readonly pattern: RegExp; readonly where: RegExp }[] = [
  {
    what: "commands of pond",
    pattern: new RegExp(
      String.raw`\bpond (?:${(ROOT_COMMAND.subcommands ?? []).map(({ name }) => name).join("|")})\b`,
      "g",
    ),
    where: /^cli\//,
  },
  // A client's folder has the commands of that client, which are not pond's.
  { what: "flags", pattern: /(?<![\w-])--[a-z]/g, where: /^(cli|adapters\/(?!seam\/|kit\/)[^/]+)\// },
];

/** Files below that have some, with how many and why. */
const COMMAND_LINE_ALLOWED: readonly {
  readonly path: RegExp;
  readonly count: number;
  readonly why: string;
}[] = [
  { path: /^config\/(.*\/)?create\.ts$/, count: 2, why: "the settings file is for a person at a terminal" },
  { path: /^embeddings\/onnx\/runtime\.ts$/, count: 2, why: "flags of npm, not of pond" },
  { path: /^handlers\/(.*\/)?demo-corpus\.ts$/, count: 1, why: "a command in a made-up session" },
  { path: /^sessions\/(.*\/)?recover\.ts$/, count: 1, why: "a value of stored rows, which stays as it is" },
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

  test("folders inside a room import only the folders in their row", () => {
    const inside = imports.filter(({ from, to }) => roomOf(from) === roomOf(to) && !isDoor(from));
    const wrong = inside.filter((edge) => !isAllowedInside(edge)).map(describeImport);
    expect(wrong).toEqual([]);
    expect(inside.filter(({ from, to }) => dirname(from) !== dirname(to)).length).toBeGreaterThan(100);
  });

  test("no room has more than fifteen files", () => {
    const sizes = Map.groupBy(files, ({ path }) => dirname(path));
    expect([...sizes].filter(([, inside]) => inside.length > 15).map(([room]) => room)).toEqual([]);
  });

  test("no door has more than forty names, but for those of the package", () => {
    const doors = files.filter(({ path }) => isDoor(path));
    const namesOf = (text: string): number =>
      [...stripComments(text).matchAll(/export (?:type )?\{([^}]*)\}/g)]
        .flatMap(([, names = ""]) => names.split(","))
        .filter((name) => name.trim() !== "").length;
    expect(doors.filter(({ text }) => namesOf(text) > 40).map(({ path }) => path)).toEqual([]);
    expect(doors.some(({ text }) => namesOf(text) > 20)).toBe(true);
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

describe("words of the command line", () => {
  const literalsIn = (text: string): string =>
    [...stripComments(text).matchAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].join(
      "\n",
    );
  const found = files.flatMap(({ path, text }) =>
    COMMAND_LINE.flatMap(({ pattern, where }) =>
      where.test(path) ? [] : [...literalsIn(text).matchAll(pattern)].map(([word]) => ({ path, word })),
    ),
  );

  test("are in cli and nowhere below", () => {
    expect(found.filter(({ path }) => !COMMAND_LINE_ALLOWED.some((each) => each.path.test(path)))).toEqual(
      [],
    );
  });

  test("are where they are allowed as often as it says", () => {
    for (const { path, count } of COMMAND_LINE_ALLOWED)
      expect([path, found.filter((each) => path.test(each.path)).length]).toEqual([path, count]);
  });

  test.each(COMMAND_LINE)("$what are found where they are", ({ pattern, where }) => {
    const users = files.filter(
      ({ path, text }) => where.test(path) && literalsIn(text).search(pattern) !== -1,
    );
    expect(users.length).toBeGreaterThan(5);
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

  test("every rule of docs/spec.md is cited by code or a test, but for those that are not built yet", () => {
    const spec = readFileSync(join(ROOT, "docs/spec.md"), "utf8");
    const texts = [SRC, join(ROOT, "test")].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
    );
    // The validator names the rule that an event breaks as data.
    const cited = new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/spec\.md#([a-z0-9-]+)|rule: "([a-z0-9-]+)"/g)].map(
          (match) => match[1] ?? match[2],
        ),
      ),
    );
    const uncited = [...spec.matchAll(/\{#([a-z0-9-]+)\}/g)]
      .map((match) => match[1] ?? "")
      .filter((anchor) => !cited.has(anchor));
    expect(uncited.toSorted()).toEqual(NOT_BUILT_YET.flatMap(({ rules }) => rules).toSorted());
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
  return [...stripComments(text).matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g)].map((match) => ({
    from: path,
    to: relative(SRC, resolve(SRC, dirname(path), match[1] ?? "")),
  }));
}

function roomOf(path: string): string {
  const [first = "", second = "", third] = path.split("/");
  if (first.endsWith(".ts")) return "index";
  const isRegistry = third === undefined && ["index.ts", "registry.ts", "restore.ts"].includes(second);
  if (first !== "adapters" || isRegistry) return first;
  return second === "kit" ? "adapters/kit" : "adapters/<client>";
}

function isAllowedDirection(from: string, to: string): boolean {
  const source = roomOf(from);
  const target = roomOf(to);
  if (target === "base") return true;
  if (source === target) return source !== "adapters/<client>" || clientOf(from) === clientOf(to);
  return DIRECTIONS[source]?.includes(target) ?? false;
}

/** Whether a file inside a room may import another one of the same room. */
function isAllowedInside({ from, to }: Edge): boolean {
  const room = roomOf(from);
  const inner = INNER[room];
  const folder = room === "adapters/<client>" ? `adapters/${clientOf(from)}` : room;
  const [source, target] = [from, to].map((path) => relative(folder, dirname(path)) || ".");
  if (source === target || inner === undefined || source === undefined || target === undefined) return true;
  return inner[source]?.includes(target) ?? false;
}

const isDoor = (path: string): boolean => path.endsWith("/index.ts");

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
