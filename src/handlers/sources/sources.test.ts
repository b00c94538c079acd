/** Which places a command looks at: what the settings and --path name, each once, and what is not there told. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { loadConfig } from "../../config/index.ts";
import { listAdapters } from "../setup/adapters.ts";
import type { Context } from "../context/context.ts";
import { createContext } from "../context/context.ts";
import { doctor } from "../health/doctor.ts";
import { findSources } from "./sources.ts";
import { sweepSources } from "./sweep.ts";

const ONLY = { adapters: ["claude-code"] };

/** A home with three logs in two folders, and settings that name these paths. */
async function homeWith(home: string, paths: readonly string[]): Promise<Context> {
  for (const log of ["a/1.jsonl", "a/2.jsonl", "b/3.jsonl"]) {
    mkdirSync(join(home, "logs", log, ".."), { recursive: true });
    writeFileSync(join(home, "logs", log), "{}\n");
  }
  mkdirSync(join(home, ".config/pond"), { recursive: true });
  writeFileSync(
    join(home, ".config/pond/config.toml"),
    `[adapters.claude-code]\npaths = ${JSON.stringify(paths)}\n`,
  );
  const environment = { env: {}, home, platform: "linux" as const, cwd: home };
  const { signal } = new AbortController();
  return createContext({ config: await loadConfig({ environment }), machine: environment, signal });
}

test("the settings may name folders and single files, from the home, from the config file's folder, or whole", async () => {
  await using folder = await tempDir();
  const home = folder.path;
  await using context = await homeWith(home, [
    "~/logs/a/1.jsonl",
    "../../logs/b",
    join(home, "logs/a/2.jsonl"),
  ]);
  const [claude] = await findSources(context, ONLY);
  expect(claude?.places).toEqual([
    { path: join(home, "logs/b"), origin: "config" },
    {
      path: join(home, "logs/a"),
      files: [join(home, "logs/a/1.jsonl"), join(home, "logs/a/2.jsonl")],
      origin: "config",
    },
  ]);
  expect((await sweepSources(context, ONLY, undefined)).clients).toMatchObject([{ seen: 3, issues: [] }]);
});

test("a part of the client's own place is listed as it was named", async () => {
  await using folder = await tempDir();
  const part = join(folder.path, ".claude/projects/a");
  mkdirSync(part, { recursive: true });
  await using context = await homeWith(folder.path, ["~/.claude/projects/a"]);
  expect(await listAdapters(context, ONLY)).toMatchObject([{ places: [{ path: part, origin: "config" }] }]);
  expect(await listAdapters(context, { ...ONLY, paths: [part] })).toMatchObject([
    { places: [{ path: part, origin: "request" }] },
  ]);
});

test("of the files of a folder only the named ones are read", async () => {
  await using folder = await tempDir();
  await using context = await homeWith(folder.path, ["~/logs/a/2.jsonl"]);
  const {
    clients: [sweep],
  } = await sweepSources(context, ONLY, undefined);
  expect(sweep?.stale.map(({ unit }) => unit.key)).toEqual(["2.jsonl"]);
});

test("what is named twice, by whatever path, is one place", async () => {
  await using folder = await tempDir();
  const home = folder.path;
  symlinkSync(join(home, "logs/a"), join(home, "link"));
  const twice = ["~/logs/a", "~/logs/a/", "~/logs/b/../a", "~/link", "~/logs/b/3.jsonl", "~/logs/b/3.jsonl"];
  await using context = await homeWith(home, twice);
  const [claude] = await findSources(context, ONLY);
  expect(claude?.places.map(({ path }) => path)).toEqual([join(home, "logs/a"), join(home, "logs/b")]);
  const paths = [join(home, "logs/a/1.jsonl"), join(home, "link/1.jsonl")];
  expect((await sweepSources(context, { ...ONLY, paths }, undefined)).clients).toMatchObject([{ seen: 1 }]);
});

test("a source in two places, one inside the other, is that of the first; a client named twice is one", async () => {
  await using folder = await tempDir();
  await using context = await homeWith(folder.path, ["~/logs/a", "~/logs"]);
  const twice = { adapters: ["claude-code", "claude-code"] };
  const {
    clients: [sweep, ...more],
  } = await sweepSources(context, twice, undefined);
  expect(more).toEqual([]);
  expect(sweep?.stale.map(({ unit, opened }) => [opened.place.path, unit.key])).toEqual([
    [join(folder.path, "logs/a"), "1.jsonl"],
    [join(folder.path, "logs/a"), "2.jsonl"],
    [join(folder.path, "logs"), "b/3.jsonl"],
  ]);
  expect(sweep?.seen).toBe(3);
});

test("a path of the settings that is not there is an issue that names the line to correct; the others are read", async () => {
  await using folder = await tempDir();
  const home = folder.path;
  await using context = await homeWith(home, ["~/logs/b", "~/gone", "~/logs/b/3.jsonl/below"]);
  expect((await sweepSources(context, {}, undefined)).clients).toMatchObject([
    {
      adapter: { name: "claude-code" },
      seen: 1,
      issues: ["gone", "logs/b/3.jsonl/below"].map((path) => ({
        kind: "unreadable",
        path: join(home, path),
        message:
          "there is no such file or folder, though adapters.claude-code.paths names it (file config.toml:2): " +
          "correct the path, or remove it",
      })),
    },
  ]);
});

test("doctor warns of a path of the settings that is not there", async () => {
  await using folder = await tempDir();
  await using context = await homeWith(folder.path, ["~/gone", "~/lost"]);
  expect(await doctor(context)).toContainEqual({
    topic: "clients",
    status: "warn",
    message: expect.stringMatching(
      /^Claude Code: .*gone: there is no such file.*config\.toml:2.*\(and 1 more\)$/,
    ),
    fix: expect.arrayContaining([{ do: "show_settings" }]),
  });
});

test("doctor warns of a place of the client's own that the settings leave out", async () => {
  await using folder = await tempDir();
  const own = join(folder.path, ".claude/projects");
  mkdirSync(own, { recursive: true });
  const unread = expect.objectContaining({
    status: "warn",
    message: expect.stringContaining(`${own} is the client's default place, but it is not read`),
  });
  await using context = await homeWith(folder.path, ["~/logs"]);
  expect(await doctor(context)).toContainEqual(unread);
  await using both = await homeWith(folder.path, ["~/logs", "~/.claude/projects"]);
  expect(await doctor(both)).not.toContainEqual(unread);
});

test("a file that is named and holds no session of the client is an issue", async () => {
  await using folder = await tempDir();
  const home = folder.path;
  writeFileSync(join(home, "notes.txt"), "hello\n");
  await using context = await homeWith(home, ["~/notes.txt", "~/logs/a/1.jsonl"]);
  expect((await sweepSources(context, ONLY, undefined)).clients).toMatchObject([
    {
      seen: 1,
      issues: [
        {
          kind: "unexpected_shape",
          path: join(home, "notes.txt"),
          message: "Claude Code has no session in such a file",
        },
      ],
    },
  ]);
});

test("--path may begin with the home where the shell left it so, and must be there", async () => {
  await using folder = await tempDir();
  await using context = await homeWith(folder.path, []);
  expect(await findSources(context, { ...ONLY, paths: ["~/logs/b"] })).toMatchObject([
    { places: [{ path: join(folder.path, "logs/b"), origin: "request" }] },
  ]);
  await expect(findSources(context, { ...ONLY, paths: ["~/gone"] })).rejects.toMatchObject({
    code: "not_found",
    message: "paths ~/gone: there is no such file or folder",
  });
});

test("where a client was looked for in vain is told, with the variable that named it", async () => {
  await using folder = await tempDir();
  const home = folder.path;
  mkdirSync(join(home, ".pi/agent/sessions"), { recursive: true });
  const gone = join(home, "gone");
  const env = { CLAUDE_CONFIG_DIR: gone, PI_CODING_AGENT_SESSION_DIR: gone };
  const environment = { env, home, platform: "linux" as const, cwd: home };
  const { signal } = new AbortController();
  const config = await loadConfig({ environment });
  await using context = createContext({ config, machine: environment, signal });
  const named = (path: string, variable: string) => ({ path, origin: "environment", variable });
  expect(await listAdapters(context)).toMatchObject([
    { places: [], absent: [named(join(gone, "projects"), "CLAUDE_CONFIG_DIR")], issues: [] },
    { places: [], absent: [{ path: join(home, ".codex"), origin: "default" }] },
    { places: [], absent: [{ path: join(home, ".local/share/opencode"), origin: "default" }] },
    { places: [{ origin: "default" }], absent: [named(gone, "PI_CODING_AGENT_SESSION_DIR")] },
    { places: [], absent: [{ path: join(home, ".qwen/projects"), origin: "default" }] },
  ]);

  // What the settings name instead is all that is looked at.
  await using configured = await homeWith(home, ["~/logs/a"]);
  expect(await listAdapters(configured, ONLY)).toMatchObject([
    { places: [{ origin: "config" }], absent: [] },
  ]);
});

test("a section of the settings for a client that nobody knows is refused, with the nearest name", async () => {
  await using folder = await tempDir();
  await using context = await homeWith(folder.path, []);
  writeFileSync(context.config.file.path, "[adapters.claude]\nenabled = true\n");
  const environment = { env: {}, home: folder.path, platform: "linux" as const, cwd: folder.path };
  await using slip = createContext({
    config: await loadConfig({ environment }),
    machine: environment,
    signal: context.signal,
  });
  await expect(findSources(slip)).rejects.toMatchObject({
    code: "validation_failed",
    message: "adapters.claude.enabled (file config.toml:2): there is no client named claude",
    hint: expect.stringContaining("claude-code"),
  });
});
