/** Completion scripts, run by the shells themselves; a shell that is not installed is skipped. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SHELLS } from "../../src/cli/verbs.ts";
import { TempHome } from "./pond.ts";

const isInstalled = (shell: string): boolean => {
  try {
    execFileSync(shell, ["-c", "exit 0"]);
    return true;
  } catch {
    return false;
  }
};

/** Command lines (the last word is the one being typed) and some of the answers; null: nothing of pond's. */
const CASES: readonly (readonly [line: string, offered: readonly string[], not: readonly string[]])[] = [
  ["pond ", ["config", "completions", "help"], ["show", "--json"]],
  ["pond co", ["config", "completions"], ["help"]],
  ["pond config ", ["show", "path", "schema"], ["config"]],
  ["pond config s", ["show", "schema"], ["path"]],
  ["pond config show --", ["--store", "--json", "--help"], ["show"]],
  ["pond --store x config ", ["show", "path", "schema"], ["config"]],
  ["pond --store config ", ["config", "completions"], ["show"]],
  ["pond completions ", ["bash", "zsh", "fish"], ["config"]],
  ["pond help ", ["config", "completions"], ["--json"]],
];

async function scriptIn(home: TempHome, shell: string): Promise<string> {
  const { stdout, code } = await home.pond(["completions", shell]);
  expect(code).toBe(0);
  const file = join(home.path, shell === "zsh" ? "_pond" : `pond.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

/** What the shell offers at the end of the line. */
const OFFERED: Readonly<Record<(typeof SHELLS)[number], (file: string, line: string) => readonly string[]>> =
  {
    bash(file, line) {
      const words = line.split(" ").map((word) => `'${word}'`);
      const driver = `source '${file}'; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _pond; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["--norc", "-c", driver], { encoding: "utf8" }).split("\n");
    },
    zsh(file, line) {
      // The completion system wants a terminal; stand in for the two functions that it is asked with.
      const words = line.split(" ").map((word) => `'${word}'`);
      const driver = `
      _describe() { local a; for a in $argv; do [[ $a == -* || $a == (flag|word) ]] || print -l -- \${(P)a%%:*}; done }
      _files() { print FILES }
      compset() { : }
      compadd() { print -l -- \${(P)argv[2]} }
      compdef() { : }
      source '${file}'; words=(${words.join(" ")}); CURRENT=$#words; _pond`;
      return execFileSync("zsh", ["-f", "-c", driver], { encoding: "utf8" })
        .split("\n")
        .filter((word) => word.startsWith(line.split(" ").at(-1) ?? ""));
    },
    fish(file, line) {
      const driver = `source '${file}'; complete -C '${line}'`;
      return execFileSync("fish", ["--no-config", "-c", driver], { encoding: "utf8" })
        .split("\n")
        .map((answer) => answer.split("\t")[0] ?? "");
    },
  };

describe.each(SHELLS)("%s", (shell) => {
  test.skipIf(!isInstalled(shell))("takes the script without a word", async () => {
    using home = new TempHome();
    const file = await scriptIn(home, shell);
    expect(await home.exec(shell, ["-n", file])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test.skipIf(!isInstalled(shell))(
    "offers verbs, sub-commands, flags and values at their places",
    async () => {
      using home = new TempHome();
      const file = await scriptIn(home, shell);
      for (const [line, offered, not] of CASES) {
        const answers = OFFERED[shell](file, line);
        expect([line, answers]).toEqual([line, expect.arrayContaining([...offered])]);
        expect([line, not.filter((word) => answers.includes(word))]).toEqual([line, []]);
      }
    },
  );

  test("names every command and flag of the table in its script", async () => {
    using home = new TempHome();
    const { stdout } = await home.pond(["completions", shell]);
    for (const word of ["config", "show", "schema", "completions", "store", "no-color"])
      expect(stdout).toContain(word);
  });
});

test.skipIf(!isInstalled("bash"))(
  "bash completes the value after --flag= too, and leaves paths to the shell",
  async () => {
    using home = new TempHome();
    const file = await scriptIn(home, "bash");
    // As bash splits it: `=` is a word of its own.
    expect(OFFERED.bash(file, "pond config show --store = ")).toEqual(["", ""]);
    expect(OFFERED.bash(file, "pond --config = x config s")).toEqual(["show", "schema", ""]);
  },
);
