import { expect, test } from "vitest";
import { errorBody, PondError } from "../../base/errors.ts";
import { plainText, sentence, stepsIn } from "../../base/sentence.ts";
import type { NextStep } from "../../base/sentence.ts";
import { worded, wordedError } from "./next-step.ts";
import { pondCommand } from "./pond-command.ts";

test("a command of pond takes any id for what it is", () => {
  expect(pondCommand("restore", "abc", "--to pi")).toBe("pond restore abc --to pi");
  expect(pondCommand("get", "a b")).toBe("pond get 'a b'");
  expect(pondCommand("restore", "-rf", "--end <1 to 3>")).toBe("pond restore --end <1 to 3> -- -rf");
  expect(pondCommand("get", "--help")).toBe("pond get -- --help");
});

test.each<[NextStep, command: string, plain: string]>([
  [{ do: "repair" }, "pond repair", "repair"],
  [{ do: "show_settings" }, "pond config show", "show_settings"],
  [{ do: "verify", stored: true }, "pond verify --stored", "verify (stored: true)"],
  [{ do: "search", query: "a b" }, "pond search 'a b'", "search (query: a b)"],
  [
    { do: "sync", adapters: { choose: "client" }, paths: "/a b" },
    "pond sync --adapter <client> --path '/a b'",
    "sync (adapters: <client>, paths: /a b)",
  ],
  [
    { do: "restore", session_id: "-rf", to: "pi", out: { choose: "another folder" }, map_paths: "/a=/b" },
    "pond restore --to pi --out <another folder> --map-path /a=/b -- -rf",
    "restore (session_id: -rf, to: pi, out: <another folder>, map_paths: /a=/b)",
  ],
  [
    { do: "restore", session_id: { choose: "session" }, store: { choose: "that copy" } },
    "pond restore <session> --store <that copy>",
    "restore (session_id: <session>, store: <that copy>)",
  ],
  [{ do: "resume", session_id: "s", to: "pi" }, "pond resume s --in pi", "resume (session_id: s, to: pi)"],
])("%j is a command here, and readable without one", (step, command, plain) => {
  const text = sentence`run ${step} first`;
  expect(worded(text)).toBe(`run ${command} first`);
  expect(plainText(text)).toBe(`run ${plain} first`);
});

test("a sentence in a sentence keeps its steps, in order", () => {
  const inner = sentence`run ${{ do: "sync" }} ${2} times`;
  const text = sentence`${inner}; ${{ do: "repair" }} with ${{ field: "map_paths" }}`;
  expect(stepsIn(text)).toEqual([{ do: "sync" }, { do: "repair" }]);
  expect(worded(text)).toBe("run pond sync 2 times; pond repair with --map-path");
});

test("an error is printed with flags and commands, and has the steps as data", () => {
  const error = new PondError("validation_failed", sentence`${{ field: "out" }} x is a file`, {
    hint: sentence`run ${{ do: "repair" }}`,
    data: { field: "out", value: "x" },
  });
  expect(error).toMatchObject({ message: "out x is a file", hint: "run repair" });
  expect(errorBody(wordedError(error)).error).toEqual({
    code: "validation_failed",
    message: "--out x is a file",
    details: { field: "out", value: "x", hint: "run pond repair", next_steps: [{ do: "repair" }] },
  });
});
