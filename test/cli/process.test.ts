/** The command as a process: closed pipes, signals, colours, what it loads. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, cleanEnv, ROOT, TempHome } from "./pond.ts";

describe("a closed pipe", () => {
  test("ends the command quietly, with 0", async () => {
    using home = new TempHome();
    // PIPESTATUS[0]: pond's own end, not head's.
    const line = `"${process.execPath}" "${BIN}" config schema | head -n 1; exit "\${PIPESTATUS[0]}"`;
    for (let i = 0; i < 5; i++)
      expect(await home.exec("bash", ["-c", line])).toEqual({ code: 0, stdout: "{\n", stderr: "" });
  });

  test("that is closed before the first byte is no error either", async () => {
    using home = new TempHome();
    const child = spawn(process.execPath, [BIN, "--help"], {
      env: cleanEnv(home.path),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, "close")) as [number];
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("on stderr does not cost the result", async () => {
    using home = new TempHome();
    const line = `"${process.execPath}" "${BIN}" config path 2>&-`;
    expect(await home.exec("bash", ["-c", line])).toMatchObject({
      code: 0,
      stdout: `${join(home.path, ".config/pond/config.toml")}\n`,
    });
  });
});

test.skipIf(!existsSync("/dev/full"))("output that cannot be written is told as that", async () => {
  using home = new TempHome();
  const line = `"${process.execPath}" "${BIN}" config schema > /dev/full`;
  const { code, stderr } = await home.exec("bash", ["-c", line]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^pond: the output cannot be written: .*full\n/)]);
  expect(stderr).not.toContain("free some space");
});

test("nothing stays in the folder for temporary files, whatever the engine makes there", async () => {
  using home = new TempHome();
  home.addDemoSessions();
  const temporary = join(home.path, "tmp");
  mkdirSync(temporary);
  for (const args of [["sync"], ["sessions"], ["search", "nothing like this"], ["get", "no-such-session"]])
    await home.pond(args, { env: { TMPDIR: temporary } });
  expect(readdirSync(temporary)).toEqual([]);
});

test("a large answer reaches a slow reader whole, also through a pipe that is non-blocking", async () => {
  using home = new TempHome();
  const script = `
    import { Socket } from "node:net";
    import { createOutput, processSinks } from "${ROOT}/dist/cli/terminal/output.js";
    new Socket({ fd: 1, readable: false }); // makes it non-blocking, as a sibling process can
    const out = createOutput(processSinks(), { json: false, verbose: false, quiet: false, color: () => false });
    out.print("x".repeat(3_000_000));
    process.exit(0);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { env: cleanEnv(home.path) });
  let size = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) size += chunk.length;
  expect(size).toBe(3_000_001);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends it while its reader does not read", async (name) => {
  const script = `
    import { createOutput, processSinks } from "${ROOT}/dist/cli/terminal/output.js";
    import { abortOnSignals } from "${ROOT}/dist/cli/terminal/signals.js";
    const signal = abortOnSignals({ stopMs: 600_000 });
    const out = createOutput(processSinks(), { json: false, verbose: false, quiet: false, color: () => false });
    out.print("x".repeat(30_000_000));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  // It has begun to write, and far more is still to come than any buffer takes: the write does not return.
  child.stdout.once("data", () => {
    child.stdout.pause();
    child.kill(name);
  });
  const ended = await once(child, "exit");
  child.stdout.destroy();
  expect(ended).toEqual([null, name]);
});

describe("signals", () => {
  /** A verb that waits for the signal, says that it cleaned up, and takes its time when it is told so. */
  const program = (slow: boolean, stopMs = 600_000): string => `
    import { command } from "${ROOT}/dist/cli/command/command.js";
    import { GLOBAL_FLAGS } from "${ROOT}/dist/cli/command/flags.js";
    import { processSinks } from "${ROOT}/dist/cli/terminal/output.js";
    import { run } from "${ROOT}/dist/cli/run.js";
    import { abortOnSignals } from "${ROOT}/dist/cli/terminal/signals.js";
    const wait = async ({ out, signal }) => {
      const alive = setInterval(() => {}, 1000);
      out.print("ready");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      out.print("cleaning");
      if (${slow}) await new Promise(() => {});
      clearInterval(alive);
      return "done";
    };
    const root = { name: "pond", summary: "", flags: GLOBAL_FLAGS, subcommands: [command({ name: "wait", summary: "", load: async () => wait })] };
    process.exit(await run(["wait"], { root, env: { env: {}, home: "/", platform: "linux", cwd: "/" }, sinks: processSinks(), signal: abortOnSignals({ stopMs: ${stopMs} }) }));`;

  const interrupt = (slow: boolean, ...signals: readonly NodeJS.Signals[]): Promise<unknown[]> =>
    interruptProgram(program(slow), signals);

  /** Sends the next signal whenever it prints something. */
  async function interruptProgram(script: string, signals: readonly NodeJS.Signals[]): Promise<unknown[]> {
    const child = execFile(process.execPath, ["--input-type=module", "-e", script]);
    const rest = [...signals];
    let stdout = "";
    child.stdout?.on("data", (chunk: string) => {
      stdout += chunk;
      const next = rest.shift();
      if (next !== undefined) child.kill(next);
    });
    const [code] = (await once(child, "close")) as [number];
    return [code, stdout];
  }

  test("Ctrl-C lets the verb clean up, then exits with 130", async () => {
    expect(await interrupt(false, "SIGINT")).toEqual([130, "ready\ncleaning\n"]);
    expect(await interrupt(false, "SIGTERM")).toEqual([143, "ready\ncleaning\n"]);
  });

  test("a second Ctrl-C ends it at once", async () => {
    expect(await interrupt(true, "SIGINT", "SIGINT")).toEqual([130, "ready\ncleaning\n"]);
    expect(await interrupt(true, "SIGTERM", "SIGINT")).toEqual([130, "ready\ncleaning\n"]);
  });

  test("a verb that does not stop is ended, with the code of the signal", async () => {
    expect(await interruptProgram(program(true, 1), ["SIGTERM"])).toEqual([143, "ready\ncleaning\n"]);
    expect(await interruptProgram(program(true, 1), ["SIGINT"])).toEqual([130, "ready\ncleaning\n"]);
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends a command at once whose store does not answer", async (name, code) => {
  using home = new TempHome();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const options = {
    aws_endpoint: `http://127.0.0.1:${port}`,
    aws_access_key_id: "none",
    aws_secret_access_key: "none",
    aws_region: "none",
    allow_http: "true",
  };
  const env = Object.fromEntries(
    Object.entries(options).map(([key, value]) => [`POND_STORAGE_OPTIONS_${key.toUpperCase()}`, value]),
  );
  const child = spawn(process.execPath, [BIN, "sessions", "--verbose"], {
    env: cleanEnv(home.path, { ...env, POND_STORE: "s3://bucket/pond" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The engine has asked by then: it waits for an answer, and never gets one.
  server.once("connection", () => child.kill(name));
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const [ended] = (await once(child, "close")) as [number];
  expect([ended, printed]).toEqual([code, "pond: interrupted\n"]);
  server.close();
});

/** The command with each module in a file of its own: which of them are loaded can be seen. */
const UNBUNDLED = join(ROOT, "dist/cli/main.js");

/** A home with a session of one message. */
function homeWithSession(): TempHome {
  const home = new TempHome();
  const log = join(home.path, ".claude/projects/-home-me/11111111-1111-4111-8111-111111111111.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  const message = { role: "user", content: "hello" };
  const timestamp = "2026-01-01T00:00:00.000Z";
  writeFileSync(log, `${JSON.stringify({ type: "user", uuid: "1", cwd: "/home/me", timestamp, message })}\n`);
  return home;
}

test("a sync with nothing to do loads no engine, no reader or writer of a client, and no other operation", async () => {
  using home = homeWithSession();
  expect(await home.pond(["sync"])).toMatchObject({ code: 0 });
  const trace = join(ROOT, "test/cli/trace-loads.mjs");
  const { stdout, stderr } = await home.exec(process.execPath, ["--import", trace, UNBUNDLED, "sync"]);
  expect(stdout).toContain("claude-code\t1\t1\t0");
  const loaded = stderr.split("\n").flatMap((line) => /^LOADED .*\/dist\/(.*)$/.exec(line)?.[1] ?? []);
  expect(stderr).not.toContain("node_modules");
  expect(loaded).toContain("adapters/registry.js");
  const light = [
    /^(base|cli|config|state)\//,
    /^handlers\/(index|context\/(context|remembered)|sync\/sync|sources\/\w+|import\/outcome)\.js$/,
    /^(sessions\/peek|substrate\/local\/(peek|manifest|files)|substrate\/engine\/storage-url)\.js$/,
    /^adapters\/(registry|kit\/(sources\/discovery|files\/(stamp|path-names)))\.js$/,
    /^adapters\/[^/]+\/((index|layout|places)|parse\/units)\.js$/,
  ];
  expect(loaded.filter((path) => !light.some((pattern) => pattern.test(path)))).toEqual([]);
  // Three modules of each client (index, layout, places), whatever their number, and a bounded rest.
  const ofClients = loaded.filter((path) => /^adapters\/(?!kit\/)[^/]+\//.test(path));
  const clients = new Set(ofClients.map((path) => path.split("/")[1]));
  expect(ofClients.length).toBeLessThanOrEqual(3 * clients.size + 1);
  expect(loaded.length - ofClients.length).toBeLessThan(69);
  // Each file costs about a third of a millisecond of every start: the command has them in a few.
  const bundled = await home.exec(process.execPath, ["--import", trace, BIN, "sync"]);
  expect(bundled.stdout).toContain("claude-code\t1\t1\t0");
  const files = bundled.stderr.split("\n").filter((line) => /^LOADED .*\/dist\/bundle\//.test(line));
  expect(files.length).toBeGreaterThan(0);
  expect(files.length).toBeLessThan(15);
});

test("help, version, completions and mistakes load neither config nor any library", async () => {
  using home = new TempHome();
  // Node lists every file of ours that it reads.
  const trace = join(ROOT, "test/cli/trace-loads.mjs");
  for (const args of [["--help"], ["--version"], ["completions", "bash"], ["nope"], ["help", "config"]]) {
    const { stderr } = await home.exec(process.execPath, ["--import", trace, UNBUNDLED, ...args]);
    const loaded = stderr.split("\n").filter((line) => line.startsWith("LOADED "));
    expect(loaded.length).toBeGreaterThan(5);
    expect(
      loaded.filter((line) => /node_modules|dist\/(?!cli\/|base\/|config\/environment)/.test(line)),
    ).toEqual([]);
  }
});

test("a working folder that somebody deleted stops no command", async () => {
  using home = homeWithSession();
  const gone = join(home.path, "gone");
  const commands = ["sync", "status", "sessions", "adapters"];
  const script = commands.map((verb) => `"${process.execPath}" "${BIN}" ${verb} || exit 1`).join("; ");
  const { code, stderr } = await home.exec("sh", [
    "-c",
    `mkdir "${gone}" && cd "${gone}" && rmdir "${gone}" && ${script}`,
  ]);
  expect([code, stderr.includes("uv_cwd")]).toEqual([0, false]);
});
