/** `pond sync` as people and programs run it: what is new, what is not, what is broken, and what interrupts it. */
import { spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { BIN, cleanEnv, hasScript, TempHome } from "./pond.ts";

const SLUG = ".claude/projects/-home-me-app";

describe("sync", () => {
  test("takes in every session, then only what changed, and counts both", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 6);
    writeSession(home, "22222222-2222-4222-8222-222222222222", 4);
    expect(await syncJson(home)).toMatchObject({
      clients: [{ seen: 2, read: 2, stored: { sessions: { inserted: 2 }, messages: { inserted: 10 } } }],
    });
    expect(await syncJson(home)).toMatchObject({
      clients: [{ seen: 2, fresh: 2, read: 0, stored: { commits: 0 } }],
    });
    expect(await home.pond(["sync", "--quiet"])).toEqual({ code: 0, stdout: "", stderr: "" });

    appendFileSync(
      logOf(home, "11111111-1111-4111-8111-111111111111"),
      lines("11111111-1111-4111-8111-111111111111", 6, 8),
    );
    expect(await syncJson(home)).toMatchObject({
      clients: [{ fresh: 1, read: 1, stored: { messages: { inserted: 2, matched: 0 } } }],
    });
    expect(await home.pond(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/claude-code\t2\t0\t2\t12\t12\t0/),
    });
  });

  test("verify names what is not stored and what was written to since, and does not pass for it", async () => {
    using home = new TempHome();
    const [grown, young] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    writeSession(home, grown, 3);
    await syncJson(home);
    appendFileSync(logOf(home, grown), lines(grown, 3, 4));
    writeSession(home, young, 2);
    const { code, stdout } = await home.pond(["verify"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /22222222.*: not stored\n1 on disk and not stored: pond sync\n1 session has grown since the last sync; /,
    );
    await syncJson(home);
    expect(await home.pond(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining("since"),
    });
  });

  test("a log that was cut verifies as it now is, and what was taken out is still there", async () => {
    using home = new TempHome();
    const id = "11111111-1111-4111-8111-111111111111";
    writeSession(home, id, 4);
    await syncJson(home);
    writeFileSync(logOf(home, id), lines(id, 0, 2));
    await syncJson(home);
    expect(await home.pond(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("claude-code\t1\t0\t1\t2\t2\t0"),
    });
    const { stdout } = await home.pond(["get", id, "--history"]);
    expect(stdout).toContain("message 3");
  });

  test("a rewritten or replaced source is read from the start, a vanished one changes nothing, --verify reads all", async () => {
    using home = new TempHome();
    const id = "11111111-1111-4111-8111-111111111111";
    writeSession(home, id, 4);
    await syncJson(home);
    const log = logOf(home, id);
    const content = readFileSync(log, "utf8");
    writeFileSync(`${log}.new`, content.replace("message 1", "message one"));
    renameSync(`${log}.new`, log);
    expect(await syncJson(home)).toMatchObject({
      clients: [{ read: 1, stored: { messages: { inserted: 1, matched: 3 } } }],
    });
    expect(await syncJson(home, "--verify")).toMatchObject({
      clients: [{ read: 1, stored: { messages: { inserted: 0 } } }],
    });
    rmSync(log);
    const gone = await syncJson(home);
    expect(JSON.stringify(gone)).not.toContain('issues":{"');
  });

  test("what cannot be read is located, everything else is stored, and the exit code says so", async () => {
    using home = new TempHome();
    const id = "11111111-1111-4111-8111-111111111111";
    writeSession(home, id, 3);
    appendFileSync(logOf(home, id), "{broken\n" + lines(id, 3, 5));
    const { code, stdout } = await home.pond(["sync"]);
    expect(code).toBe(1);
    expect(stdout).toContain("not_json");
    expect(stdout).toContain(`${id}.jsonl:4`);
    appendFileSync(logOf(home, id), "{broken again\n");
    const quiet = await home.pond(["sync", "--quiet"]);
    expect(quiet).toMatchObject({ code: 1, stderr: "" });
    expect(quiet.stdout).toMatch(/^ {2}claude-code: 1 x not_json, first at .*\.jsonl:7: .*\n$/);
    expect(await home.pond(["verify"])).toMatchObject({ code: 0 });
  });

  test("a source that does not tell its folder yet waits, and no promise is made for the next sync", async () => {
    using home = new TempHome();
    mkdirSync(dirname(logOf(home, "x")), { recursive: true });
    writeFileSync(
      logOf(home, "11111111-1111-4111-8111-111111111111"),
      '{"type":"summary","summary":"young"}\n',
    );
    for (const _ of [1, 2]) {
      const { code, stdout } = await home.pond(["sync"]);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(
          /^waiting: 1 source is incomplete; .*\n {2}\S*11111111\S*\.jsonl: .*; imported as is by a sync after .*\(in 60 min\)$/m,
        ),
      ]);
    }
    expect((await home.pond(["sessions"])).stdout).toMatch(/^no session is stored .*pond sync/);
    // Neither advises a sync that would only find it waiting again.
    const status = (await home.pond(["status"])).stdout;
    expect(status).toMatch(/^pending nothing a sync .*\nwaiting \S*\.jsonl: .*\(in 60 min\)$/m);
    const doctor = (await home.pond(["doctor"])).stdout;
    expect(doctor).toMatch(/^ok +clients .*0 of them to read, 1 waiting\n +\S*\.jsonl: .*\(in 60 min\)$/m);
    expect(doctor + status).not.toContain("pond sync");
    const log = logOf(home, "11111111-1111-4111-8111-111111111111");
    appendFileSync(log, '{"type":"summary","summary":"older"}\n');
    expect((await home.pond(["status"])).stdout).toContain("claude-code: 1 source to read; run pond sync");
    await home.pond(["sync"]);
    const old = Date.now() / 1000 - 3600;
    utimesSync(log, old, old);
    expect((await home.pond(["doctor"])).stdout).toMatch(/1 of them to read\n +fix: pond sync/);
    await home.pond(["sync"]);
    expect((await home.pond(["status"])).stdout).toContain("pending nothing: every source");
    rmSync(log);
    mkdirSync(join(home.path, ".local/share/opencode"), { recursive: true });
    const database = join(home.path, ".local/share/opencode/opencode.db");
    writeFileSync(database, "nonsense ".repeat(500));
    expect((await home.pond(["sync"])).stdout).toContain(` first at ${database}: file is not a database`);
  });

  test("each damaged line is named, up to a bound, and told how many more there are", async () => {
    using home = new TempHome();
    const [first, second] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    writeSession(home, first, 1);
    writeSession(home, second, 1);
    appendFileSync(logOf(home, first), "{one\n{two\n");
    appendFileSync(logOf(home, second), "{x\n".repeat(30));
    const { stdout } = await home.pond(["sync"]);
    const places = [...stdout.matchAll(/(\w+)-[^/\n]*\.jsonl:(\d+): /g)].map(
      ([, id, line]) => `${id}:${line}`,
    );
    expect(places).toEqual(["11111111:2", "11111111:3", "22222222:2", "22222222:3", "22222222:4"]);
    expect(stdout).toMatch(
      /claude-code: 32 x not_json, first at [^]*\n    and 27 more; --verbose names more\n/,
    );
    const all = await home.pond(["sync", "--verify", "--verbose"]);
    expect(all.stdout).toMatch(/22222222-[^/\n]*\.jsonl:19: .*\n    and 12 more\n/);
    const report = await home.pond(["sync", "--verify", "--json"]);
    expect(JSON.parse(report.stdout)).toMatchObject({
      clients: [{ issues: { not_json: 32 }, examples: { length: 20 } }],
    });
  });

  test("no name of a file steers the terminal", async () => {
    using home = new TempHome();
    writeSession(home, "\x1b]0;taken over\x07\x1b[2J", 1);
    appendFileSync(logOf(home, "\x1b]0;taken over\x07\x1b[2J"), "{broken\n");
    const { code, stdout } = await home.pond(["sync"]);
    expect([code, stripVTControlCharacters(stdout)]).toEqual([1, stdout]);
    expect(stdout).toContain(String.raw`\x1b]0;taken over\x07`);
  });

  test("adapters tells where an absent client was looked for, and a variable that names nothing", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 1);
    const found = await home.pond(["adapters"]);
    expect(found.stdout).not.toContain("claude-code: ");
    expect(found.stdout).toContain(`codex-cli: nothing at ${join(home.path, ".codex")}\n`);
    const elsewhere = join(home.path, "elsewhere");
    const { code, stdout } = await home.pond(["adapters"], { env: { CLAUDE_CONFIG_DIR: elsewhere } });
    expect(code).toBe(0);
    expect(stdout).toContain(`claude-code: nothing at ${join(elsewhere, "projects")} (CLAUDE_CONFIG_DIR)\n`);
  });

  test("a store that is a file, or below one, is named with a fix, by readers too", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 1);
    writeFileSync(join(home.path, "file"), "");
    for (const args of [
      ["sync", "--store", "file"],
      ["sync", "--store", "file/below"],
      ["sessions", "--store", "file"],
    ]) {
      const { code, stderr } = await home.pond(args);
      expect([code, stderr]).toEqual([
        2,
        `pond: ${home.path}/file is not a folder\n  fix: name another folder\n`,
      ]);
    }
  });

  test("--path may name one file", async () => {
    using home = new TempHome();
    const id = "11111111-1111-4111-8111-111111111111";
    writeSession(home, id, 3);
    writeSession(home, "22222222-2222-4222-8222-222222222222", 4);
    const one = ["--adapter", "claude-code", "--path", logOf(home, id)];
    expect(await syncJson(home, ...one)).toMatchObject({
      clients: [{ seen: 1, stored: { messages: { inserted: 3 } } }],
    });
    expect(await home.pond(["verify", ...one])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/claude-code\t1\t0\t1\t3\t3\t0/),
    });
  });

  test("--dry-run writes nothing at all", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 3);
    const before = tree(home.path);
    const { code, stdout } = await home.pond(["sync", "--dry-run"]);
    expect([code, /TO READ/.test(stdout)]).toEqual([0, true]);
    expect(tree(home.path)).toEqual(before);
  });

  test("a corrupt cursor file costs time and a note, no rows", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 3);
    await syncJson(home);
    const folder = join(home.path, ".local/state/pond/cursors");
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "garbage\n\0\0\n");
    const { code, stderr, stdout } = await home.pond(["sync", "--json"]);
    expect(code).toBe(0);
    expect(stderr).toContain("damaged cursors");
    expect(JSON.parse(stdout)).toMatchObject({
      clients: [{ read: 1, stored: { messages: { inserted: 0, matched: 3 } } }],
    });
  });

  test("a store that a crash tore is repaired by whatever opens it, and that is told", async () => {
    using home = new TempHome();
    const id = "11111111-1111-4111-8111-111111111111";
    writeSession(home, id, 3);
    await syncJson(home);
    appendFileSync(logOf(home, id), lines(id, 3, 5));
    await syncJson(home);
    const versions = join(home.path, ".local/share/pond/store/default/messages.lance/_versions");
    const [newest] = readdirSync(versions).toSorted();
    writeFileSync(join(versions, newest!), "");
    const { code, stderr } = await home.pond(["status"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^note: the store was damaged by a crash.*messages.*; pond sync reads every source again\n$/,
    );
    expect((await home.pond(["status"])).stderr).toBe("");
    expect(await home.pond(["sync"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("note: the store lacks what was stored in it before"),
    });
    expect(await home.pond(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\t5\t5\t0"),
    });
  });

  test("a store that was deleted is told as gone, and filled again", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 3);
    await syncJson(home);
    rmSync(join(home.path, ".local/share/pond"), { recursive: true });
    expect((await home.pond(["status"])).stdout).toMatch(/: gone \(last synced .*\); pond doctor shows/);
    const { code, stdout, stderr } = await home.pond(["sync", "--json"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^note: the store that was at .* is gone/)]);
    expect(JSON.parse(stdout)).toMatchObject({
      clients: [{ read: 1, stored: { messages: { inserted: 3 } } }],
    });
  });

  test("sources stay as they are: bytes, times, listing", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 3);
    const sources = join(home.path, ".claude");
    const before = tree(sources);
    await syncJson(home);
    await home.pond(["verify"]);
    expect(tree(sources)).toEqual(before);
  });

  test(
    "Ctrl-C stops it with what was stored, and the next sync completes it",
    { timeout: 120_000 },
    async () => {
      using home = new TempHome();
      const ids = Array.from(
        { length: 120 },
        (_, n) => `33333333-3333-4333-8333-${String(n).padStart(12, "0")}`,
      );
      for (const id of ids) writeSession(home, id, 60);
      const env = { POND_SYNC_BATCH_ROWS: "500" };
      const child = spawn(process.execPath, ["--import", interruptAfterFirstBatch(home), BIN, "sync"], {
        env: cleanEnv(home.path, env),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const ended = new Promise<number | null>((done) => child.on("close", done));
      expect(await ended).toBe(130);
      expect((await home.pond(["status"])).stdout).toMatch(/^synced {2}just now, interrupted; /m);

      const report = (await syncJson(home)) as {
        clients: [{ read: number; fresh: number; stored: { messages: { inserted: number } } }];
      };
      const [{ read, fresh, stored }] = report.clients;
      expect(read + fresh).toBe(ids.length);
      expect(stored.messages.inserted).toBeLessThan(ids.length * 60);
      expect((await home.pond(["status"])).stdout).toMatch(/^synced {2}just now; /m);
      expect(await home.pond(["verify"])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`${(7200).toLocaleString("en-US")}\t7,200\t0`),
      });
    },
  );

  test.runIf(hasScript)("on a terminal: a progress line that goes away, and a table that fits", async () => {
    using home = new TempHome();
    for (let n = 0; n < 12; n++)
      writeSession(home, `44444444-4444-4444-8444-${String(n).padStart(12, "0")}`, 40);
    const command = `stty cols 72; ${process.execPath} ${BIN} sync`;
    const { stdout } = await home.exec("script", ["-qfec", command, "/dev/null"], { env: { TERM: "xterm" } });
    expect(stdout).toMatch(/\[[#.]{5,20}\] Claude Code \d+\/12 files, [^]* msg\/s/);
    expect(stdout).toContain("\r\x1b[K");
    const table = stripVTControlCharacters(stdout.split("\x1b[K").at(-1) ?? "").split(/\r?\n/);
    expect(table.filter((line) => line.length > 72)).toEqual([]);
    expect(table.join("\n")).toMatch(/CLIENT +SEEN +FRESH +READ +SESSIONS +MESSAGES/);
  });

  test("reports the stages that ran, and no others", async () => {
    using home = new TempHome();
    writeSession(home, "11111111-1111-4111-8111-111111111111", 3);
    const all = await home.pond(["sync"]);
    expect(all).toMatchObject({ code: 0, stderr: "" });
    expect(all.stdout).toMatch(
      /^CLIENT[^]+\ndone in [^;]+; embed: off: no model configured; update-indexes: updated\n$/,
    );
    const embed = await home.pond(["sync", "--only", "embed"]);
    expect(embed.stdout).toMatch(/^done in [^;]+; embed: off: no model configured\n$/);
    expect(embed.code).toBe(0);
    expect(await home.pond(["sync", "--skip", "embed"])).toMatchObject({
      stdout: expect.stringMatching(/done in [^;]+; update-indexes: nothing to do\n$/),
    });
  });

  test("asked for alone, update-indexes merges all that came in, once", async () => {
    using home = new TempHome();
    for (let n = 0; n < 3; n++) {
      writeSession(home, `33333333-3333-4333-8333-${String(n).padStart(12, "0")}`, 3);
      expect((await home.pond(["sync"])).code).toBe(0);
    }
    const alone = async () =>
      JSON.parse((await home.pond(["sync", "--only", "update-indexes", "--json"])).stdout);
    const merged = (await alone()).indexes.tables.filter(({ done }: { done: { kind: string }[] }) =>
      done.some(({ kind }) => kind === "compact"),
    );
    expect(merged.map(({ table }: { table: string }) => table)).toEqual([
      "sessions",
      "messages",
      "parts",
      "sources",
    ]);
    expect(await alone()).toMatchObject({ indexes: { outcome: "nothing to do" } });
    expect(await home.pond(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/claude-code\t3\t0\t3\t9\t9\t0/),
    });
  });

  test.each([
    [["sync", "--adapter", "claude-cod"], /did you mean claude-code\?/],
    [["sync", "--path", "/nowhere"], /--adapter/],
    [["sync", "--adapter", "claude-code", "--path", "/nowhere"], /no such file or folder/],
    [["sync", "--only", "everything"], /import/],
    [["sync", "--only", "embd"], /did you mean embed\?/],
    [["sync", "--onyl", "import"], /did you mean --only\?/],
    [["sync", "--only", "embed", "--skip", "embed"], /leave no stage to run/],
  ])("%j is refused with a fix", async (args, message) => {
    using home = new TempHome();
    const { code, stderr } = await home.pond(args);
    expect([code, message.test(stderr)]).toEqual([2, true]);
  });
});

async function syncJson(home: TempHome, ...flags: string[]): Promise<unknown> {
  const { stdout, stderr, code } = await home.pond(["sync", "--json", ...flags]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** A module that has the process interrupt itself: from outside, a busy machine would let it finish first. */
function interruptAfterFirstBatch(home: TempHome): string {
  const data = join(home.path, ".local/share/pond/store/default/messages.lance/data");
  const source = `
    import { existsSync, readdirSync } from "node:fs";
    import { isMainThread } from "node:worker_threads";
    const data = ${JSON.stringify(data)};
    const look = () => {
      if (!existsSync(data) || readdirSync(data).length < 2) return;
      clearInterval(looking);
      process.kill(process.pid, "SIGINT");
    };
    const looking = isMainThread ? setInterval(look, 1).unref() : undefined;`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

function logOf(home: TempHome, id: string): string {
  return join(home.path, SLUG, `${id}.jsonl`);
}

function writeSession(home: TempHome, id: string, count: number): void {
  mkdirSync(dirname(logOf(home, id)), { recursive: true });
  writeFileSync(logOf(home, id), lines(id, 0, count));
}

/** Records as Claude Code writes them, from one number to another. */
function lines(id: string, from: number, to: number): string {
  let text = "";
  for (let n = from; n < to; n++) {
    const type = n % 2 === 0 ? "user" : "assistant";
    const content = type === "user" ? `message ${n}` : [{ type: "text", text: `message ${n}` }];
    text += `${JSON.stringify({
      parentUuid: n === 0 ? null : uuidOf(n - 1),
      isSidechain: false,
      userType: "external",
      cwd: "/home/me/app",
      sessionId: id,
      version: "2.1.200",
      gitBranch: "main",
      type,
      message:
        type === "user"
          ? { role: "user", content }
          : { id: `msg_${n}`, type: "message", role: "assistant", model: "m", content },
      uuid: uuidOf(n),
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
    })}\n`;
  }
  return text;
}

const uuidOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Every path with its size and time of change. */
function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

test.each([
  ["claude-code", ".claude"],
  ["codex-cli", ".codex"],
  ["opencode", ".local/share/opencode"],
  ["pi", ".pi/agent"],
])("a place of %s that cannot be reached is an issue, and not absent", async (client, folder) => {
  using home = new TempHome();
  const path = join(home.path, folder);
  mkdirSync(dirname(path), { recursive: true });
  // For root, too: nothing can be looked at through a link to itself.
  symlinkSync(basename(path), path);
  const { code, stdout, stderr } = await home.pond(["sync"]);
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(new RegExp(`${client}: \\d x unreadable`));
});
