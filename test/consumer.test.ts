/**
 * The package as somebody else uses it: packed, unpacked beside a program of theirs, compiled under strict settings without
 * the engine's types or zod's at hand, then run.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "./cli/pond.ts";
import { tempDir } from "./support/temp-dir.ts";

/** What the packages of a program without types would be: nothing of these is there while it is compiled. */
const DEPENDENCIES = ["@lancedb", "apache-arrow", "smol-toml", "zod"];
const EXAMPLES = readdirSync(join(ROOT, "examples"));

const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2024", "ESNext.Disposable"],
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: false,
    outDir: "out",
    rootDir: ".",
  },
  include: ["*.ts"],
};

let folder: Awaited<ReturnType<typeof tempDir>>;
let packed: readonly string[];

beforeAll(async () => {
  folder = await tempDir();
  const { path } = folder;
  const out = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", path], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename, files }] = JSON.parse(out) as [{ filename: string; files: { path: string }[] }];
  packed = files.map((file) => file.path);
  mkdirSync(join(path, "node_modules/pond-db"), { recursive: true });
  execFileSync("tar", ["-xzf", join(path, filename), "--strip-components=1", "-C", "node_modules/pond-db"], {
    cwd: path,
  });
  for (const name of ["@types", "undici-types"]) link(name);
  writeFileSync(join(path, "package.json"), '{"type":"module"}');
  writeFileSync(join(path, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const example of EXAMPLES)
    writeFileSync(join(path, example), readFileSync(join(ROOT, "examples", example)));
});

afterAll(() => folder[Symbol.asyncDispose]());

const link = (name: string): void => {
  const to = join(folder.path, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  if (!existsSync(to)) symlinkSync(join(ROOT, "node_modules", name), to);
};

function compile(path: string): { readonly stdout: string; readonly status: number | null } {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", "."], { cwd: path, encoding: "utf8" });
  return { stdout, status };
}

const run = (example: string): string =>
  execFileSync(process.execPath, [`out/${example}.js`, join(folder.path, "data")], {
    cwd: folder.path,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: join(folder.path, "home") },
  });

describe("the packed package", () => {
  test("holds what it needs and nothing of this folder", () => {
    expect(packed).toContain("bin/pond.js");
    expect(packed).toContain("dist/index.d.ts");
    expect(packed).toContain("docs/library.md");
    expect(packed.filter((path) => /test|\.cache|\.stamp|^src\/|\.map$/.test(path))).toEqual([]);
  });

  test("programs compile under strict settings, declarations checked, with no dependency's types", () => {
    expect(compile(folder.path)).toEqual({ stdout: "", status: 0 });
    for (const name of DEPENDENCIES) link(name);
  });

  test("the declarations need no types of Node's where the DOM's are there", () => {
    const inside = join(folder.path, "without-node");
    mkdirSync(inside);
    const doors = ["pond-db", "pond-db/model", "pond-db/json", "pond-db/adapters"];
    const program = doors.map((door, at) => `import * as door${at} from "${door}";\nvoid door${at};\n`);
    writeFileSync(join(inside, "doors.ts"), program.join(""));
    const { compilerOptions } = TSCONFIG;
    const own = { types: [], lib: [...compilerOptions.lib, "DOM"], noEmit: true };
    const config = { compilerOptions: { ...compilerOptions, ...own }, include: ["*.ts"] };
    writeFileSync(join(inside, "tsconfig.json"), JSON.stringify(config));
    expect(compile(inside)).toEqual({ stdout: "", status: 0 });
  });

  test("a first program stores a session, finds it and restores it into two clients", () => {
    const output = run("first-program");
    expect(output).toContain("8 rows stored; found: Why does checkout fail?");
    expect(run("first-program")).toBe(output.replace("8 rows", "0 rows"));
    expect(output).toMatch(/^claude-code: .*claude --resume/m);
    expect(output).toMatch(/^codex-cli: .*codex /m);
    const restored = readdirSync(join(folder.path, "data"), { recursive: true, encoding: "utf8" });
    const logs = restored.filter((path) => path.endsWith(".jsonl") && !path.startsWith("store"));
    expect(logs.map((path) => path.split("/")[0])).toEqual(
      expect.arrayContaining(["claude-code", "codex-cli"]),
    );
    for (const log of logs.filter((path) => /^(claude-code|codex-cli)/.test(path)))
      expect(readFileSync(join(folder.path, "data", log), "utf8")).toContain("npm test");
  });

  test("values from elsewhere are checked, and a stored session is read in stages", () => {
    expect(run("model").split("\n")).toEqual([
      "validation_failed: session run-43: created_at is required",
      expect.stringMatching(/^3 messages, \d+ bytes; no body was read yet$/),
      "user text",
      "assistant text, tool_call",
      "tool tool_result",
      "0 issues",
      "",
    ]);
  });

  test("JSON comes back as it was", () => {
    expect(run("json")).toBe("true\ntrue\nkeys that are there twice: /a\n");
  });

  test("the clients are listed", () => {
    const listed = run("clients");
    expect(listed).toMatch(/^claude-code: Claude Code, restore supported, 0 files/m);
    expect(listed).toMatch(/^qwen-code: Qwen Code, restore own-sessions, 0 files/m);
  });

  test("a client that pond does not know is read, proven and restored by an adapter of the program", () => {
    expect(run("adapters").split("\n")).toEqual([
      "5 messages stored",
      "found: Why is the kettle cold?",
      "5 of 5 records restore equal",
      "tinker, native: cd /shop && tinker --resume tinker-1",
      expect.stringMatching(/^claude-code, foreign: cd \/shop && claude --resume /),
      "",
    ]);
    const recordsIn = (path: string): unknown[] =>
      readFileSync(join(folder.path, "data", path, "tinker-1.jsonl"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
    expect(recordsIn("tinker-restored")).toEqual(recordsIn("tinker-home/.tinker/sessions"));
  });

  test("docs/library.md shows the first program as it is", () => {
    const page = readFileSync(join(ROOT, "docs/library.md"), "utf8");
    expect(page).toContain(readFileSync(join(ROOT, "examples/first-program.ts"), "utf8"));
  });

  test("the command runs from it, and writes nothing into its own folder", () => {
    const root = join(folder.path, "node_modules/pond-db");
    const before = new Set(readdirSync(root, { recursive: true, encoding: "utf8" }));
    const output = execFileSync(process.execPath, [join(root, "bin/pond.js"), "adapters", "--json"], {
      encoding: "utf8",
      env: { HOME: join(folder.path, "home") },
    });
    expect(JSON.parse(output)).toBeTruthy();
    expect(new Set(readdirSync(root, { recursive: true, encoding: "utf8" }))).toEqual(before);
  });
});
