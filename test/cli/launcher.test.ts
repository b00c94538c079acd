/**
 * The launcher of a clone, on a small clone with an npm that only pretends: what it does when, not what npm does.
 * The real npm is proven by the README's commands on a fresh clone (.ci/run).
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ended } from "./pond.ts";
import { BIN, ROOT, TempHome } from "./pond.ts";

/** npm ci makes node_modules with a link to this Node, npm run build a dist that says its arguments. */
const NPM = `#!/bin/sh
echo "$*" >>"$CALLS"
case $* in
  ci*) [ "\${NPM_FAILS:-}" = ci ] && { echo "ENOTFOUND registry"; exit 1; }
    [ -z "\${SAID:-}" ] || until [ "$(grep -c 'waiting for it' "$SAID")" = 2 ]; do sleep 0.05; done
    rm -rf node_modules; mkdir -p node_modules/.bin
    ln -s "$REAL_NODE" node_modules/.bin/node; echo {} >node_modules/.package-lock.json ;;
  *build) [ "\${NPM_FAILS:-}" = build ] && { echo "src/x.ts: error"; exit 1; }
    mkdir -p dist/bundle; echo 'console.log("ran", ...process.argv.slice(2))' >dist/bundle/main.js; : >dist/.stamp ;;
esac
`;

class Clone extends TempHome {
  readonly root = join(this.path, "clone of pond");
  readonly #calls = join(this.path, "calls");

  constructor() {
    super();
    for (const folder of ["clone of pond/bin", "clone of pond/src", "tools"])
      mkdirSync(join(this.path, folder), { recursive: true });
    copyFileSync(join(ROOT, "pond"), join(this.root, "pond"));
    copyFileSync(BIN, join(this.root, "bin/pond.js"));
    writeFileSync(join(this.root, "package.json"), '{"type":"module"}');
    writeFileSync(join(this.root, "package-lock.json"), "{}");
    writeFileSync(join(this.root, "src/main.ts"), "");
    this.makeOlder("package-lock.json", "src/main.ts", "src");
    writeFileSync(join(this.path, "tools/npm"), NPM);
    chmodSync(join(this.path, "tools/npm"), 0o755);
    writeFileSync(this.#calls, "");
  }

  /** Sets files back by a minute: clocks of file systems are coarse. */
  makeOlder(...files: readonly string[]): void {
    const then = new Date(Date.now() - 60_000);
    for (const file of files) utimesSync(join(this.root, file), then, then);
  }

  run(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.exec(join(this.root, "pond"), args, { env: { ...this.#tools(), ...env } });
  }

  /** The same as one of three, which say what they have to say into one file. */
  runTogether(args: readonly string[]): Promise<Ended> {
    const env = { ...this.#tools(), SAID: join(this.path, "said") };
    const script = 'exec "$0" "$@" 2>>"$SAID"';
    return this.exec("/bin/sh", ["-c", script, join(this.root, "pond"), ...args], { env });
  }

  #tools(): Record<string, string> {
    return {
      PATH: `${join(this.path, "tools")}:/usr/bin:/bin`,
      CALLS: this.#calls,
      REAL_NODE: process.execPath,
    };
  }

  get calls(): readonly string[] {
    return readFileSync(this.#calls, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  }
}

const CI = "ci --include=dev --no-audit --no-fund --loglevel=error";
const BUILD = "run --silent build";

describe("the launcher", () => {
  test("installs and builds on the first run with one line of explanation, and is silent afterwards", async () => {
    using clone = new Clone();
    expect(await clone.run(["a b", "--c"])).toEqual({
      code: 0,
      stdout: "ran a b --c\n",
      stderr: "pond: first run, installing dependencies (about a minute)...\n",
    });
    expect(await clone.run(["again"])).toEqual({ code: 0, stdout: "ran again\n", stderr: "" });
    expect(clone.calls).toEqual([CI, BUILD]);
  });

  test("builds again when a source changed or went, installs again when the lock changed", async () => {
    using clone = new Clone();
    await clone.run();
    clone.makeOlder("dist/.stamp", "node_modules/.package-lock.json");
    writeFileSync(join(clone.root, "src/main.ts"), "");
    expect((await clone.run()).stderr).toBe("pond: the code changed, building...\n");
    clone.makeOlder("dist/.stamp", "src/main.ts");
    rmSync(join(clone.root, "src/main.ts"));
    expect((await clone.run()).stderr).toBe("pond: the code changed, building...\n");
    writeFileSync(join(clone.root, "package-lock.json"), "{ }");
    expect((await clone.run()).stderr).toBe(
      "pond: dependencies changed, installing them (about a minute)...\n",
    );
    expect(clone.calls).toEqual([CI, BUILD, BUILD, BUILD, CI]);
  });

  test("an install that was cut off counts as none", async () => {
    using clone = new Clone();
    mkdirSync(join(clone.root, "node_modules"));
    expect(await clone.run()).toMatchObject({ code: 0, stdout: "ran\n" });
    expect(clone.calls).toEqual([CI, BUILD]);
  });

  test("two at once on a fresh clone: one sets up, both run", async () => {
    using clone = new Clone();
    // The one that installs goes on when the others have said that they wait for it.
    const ended = await Promise.all([1, 2, 3].map((n) => clone.runTogether([String(n)])));
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, "ran 1\n"],
      [0, "ran 2\n"],
      [0, "ran 3\n"],
    ]);
    expect(clone.calls).toEqual([CI, BUILD]);
  });

  test("takes over from a set-up whose process died", async () => {
    using clone = new Clone();
    mkdirSync(join(clone.root, ".pond-setup"));
    const dead = await clone.exec("sh", ["-c", "echo $$"]);
    writeFileSync(join(clone.root, ".pond-setup/pid"), dead.stdout);
    expect(await clone.run()).toMatchObject({ code: 0, stdout: "ran\n" });
    expect((await clone.exec("ls", ["-A", clone.root])).stdout).not.toContain(".pond-setup");
  });

  test.each([
    ["ci", "npm ci failed", "ENOTFOUND registry", "check the network"],
    ["build", "the build failed", "src/x.ts: error", "npm run types"],
  ])(
    "shows what npm %s said when it fails, with a fix, and the next run tries again",
    async (step, what, said, fix) => {
      using clone = new Clone();
      const { code, stdout, stderr } = await clone.run([], { NPM_FAILS: step, TMPDIR: clone.path });
      expect([code, stdout]).toEqual([2, ""]);
      const lines = stderr.split("\n");
      expect(lines[1]).toBe(said);
      expect(lines[2]).toMatch(new RegExp(`^pond: ${what} \\(the whole log: .*\\)$`));
      expect(lines[3]).toContain(`  fix: ${fix}`);
      expect(await clone.run()).toMatchObject({ code: 0, stdout: "ran\n" });
    },
  );

  test("without npm says what is needed", async () => {
    using clone = new Clone();
    rmSync(join(clone.path, "tools/npm"));
    for (const tool of ["sh", "readlink", "find", "cat"])
      symlinkSync(`/bin/${tool}`, join(clone.path, "tools", tool));
    expect(await clone.run([], { PATH: join(clone.path, "tools") })).toEqual({
      code: 2,
      stdout: "",
      stderr: "pond: needs Node.js with npm to install itself\n  fix: install Node.js (https://nodejs.org)\n",
    });
  });

  test("works through symbolic links, from anywhere, in the caller's folder", async () => {
    using clone = new Clone();
    await clone.run();
    mkdirSync(join(clone.path, "a/b"), { recursive: true });
    symlinkSync("../../clone of pond/pond", join(clone.path, "a/b/relative"));
    symlinkSync(join(clone.path, "a/b/relative"), join(clone.path, "a/pond"));
    writeFileSync(join(clone.root, "dist/bundle/main.js"), "console.log(process.cwd())");
    const env = { PATH: `${join(clone.path, "a")}:/usr/bin:/bin` };
    expect((await clone.exec("pond", [], { env, cwd: dirname(ROOT) })).stdout).toBe(`${dirname(ROOT)}\n`);
    expect((await clone.exec("sh", ["pond"], { env, cwd: clone.root })).stdout).toBe(`${clone.root}\n`);
  });

  test("passes standard input on, also on the run that sets up", async () => {
    using clone = new Clone();
    const cat = `echo 'process.stdin.pipe(process.stdout)' >dist/bundle/main.js`;
    writeFileSync(join(clone.path, "tools/npm"), NPM.replace(": >dist/.stamp", `${cat}; : >dist/.stamp`));
    const env = {
      PATH: `${join(clone.path, "tools")}:/usr/bin:/bin`,
      CALLS: "/dev/null",
      REAL_NODE: process.execPath,
    };
    const ended = await clone.exec("sh", ["-c", `echo hello | "${clone.root}/pond"`], { env });
    expect(ended).toMatchObject({ code: 0, stdout: "hello\n" });
  });
});

describe("bin/pond.js", () => {
  const nodes = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, "node"));
  const old = nodes.find((node) => !node.includes("node_modules") && majorOf(node) < 22);

  test.skipIf(old === undefined)("on a Node that is too old hands over to the bundled one", async () => {
    using home = new TempHome();
    expect(await home.exec(old ?? "", [BIN, "--version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^pond \d/),
    });
    expect(await home.exec(old ?? "", [BIN, "nope"])).toMatchObject({ code: 2, stdout: "" });
  });

  test.skipIf(old === undefined)("without a bundled one says in one line what is needed", async () => {
    using clone = new Clone();
    mkdirSync(join(clone.root, "dist/bundle"), { recursive: true });
    writeFileSync(join(clone.root, "dist/bundle/main.js"), "");
    const ended = await clone.exec(old ?? "", [join(clone.root, "bin/pond.js")]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(
      /^pond: needs Node 22\.18 or newer, this is v\d+\S+\n {2}fix: install a newer Node/,
    );
  });

  test("of a copy that is not built says so", async () => {
    using clone = new Clone();
    const ended = await clone.exec(process.execPath, [join(clone.root, "bin/pond.js")]);
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("pond: this copy is not built\n  fix: npm install && npm run build"),
    });
  });
});

function majorOf(node: string): number {
  try {
    return Number(/^v(\d+)/.exec(execFileSync(node, ["--version"], { encoding: "utf8" }))?.[1]);
  } catch {
    return Infinity;
  }
}
