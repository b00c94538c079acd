/** A session whose sources went different ways, and a record that was rewritten, as a user sees them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const RETRY = "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01";
const home = new TempHome();

beforeAll(async () => {
  home.addDemoSessions();
  await home.pond(["sync", "--quiet"]);
  const places = join(home.path, ".claude/projects");
  const name = readdirSync(places, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith(`${RETRY}.jsonl`),
  )!;
  const log = readFileSync(join(places, name), "utf8");
  // The last prompt was another one here, and later; then it was rewritten.
  for (const text of ["Water the quince", "Water the quince twice"]) {
    const records = log.trimEnd().split("\n");
    const prompt = records.findLastIndex((line) => line.includes('"type":"user"'));
    const record = JSON.parse(records[prompt]!) as Record<string, unknown>;
    const changed = { ...record, uuid: "c0ffee00-0000-4000-8000-000000000001" };
    const said = {
      ...changed,
      timestamp: "2026-10-03T10:00:00.000Z",
      message: { role: "user", content: text },
    };
    const other = join(home.path, "other", name);
    mkdirSync(dirname(other), { recursive: true });
    writeFileSync(other, `${[...records.slice(0, prompt), JSON.stringify(said)].join("\n")}\n`);
    const args = ["sync", "--quiet", "--adapter", "claude-code", "--path", join(home.path, "other")];
    await home.pond(args);
  }
  return () => home[Symbol.dispose]();
});

test("sessions and get say that there are two ends, and get reads each", async () => {
  expect((await home.pond(["sessions"])).stdout).toMatch(/LAST\tCLIENT\tTURNS\tENDS\tTITLE/);
  const newest = (await home.pond(["get", RETRY, "--limit", "100"])).stdout;
  expect(newest).toContain("Water the quince twice");
  expect(newest).toMatch(
    /2 ends, newest first: its sources diverged\n {2}1 \| .* \| shown here\n {2}2 \| .* \| diverged after .* \| log .*\.jsonl \| read by .* \| --end 2\n/,
  );
  expect(newest).toContain("1 stored message was replaced or removed; --history shows it");
  const other = (await home.pond(["get", RETRY, "--end", "2", "--limit", "100"])).stdout;
  expect(other).not.toContain("quince");
  expect((await home.pond(["get", RETRY, "--end", "3"])).stderr).toMatch(/has no end 3\n.*1 to 2/);
  const both = await home.pond(["get", RETRY, "--history", "--end", "2"]);
  expect(both.code).toBe(2);
  expect(both.stderr).toMatch(/history shows every end at once.*\n.*leave out history or end/);
  for (const end of ["0", "-1"]) {
    const refused = await home.pond(["get", RETRY, `--end=${end}`]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/1 is the newest/);
  }
  expect((await home.pond(["get", RETRY, "--end", "x"])).stderr).toContain("write --end=1\n");
});

test("each end says the id of its source, and restore takes it", async () => {
  const { ends } = JSON.parse((await home.pond(["get", RETRY, "--json"])).stdout) as {
    ends: { source: { id: string; path: string } }[];
  };
  for (const [at, { source }] of ends.entries()) {
    const out = join(home.path, `restored-${at}`);
    const args = ["restore", RETRY, "--out", out, "--source", source.id, "--json"];
    const report: unknown = JSON.parse((await home.pond(args)).stdout);
    expect(report).toMatchObject({ state: { source: source.id, path: source.path, end: at + 1 } });
  }
  const state = async (...more: string[]) =>
    home.pond(["restore", RETRY, "--out", join(home.path, "state"), ...more]);
  expect((await state("--to", "claude")).stderr).toContain("did you mean claude-code?");
  const unnamed = await state("--state", "0");
  expect(unnamed.code).toBe(2);
  expect(unnamed.stderr).toContain("write --source <path or id>, with one of: ");
  const numbers = (await state("--source", ends[0]!.source.id, "--state", "99")).stderr;
  const [, first] = /its states are (\d+) to \d+; the last is the newest/.exec(numbers)!;
  const earlier = await state("--source", ends[0]!.source.id, "--state", first!);
  expect(earlier).toMatchObject({ code: 0 });
  expect(earlier.stdout).toContain(`this is state ${first}, an earlier one`);
});

test("history and search mark what was replaced", async () => {
  const history = (await home.pond(["get", RETRY, "--history", "--limit", "100"])).stdout;
  expect(history).toMatch(/ \| superseded -+\nWater the quince\n/);
  expect(history).toMatch(/ \| in another end -+\n/);
  const [, count] = /(\d+) states of its sources, the newest first; each can be restored:\n/.exec(history)!;
  const restores = history.match(/ \| pond restore \S+ --source \S+ --state \d+$/gm);
  expect(restores).toHaveLength(Number(count));
  const newest = (await home.pond(["search", "quince"])).stdout;
  expect(newest).toContain("1 message matches");
  expect(newest).toContain("Water the quince twice");
  const all = (await home.pond(["search", "quince", "--superseded"])).stdout;
  expect(all).toContain("2 messages match");
  expect(all).toMatch(/ \| superseded -+\nWater the quince\n/);
});
