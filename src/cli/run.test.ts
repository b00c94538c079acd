/** What a run prints where, and how it ends, with streams and verbs of the test's own. */
import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { systemClock } from "../base/clock.ts";
import { PondError } from "../base/errors.ts";
import { command } from "./command/command.ts";
import type { Command, VerbContext } from "./command/command.ts";
import type { Outcome } from "./terminal/exit.ts";
import { GLOBAL_FLAGS } from "./command/flags.ts";
import type { FlagTable } from "./command/flags.ts";
import { ClosedPipe } from "./terminal/output.ts";
import type { Sink } from "./terminal/output.ts";
import { run } from "./run.ts";
import { Interrupted } from "./terminal/signals.ts";

interface Stage {
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
  readonly stdout?: Sink;
  readonly clock?: Clock;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `pond verb <args>` with this function as the verb. */
async function play(
  args: string | readonly string[],
  verb: (context: VerbContext<typeof FLAGS>) => Promise<Outcome>,
  { env = {}, isTerminal = false, signal = new AbortController().signal, ...stage }: Stage = {},
): Promise<Ended> {
  const printed = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr"): Sink => ({
    isTerminal,
    width: 40,
    write: (chunk) => void (printed[name] += String(chunk)),
  });
  const root: Command = {
    name: "pond",
    summary: "",
    flags: GLOBAL_FLAGS,
    subcommands: [command({ name: "verb", summary: "", flags: FLAGS, load: async () => verb })],
  };
  const words = typeof args === "string" ? args.split(" ").filter((word) => word !== "") : args;
  const code = await run(["verb", ...words], {
    root,
    env: { env, home: "/home/me", platform: "linux", cwd: "/" },
    sinks: { stdout: stage.stdout ?? sink("stdout"), stderr: sink("stderr") },
    signal,
    ...(stage.clock === undefined ? {} : { clock: stage.clock }),
  });
  return { code, ...printed };
}
const FLAGS = { deep: { type: "boolean", summary: "" } } as const satisfies FlagTable;

const failing = async (): Promise<Outcome> => {
  throw new PondError("not_found", "no session \x1b[2Jx", {
    hint: "pond sessions lists them",
    data: { id: "x" },
  });
};

describe("exit codes", () => {
  test("0 done, 1 done with failures, 2 could not answer", async () => {
    expect(await play("", async () => "done")).toMatchObject({ code: 0 });
    expect(await play("", async () => "failures")).toMatchObject({ code: 1 });
    expect(await play("", failing)).toMatchObject({ code: 2 });
    expect(
      await play("", async () => {
        throw new TypeError("a bug");
      }),
    ).toMatchObject({ code: 2, stderr: "pond: a bug\n" });
  });

  test("130 after Ctrl-C and 143 after SIGTERM, however the verb takes it", async () => {
    for (const [by, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const interrupted = (verb: (context: VerbContext) => Promise<Outcome>): Promise<Ended> => {
        const controller = new AbortController();
        return play("", async (context) => (controller.abort(new Interrupted(by)), verb(context)), {
          signal: controller.signal,
        });
      };
      const quiet = { code, stdout: "", stderr: "pond: interrupted\n" };
      expect(await interrupted(async () => "done")).toEqual(quiet);
      expect(await interrupted(async ({ signal }) => (signal.throwIfAborted(), "done"))).toEqual(quiet);
      expect(await interrupted(() => Promise.reject(new Error("cut off")))).toEqual(quiet);
    }
  });

  test("0, and silence, when the reader of stdout went away", async () => {
    const stdout: Sink = {
      isTerminal: false,
      width: 80,
      write() {
        throw new ClosedPipe("closed");
      },
    };
    const ended = await play("", async ({ out }) => (out.print("a"), "failures"), { stdout });
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("errors", () => {
  test("what and fix, no stack, nothing that steers the terminal", async () => {
    const stderr = "pond: no session \\x1b[2Jx\n  fix: pond sessions lists them\n";
    expect(await play("", failing)).toEqual({ code: 2, stdout: "", stderr });
  });

  test("--verbose adds the stack, and the cause's", async () => {
    const cause = new Error("root of it");
    const { stderr } = await play("--verbose", async () => {
      throw new PondError("internal", "it broke", { cause });
    });
    expect(stderr).toMatch(/^pond: it broke\n[^]*run\.test\.ts[^]*caused by: Error: root of it\n/);
  });

  test("--json makes it the wire's own document, on stderr", async () => {
    const { stderr, stdout } = await play("--json", failing);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "not_found",
        message: "no session \x1b[2Jx",
        details: { id: "x", hint: "pond sessions lists them" },
      },
    });
  });
});

describe("output", () => {
  const talk = async ({ out, flags }: VerbContext<typeof FLAGS>): Promise<Outcome> => {
    out.note("noted");
    out.detail("detailed");
    out.progress("working");
    out.result({ n: 1, deep: flags.deep }, ({ n }) => `n is ${out.style.bold(String(n))}`);
    return "done";
  };

  test("the result on stdout, the rest on stderr", async () => {
    expect(await play("", talk)).toEqual({ code: 0, stdout: "n is 1\n", stderr: "noted\n" });
    expect(await play("-v", talk)).toMatchObject({ stdout: "n is 1\n", stderr: "noted\ndetailed\n" });
    expect(await play("--quiet", talk)).toMatchObject({ stdout: "n is 1\n", stderr: "" });
    expect(await play("--json --deep", talk)).toMatchObject({
      stdout: '{"n":1,"deep":true}\n',
      stderr: "noted\n",
    });
  });

  test("progress on a terminal is one line, cut to it, and gone before the next one", async () => {
    const { stderr } = await play("--no-color", talk, { isTerminal: true });
    expect(stderr).toBe("noted\nworking\r\x1b[K");
    const half = await play("", async ({ out }) => (out.progress("files", 0.5), "done"), {
      isTerminal: true,
    });
    expect(half.stderr).toBe("[##########..........] files\r\x1b[K");
    const tight = await play("", async ({ out }) => (out.progress("x".repeat(26), 0.5), "done"), {
      isTerminal: true,
    });
    expect(tight.stderr).toBe(`[#####.....] ${"x".repeat(26)}\r\x1b[K`);
    const long = await play("", async ({ out }) => (out.progress("x".repeat(99), 0.5), "done"), {
      isTerminal: true,
    });
    expect(long.stderr).toBe(`${"x".repeat(36)}...\r\x1b[K`);
    expect(await play("-q", talk, { isTerminal: true })).toMatchObject({ stderr: "" });
  });

  test("progress in a pipe is a line after a few seconds and one now and then", async () => {
    let now = 0;
    const clock = { ...systemClock, now: () => now };
    const walk = async ({ out }: VerbContext): Promise<Outcome> => {
      for (; now < 30_000; now += 500) out.progress(`at ${now / 1000} s`, now / 30_000);
      out.progress("nearly done");
      now += 10_000;
      out.progress("in words alone");
      return "done";
    };
    expect(await play("", walk, { clock })).toEqual({
      code: 0,
      stdout: "",
      stderr: "10% at 3 s\n43% at 13 s\n76% at 23 s\nin words alone\n",
    });
    now = 0;
    expect(await play("", walk, { clock, isTerminal: true, env: { TERM: "dumb" } })).toMatchObject({
      stderr: "10% at 3 s\n43% at 13 s\n76% at 23 s\nin words alone\n",
    });
    now = 0;
    expect(await play("--quiet", walk, { clock })).toMatchObject({ stderr: "" });
  });

  test.each<[what: string, stage: Stage, flag: string, colored: boolean]>([
    ["a terminal", { isTerminal: true }, "", true],
    ["a pipe", {}, "", false],
    ["a terminal with --no-color", { isTerminal: true }, "--no-color", false],
    ["a terminal with NO_COLOR", { isTerminal: true, env: { NO_COLOR: "1" } }, "", false],
    ["a terminal with an empty NO_COLOR", { isTerminal: true, env: { NO_COLOR: "" } }, "", true],
    ["a dumb terminal", { isTerminal: true, env: { TERM: "dumb" } }, "", false],
    ["a pipe with FORCE_COLOR", { env: { FORCE_COLOR: "1" } }, "", true],
    ["a terminal with FORCE_COLOR=0", { isTerminal: true, env: { FORCE_COLOR: "0" } }, "", false],
    ["both variables", { env: { FORCE_COLOR: "1", NO_COLOR: "1" } }, "", false],
  ])("colours on %s", async (_, stage, flag, colored) => {
    expect((await play(flag, talk, stage)).stdout).toBe(colored ? "n is \x1b[1m1\x1b[22m\n" : "n is 1\n");
  });
});

describe("printed commands, where the run was given --store", () => {
  const stepping = async ({ out }: VerbContext): Promise<Outcome> => {
    out.result({ next: "pond verb 1" }, ({ next }) => `for others: ${next}`);
    return "done";
  };
  const refused = async (): Promise<Outcome> => {
    throw new PondError("not_found", "it is not here", { hint: "name the folder here: pond verb 1 --deep" });
  };

  test("are followed by one line that says what to add, quoted", async () => {
    const note = "note: add --store '/my $store' to the commands of pond above\n";
    const argv = ["--store=/my $store"];
    expect(await play(argv, stepping)).toEqual({
      code: 0,
      stdout: "for others: pond verb 1\n",
      stderr: note,
    });
    expect(await play(argv, refused)).toEqual({
      code: 2,
      stdout: "",
      stderr: `pond: it is not here\n  fix: name the folder here: pond verb 1 --deep\n${note}`,
    });
    const noted = await play(argv, async ({ out }) => {
      out.note("note: pond verb mends it");
      out.conclude();
      out.note("the client has the terminal");
      return "done";
    });
    expect(noted.stderr).toBe(`note: pond verb mends it\n${note}the client has the terminal\n`);
  });

  test("the same for --config, and for a value that looks like a flag", async () => {
    const { stderr } = await play(["--store=-s", "--config", "/c.toml"], stepping);
    expect(stderr).toBe("note: add --store=-s --config /c.toml to the commands of pond above\n");
  });

  test("a command that names a store has its own", async () => {
    const { stderr } = await play("--store /s", async ({ out }) => {
      out.print("from another copy: pond verb 1 --store <that copy>, then pond verb");
      return "done";
    });
    expect(stderr).toBe(
      "note: add --store /s to the commands of pond above, but for those that name another store\n",
    );
  });

  test("nothing is added to documents, to what tells no command, to help, or where no flag was given", async () => {
    expect(await play("--store /s --json", stepping)).toMatchObject({ stderr: "" });
    expect(JSON.parse((await play("--store /s --json", refused)).stderr)).toHaveProperty("error");
    expect(await play("", stepping)).toMatchObject({ stderr: "" });
    expect(await play("--store /s --help", stepping)).toMatchObject({ code: 0, stderr: "" });
    const plain = async ({ out }: VerbContext): Promise<Outcome> => {
      out.print("2 sessions were written by pond verb; respond verbally");
      return "done";
    };
    expect(await play("--store /s", plain)).toMatchObject({ stderr: "" });
  });

  test("--quiet leaves it to errors", async () => {
    expect(await play("--store /s --quiet", stepping)).toMatchObject({ stderr: "" });
    expect((await play("--store /s --quiet", refused)).stderr).toMatch(
      /\nnote: add --store \/s to [^\n]+\n$/,
    );
  });
});

test("the settings are read on demand, once, with the flags on top", async () => {
  const loaded: unknown[] = [];
  const ended = await play("--store /flag", async ({ config }) => {
    loaded.push(await config(), await config());
    return "done";
  });
  expect(ended.code).toBe(0);
  expect(loaded[0]).toBe(loaded[1]);
  expect(loaded[0]).toMatchObject({ values: { storage: { url: "/flag" } } });
});
