/** `pond init`: asks once on a terminal, takes no answer that would break the settings, and changes nothing twice. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, hasScript, TempHome } from "./pond.ts";

const fileOf = (home: TempHome): string => join(home.path, ".config/pond/config.toml");

/** `pond init` on a pseudo-terminal, each answer (as printf takes it) typed when its question is there; what is shown. */
async function type(home: TempHome, ...answers: readonly string[]): Promise<string> {
  const line = `"${process.execPath}" "${BIN}" init; echo "ended with $?"`;
  const typist = answers.map(
    (keys, n) =>
      `until [ "$(grep -oE "its store|by meaning" screen 2>&- | wc -l)" -gt ${n} ]; do :; done; printf '${keys}'`,
  );
  const { stdout } = await home.exec("bash", [
    "-c",
    `{ ${typist.join("; ")}; } | script -qfec '${line}' screen`,
  ]);
  return stdout;
}

describe.runIf(hasScript)("on a terminal", () => {
  test("asks again when an answer cannot be, and writes the one that can, whole", async () => {
    using home = new TempHome();
    const screen = await type(home, "ftp://nowhere\\n", "my store\\n", "\\n");
    expect(screen).toMatch(/cannot begin with ftp:\/\/; use a path/);
    expect(screen).toContain("ended with 0");
    const written = readFileSync(fileOf(home), "utf8");
    expect(written).toContain(`url = "${home.path}/my store"`);
    expect(written).not.toMatch(/^\[embeddings\]/m);
  });

  test("a model of vectors is asked for once; what it is and needs is written", async () => {
    using home = new TempHome();
    const screen = await type(home, "\\n", "olama\\n", "ollama\\n", "ollama nomic-embed-text\\n");
    expect(screen).toMatch(/cannot be "olama"; did you mean "ollama"\? [^]*ollama needs its model/);
    expect(screen).toContain("ended with 0");
    expect(readFileSync(fileOf(home), "utf8")).toMatch(
      /^\[embeddings\]\nprovider = "ollama"\nmodel = "nomic-embed-text"\n$/m,
    );
    expect(await home.pond(["config", "show"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("embeddings.model\tnomic-embed-text\tfile config.toml:"),
    });
  });

  test("Ctrl-D is no answer, and nothing is written", async () => {
    using home = new TempHome();
    expect(await type(home, "\\004")).toMatch(/there was no answer[^]*--yes[^]*ended with 2/);
    expect(existsSync(fileOf(home))).toBe(false);
  });

  test("Ctrl-C ends it as any command", async () => {
    using home = new TempHome();
    expect(await type(home, "\\003")).toMatch(/pond: interrupted[^]*ended with 130/);
    expect(existsSync(fileOf(home))).toBe(false);
  });
});

test("without a terminal it asks nothing; what is there stays, and a --store that was not written is told", async () => {
  using home = new TempHome();
  expect(await home.pond(["init", "--store", "one"])).toMatchObject({ code: 0, stderr: "" });
  const before = readFileSync(fileOf(home), "utf8");
  expect(before).toContain(`url = "${home.path}/one"`);
  const again = await home.pond(["init", "--yes", "--store", "two"]);
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^note: --store applied to this command only/),
  });
  expect(readFileSync(fileOf(home), "utf8")).toBe(before);
});
