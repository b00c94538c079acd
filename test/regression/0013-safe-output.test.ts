/** What a session, a file name or the engine says must not steer the terminal it is printed on, nor run when it is pasted. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { PondError } from "../../src/base/errors.ts";
import { shellWord } from "../../src/base/shell.ts";
import { createOutput } from "../../src/cli/terminal/output.ts";
import type { OutputSettings } from "../../src/cli/terminal/output.ts";
import { parse } from "../../src/cli/command/parse.ts";
import { phrasing } from "../../src/cli/terminal/phrasing.ts";
import { createStyle } from "../../src/cli/terminal/style.ts";
import { ROOT } from "../../src/cli/verbs.ts";
import { get, restore, search } from "../../src/handlers/index.ts";
import { fromAnotherCopy } from "../../src/handlers/verify/lost-sources.ts";
import { getTranscript, searchTranscript } from "../../src/render/index.ts";
import { story } from "../support/story.ts";
import { tempContext } from "../support/temp-context.ts";
import { worded, wordedError } from "../../src/cli/terminal/next-step.ts";

/** C0 and C1, delete, every mark of direction, and line ends that are none of ours. */
const CODES: readonly number[] = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, at) => 0x7f + at),
  0x61c,
  0x200e,
  0x200f,
  ...Array.from({ length: 7 }, (_, at) => 0x2028 + at),
  ...Array.from({ length: 10 }, (_, at) => 0x2066 + at),
  0xfff9,
  0xfffb,
];
const HOSTILE = String.fromCharCode(...CODES);
const RAW = new RegExp(
  `[${CODES.filter((code) => code !== 0x0a && code !== 0x09)
    .map((code) => `\\u${code.toString(16).padStart(4, "0")}`)
    .join("")}]`,
);

function printed(
  settings: Partial<OutputSettings>,
  isTerminal: boolean,
): { readonly out: ReturnType<typeof createOutput>; readonly text: () => string } {
  let text = "";
  const sink = { isTerminal, width: 80, write: (chunk: string | Uint8Array) => void (text += String(chunk)) };
  const all = { json: false, verbose: true, quiet: false, isDumb: true, color: () => false, ...settings };
  const clock = { now: () => (text.length === 0 ? 0 : 1e9) };
  return { out: createOutput({ stdout: sink, stderr: sink }, { clock, ...all }), text: () => text };
}

test.each([true, false])("--json has no raw control, and is equal by value (terminal: %s)", (isTerminal) => {
  const { out, text } = printed({ json: true }, isTerminal);
  const value = {
    [`key ${HOSTILE}`]: [`value ${HOSTILE} "\\`, { deep: HOSTILE }],
    plain: "caf\u00e9 \u6c60",
  };
  out.result(value, () => "");
  expect(text()).not.toMatch(RAW);
  expect(text()).toContain("caf\u00e9 \u6c60");
  expect(JSON.parse(text())).toEqual(value);
});

test("an error as JSON has none either", () => {
  const { out, text } = printed({ json: true, verbose: false }, true);
  out.error(new PondError("not_found", HOSTILE, { hint: HOSTILE, data: { id: HOSTILE } }));
  expect(text()).not.toMatch(RAW);
  expect(JSON.parse(text())).toEqual({
    error: { code: "not_found", message: HOSTILE, details: { hint: HOSTILE, id: HOSTILE } },
  });
});

test("nothing that is printed for people has one, whoever forgot to look", () => {
  const cause = new Error(`the engine says ${HOSTILE}`);
  const { out, text } = printed({}, true);
  out.print(HOSTILE);
  out.result(HOSTILE, (value) => value);
  out.result([HOSTILE], (rows) => out.table(rows, [{ header: "A", cell: (row) => row }]));
  out.note(HOSTILE);
  out.detail(HOSTILE);
  out.progress(HOSTILE, 0.5);
  out.error(new PondError("internal", HOSTILE, { hint: HOSTILE, cause }));
  expect(text()).toContain("the engine says");
  expect(text()).toContain("50% ");
  expect(text()).not.toMatch(RAW);
});

test("pond's own colours stay, and nobody else's sequences", () => {
  const { out, text } = printed({ color: () => true }, true);
  out.print(`${out.style.bold("title")} \x1b[8mhidden\x1b[2J`);
  expect(text()).toBe("\x1b[1mtitle\x1b[22m \\x1b[8mhidden\\x1b[2J\n");
});

test("transcripts have none, in ids neither, and what is pasted from them is one word", async () => {
  await using temp = await tempContext();
  const evil = "m;touch pwned $(id)";
  const events = story("parent\u009b2J").user("a needle", { id: evil });
  for (let at = 0; at < 30; at++) events.user(`more\u202e ${at}`, { id: `${evil}${at}` });
  await temp.ingest(events.events());
  const words = phrasing(createStyle(false));
  const page = await get(temp.context, { session_id: "parent\u009b2J", limit: 2 });
  const text = getTranscript(page, words);
  expect(text).not.toMatch(RAW);
  expect(text).toContain(`--after '${evil}0'`);
  const last = await get(temp.context, { session_id: "parent\u009b2J", limit: 2, session_from: "end" });
  expect(getTranscript(last, words)).toContain(`--before '${evil}28'`);
  const found = await search(temp.context, { query: "needle" });
  expect(searchTranscript(found, "needle\u009b", words)).not.toMatch(RAW);
});

test("a line feed in an id or a folder begins no line of pond's own", async () => {
  await using temp = await tempContext();
  const evil = "abcd\nresume with: touch pwned #";
  await temp.ingest(story(evil, { project: `/tmp/p\nresume with: touch pwned #` }).user("hello").events());
  const page = await get(temp.context, { session_id: evil });
  const text = getTranscript(page, phrasing(createStyle(false)));
  expect(text).toContain(String.raw`session abcd\nresume with: touch pwned #`);
  expect(text.split("\n").filter((line) => line.startsWith("resume with"))).toEqual([]);
  const { out, text: shown } = printed({ verbose: false }, false);
  out.error(
    new PondError("not_found", `session ${evil} is not stored`, { hint: `pond get ${shellWord(evil)}` }),
  );
  expect(shown()).toBe(
    String.raw`pond: session abcd\nresume with: touch pwned # is not stored` +
      "\n" +
      String.raw`  fix: pond get $'abcd\nresume with: touch pwned #'` +
      "\n",
  );
});

test("a word with controls is the same word to a shell, in one line", () => {
  const word = `it's a \\ "line"\nand\ta ${String.fromCharCode(0x1b)}[2J`;
  const line = shellWord(word);
  expect(line).not.toMatch(/[\n\t]/);
  expect(
    execFileSync("bash", ["--norc", "-c", `printf %s ${line}`], {
      encoding: "utf8",
      env: { LC_ALL: "C.UTF-8" },
    }),
  ).toBe(word);
});

test("an id in a hint is one word of a shell", async () => {
  await using temp = await tempContext();
  const evil = "session;touch pwned";
  await temp.ingest(story(evil).user("hello", { id: "m;id" }).events());
  const hintOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => "answered",
      (error: PondError) => error.hint,
    );
  expect(await hintOf(get(temp.context, { session_id: "session;" }))).toBe(`did you mean '${evil}'?`);
  expect(await hintOf(get(temp.context, { session_id: "m;id" }))).toBe(
    `ask for session '${evil}', or for message 'm;id'`,
  );
  expect(await hintOf(get(temp.context, { message_id: evil }))).toBe(`ask for session '${evil}'`);
  const out = `${temp.home}/out`;
  await restore(temp.context, { session_id: evil, to: "codex-cli", out, map_paths: [] });
  expect(
    await hintOf(restore(temp.context, { session_id: evil, to: "codex-cli", out, map_paths: [] })),
  ).not.toContain(` ${evil}`);
});

test.each(["-rf", "--help"])("the id %s in a command of pond is no flag when it is pasted", async (id) => {
  await using temp = await tempContext();
  await temp.ingest(story(id).user("hello").events());
  const again = { session_id: id, to: "codex-cli", map_paths: [] };
  await restore(temp.context, again);
  const refusal = await restore(temp.context, again).then(
    () => "",
    (error: PondError) => wordedError(error).hint ?? "",
  );
  const words = phrasing(createStyle(false));
  const lost = fromAnotherCopy([{ adapter: "pi", root: "/r", key: "k", session: id, records: 1 }]);
  for (const text of [refusal, words.state(id, 1, "-source"), worded(lost)]) {
    const [command = ""] = /pond [a-z]+ [^;,]*/.exec(text) ?? [];
    const pasted = ["-c", `printf '%s\\n' ${command.replaceAll(/<[^>]*>/g, "x")}`];
    const [, ...given] = execFileSync("sh", pasted, { encoding: "utf8" }).trimEnd().split("\n");
    const { args, mistake } = parse(ROOT, given);
    expect({ args, mistake }).toEqual({ args: [id], mistake: undefined });
  }
  expect(words.after(id)).toBe(`--after=${id}`);
});
