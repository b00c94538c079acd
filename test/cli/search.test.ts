/** How hits look, page by page and on a terminal, and queries that nobody should ask, through the built command. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { searchResponseSchema, sessionsResponseSchema } from "../../src/wire/schema.ts";
import { BIN, hasScript, TempHome } from "./pond.ts";

const home = new TempHome();
/** What a page of the web could have said to an agent, with words that are looked for inside. */
const EVIL = "\x1b]0;title\x07 walrus \x1b[31mwal\x1b[0mrus walrus\x1b[2J \u202ewalrus\u202c \x9b5m";

function writeSession(id: string, texts: readonly string[], from = "2026-05-01T22:30:00.000Z"): void {
  const folder = join(home.path, ".claude/projects/-srv-zoo");
  mkdirSync(folder, { recursive: true });
  const lines = texts.map((text, at) => {
    const uuid = `${id.slice(0, 24)}${String(at).padStart(12, "0")}`;
    const timestamp = new Date(Date.parse(from) + at * 1000).toISOString();
    const message = { role: "user", content: text };
    return JSON.stringify({
      type: "user",
      uuid,
      parentUuid: null,
      sessionId: id,
      timestamp,
      cwd: "/srv/zoo",
      message,
    });
  });
  writeFileSync(join(folder, `${id}.jsonl`), `${lines.join("\n")}\n`);
}

const ID = (n: number): string => `1111${String(n).padStart(4, "0")}-1111-4111-8111-111111111111`;

beforeAll(async () => {
  writeSession(ID(0), [EVIL]);
  for (let n = 1; n <= 7; n++) writeSession(ID(n), [`the tapir number ${n} ${"eats grass ".repeat(n * 20)}`]);
  writeSession(ID(8), [
    "a gnu \u{1f41f} \u0645\u0631\u062d\u0628\u0627 eats; an okapi AND a gnu OR (foo:bar) *",
  ]);
  await home.pond(["sync", "--quiet"]);
  return () => home[Symbol.dispose]();
});

async function json(args: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const { stdout, stderr, code } = await home.pond([...args, "--json"], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

async function onTerminal(args: string, columns: number, env: Record<string, string> = {}): Promise<string> {
  const command = `stty cols ${columns}; ${process.execPath} ${BIN} ${args}`;
  const { stdout } = await home.exec("script", ["-qfec", command, "/dev/null"], {
    env: { TERM: "xterm", ...env },
  });
  return stdout.replaceAll("\r\n", "\n");
}

describe("a page that people count is that of the cursors", () => {
  test.each(["words", "exact"])("of %s", async (mode) => {
    const ask = ["search", "tapir", "--mode", mode, "--limit", "3"];
    const seen: string[] = [];
    let cursor: readonly string[] = [];
    for (let page = 1; page <= 3; page++) {
      const counted = searchResponseSchema.parse(await json([...ask, "--page", String(page)]));
      expect(counted).toEqual(searchResponseSchema.parse(await json([...ask, ...cursor])));
      seen.push(...counted.sessions.map(({ session_id }) => session_id));
      cursor = ["--cursor", counted.next_cursor ?? ""];
      const { stdout } = await home.pond([...ask, "--page", String(page)]);
      expect(stdout.includes(`more: --page ${page + 1}`)).toBe(counted.has_more);
      expect(stdout).not.toContain("--cursor");
    }
    expect(new Set(seen).size).toBe(7);
  });

  test("of the list of sessions, too", async () => {
    const first = sessionsResponseSchema.parse(await json(["sessions", "--limit", "4"]));
    const byCursor = await json(["sessions", "--limit", "4", "--cursor", first.next_cursor ?? ""]);
    expect(await json(["sessions", "--limit", "4", "--page", "2"])).toEqual(byCursor);
    expect((await home.pond(["sessions", "--limit", "4"])).stderr).toContain("more: --page 2");
  });

  test.each([
    [["--page", "9"], /there is no page 9: all is on the first\n.*--page 1/],
    [["--page", "4", "--limit", "3"], /there is no page 4: the last one is 3\n.*--page 3/],
    [["--page", "0"], /there is no page 0\n.*--page 1/],
    [["--page", "2", "--cursor", "x"], /both say where to continue\n/],
  ])("%j is refused", async (flags, message) => {
    const { code, stdout, stderr } = await home.pond(["search", "tapir", ...flags]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });
});

/** Without the colours that pond uses. */
const stripOwn = (text: string): string =>
  ["1", "2", "22", "33", "39"].reduce((left, code) => left.replaceAll(`\x1b[${code}m`, ""), text);

describe.runIf(hasScript)("on a terminal", () => {
  test.each([60, 110])(
    "of %i columns no line of text is wider, and each hit has what opens it",
    async (columns) => {
      const shown = await onTerminal("search tapir grass --limit 3", columns);
      const lines = stripVTControlCharacters(shown).split("\n");
      expect(lines.filter((line) => line.length > columns && !line.startsWith("pond get"))).toEqual([]);
      expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(columns - 12);
      const commands = lines.filter((line) => line.startsWith("pond get "));
      expect(commands).toHaveLength(3);
      for (const command of commands) {
        const opened = await home.pond(command.split(" ").slice(1));
        expect([opened.code, opened.stdout.includes("tapir")]).toEqual([0, true]);
      }
      expect(lines.join("\n")).toContain("more: --page 2");
    },
  );

  test("what matched is in colour, and without colours as it is", async () => {
    expect(await onTerminal("search tapir --limit 1", 100)).toContain("\x1b[1m\x1b[33mtapir\x1b[39m\x1b[22m");
    const plain = await onTerminal("search tapir --limit 1", 100, { NO_COLOR: "1" });
    expect([plain.includes("\x1b["), plain.includes("the tapir number")]).toEqual([false, true]);
    expect((await home.pond(["search", "tapir"])).stdout).not.toContain("\x1b");
  });

  test("nothing that a session says reaches it, marked or not", async () => {
    for (const env of [{}, { NO_COLOR: "1" }] as const)
      for (const query of ["walrus", "--mode exact walrus", "--mode regex 'wal.{0,9}rus'"]) {
        const shown = await onTerminal(`search ${query}`, 80, env);
        const controls = stripOwn(shown).match(/[^\P{Cc}\n]|[\u202a-\u202e]/gu);
        expect(controls).toBe(null);
        expect(shown).toContain(String.raw`\x1b]0;title\x07`);
        expect(shown).toContain(String.raw`\u202e`);
      }
  });
});

describe("a day is one of the machine's zone", () => {
  // Of 2026-05-01 22:30 UTC.
  test.each([
    ["UTC", "2026-05-01", 7],
    ["UTC", "2026-05-02", 0],
    ["Europe/Berlin", "2026-05-01", 0],
    ["Europe/Berlin", "2026-05-02", 7],
    ["America/New_York", "2026-05-01", 7],
  ])("in %s on %s", async (TZ, day, expected) => {
    const found = await json(["search", "tapir", "--from", day, "--to", day], { TZ });
    expect(found).toMatchObject({ matched_total: expected });
    const args = ["sessions", "--from", day, "--to", day];
    expect((await json(args, { TZ })) as object).toMatchObject({ total: expected === 0 ? 0 : 9 });
  });

  test("and an instant is what it says", async () => {
    const to = ["search", "tapir", "--to", "2026-05-02T00:00:00+02:00"];
    expect(await json(to, { TZ: "Asia/Tokyo" })).toMatchObject({ matched_total: 0 });
  });
});

describe("a hostile query", () => {
  const refused: readonly [string, readonly string[], RegExp][] = [
    ["nothing", [""], /the query is empty\n.*give a query/],
    ["white space", ["  \t "], /the query is empty/],
    ["too much", ["x ".repeat(50_000)], /a query of \d+ characters is too long\n.*at most 4000/],
    [
      "too much exact text",
      ["--mode", "exact", "x".repeat(100_000)],
      /a query of 100000 characters is too long/,
    ],
    ["punctuation", ["\"'()[]{}^~*?:\\/!&|"], /contains no word\n.*mode exact/],
    ["an emoji", ["\u{1f41f}"], /contains no word\n.*mode exact/],
    ["a pattern that is none", ["--mode", "regex", "(gnu"], /the pattern "\(gnu" cannot be read\n.*Rust/],
  ];
  test.each(refused)("of %s is refused with a fix", async (_, args, message) => {
    const { code, stdout, stderr } = await home.pond(["search", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr.length).toBeLessThan(6000);
  });

  const found: readonly (readonly string[])[] = [
    ['gnu AND OR NOT "'],
    ['"gnu" AND'],
    ["gnu:gnu"],
    ["+gnu -tapir"],
    ["gnu~2 OR gnu^9"],
    ["gnu*"],
    ["(gnu"],
    ["gnu'); DROP TABLE messages; --"],
    ["\\gnu\\"],
    ["\u0645\u0631\u062d\u0628\u0627"],
    ["\u202egnu\u202c"],
    [`gnu ${"w".repeat(3900)}`],
    ["--mode", "exact", "\u{1f41f}"],
    ["--mode", "exact", "(foo:bar) *"],
    ["--mode", "exact", "\u0645\u0631\u062d\u0628\u0627 eats"],
    ["--mode", "regex", "(foo|bar):bar\\) \\*$"],
  ];
  test.each(found)("%j %j finds what it says, and nothing of it is syntax", async (...args) => {
    const response = searchResponseSchema.parse(await json(["search", ...args]));
    expect(response.sessions[0]?.session_id).toBe(ID(8));
    const { text, highlights = [] } = response.sessions[0]!.matches[0]!;
    for (const { start, end } of highlights) expect(text.slice(start, end)).toMatch(/\S/);
    expect(highlights.length).toBeGreaterThan(0);
  });
});
