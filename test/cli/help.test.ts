/** Help, version and mistakes on the command line, by the built command. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Command } from "../../src/cli/command/command.ts";
import { ROOT as TABLE } from "../../src/cli/verbs.ts";
import { ROOT, TempHome } from "./pond.ts";

/** Every command of the table as the words that lead to it. */
const commands = (entry: Command, words: readonly string[]): (readonly string[])[] => [
  words,
  ...(entry.subcommands ?? []).flatMap((sub) => commands(sub, [...words, sub.name])),
];
const ALL = commands(TABLE, []);

describe("help", () => {
  test.each(ALL.map((words) => [words.join(" "), words] as const))("of pond %s", async (_, words) => {
    using home = new TempHome();
    const asked = await home.pond([...words, "--help"]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toMatchSnapshot();
    expect(await home.pond(["help", ...words])).toEqual(asked);
    // A terminal of 80 columns shows every line whole.
    expect(asked.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("pond alone shows the help", async () => {
    using home = new TempHome();
    expect(await home.pond([])).toEqual(await home.pond(["--help"]));
  });

  test("--help is answered in spite of a mistake elsewhere", async () => {
    using home = new TempHome();
    expect(await home.pond(["config", "show", "--nope", "-h"])).toEqual(
      await home.pond(["config", "show", "--help"]),
    );
  });
});

test("--version is the package's", async () => {
  using home = new TempHome();
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect(await home.pond(["--version"])).toEqual({ code: 0, stdout: `pond ${version}\n`, stderr: "" });
  expect(await home.pond(["-V", "--json"])).toMatchObject({ stdout: `${JSON.stringify({ version })}\n` });
});

describe("mistakes end with 2, say what and how to mend it on stderr, and print nothing else", () => {
  test.each<[string, string]>([
    ["confgi", 'unknown verb "confgi"\n  fix: did you mean pond config?'],
    ["frobnicate", 'unknown verb "frobnicate"\n  fix: pond --help lists them'],
    ["config", "config needs one of: show, path, schema\n  fix: see pond help config"],
    ["config shwo", 'unknown sub-command of config "shwo"\n  fix: did you mean pond config show?'],
    ["help nope", 'unknown verb "nope"\n  fix: pond --help lists them'],
    ["--stroe x config show", "unknown flag --stroe\n  fix: did you mean --store?"],
    ["config show --jsno", "unknown flag --jsno of config show\n  fix: did you mean --json?"],
    ["config show -store x", "unknown flag -s of config show\n  fix: did you mean --store?"],
    ["config show --zzz", "unknown flag --zzz of config show\n  fix: see pond config show --help"],
    ["config show --store", "--store needs a value\n  fix: write --store=<url>"],
    ["config show --store --json", "--store needs a value\n  fix: write --store=<url>"],
    ["config show --quiet=1", "--quiet takes no value\n  fix: write --quiet alone"],
    ["config show extra", 'config show does not take "extra"\n  fix: see pond help config show'],
    ["completions", "completions needs <shell>\n  fix: see pond help completions"],
    ["completions bahs", '<shell> must be one of bash, zsh, fish, not "bahs"\n  fix: did you mean bash?'],
  ])("pond %s", async (line, message) => {
    using home = new TempHome();
    const ended = await home.pond(line.split(" "));
    const isJson = line.endsWith("--json");
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    if (isJson) expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: "validation_failed" } });
    else expect(ended.stderr).toBe(`pond: ${message}\n`);
  });
});
