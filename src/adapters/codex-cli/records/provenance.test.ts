import { describe, expect, test } from "vitest";
import {
  authored,
  declaredKind,
  injectedKind,
  isMediaLabel,
  isUnattended,
  submittedSpans,
  templateKind,
} from "./provenance.ts";

describe("what the client injects", () => {
  test.each([
    ["# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>", "instructions"],
    ["<user_instructions>\n\nBe brief.\n\n</user_instructions>", "instructions"],
    ["<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "environment-context"],
    ["\n<turn_aborted>\nThe user interrupted.\n</turn_aborted>\n", "interruption"],
    ["<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>", "shell"],
    ["<subagent_notification>\n{}\n</subagent_notification>", "subagent-notification"],
    ["<skill>\n<name>x</name>\n</skill>", "skill"],
    ['<codex_internal_context source="goal">\ngo\n</codex_internal_context>', "goal"],
    ["<external_editor>text</external_editor>", "external-context"],
    ["<user_action>\n  <context>A review.</context>\n</user_action>", "review"],
    [
      "Another language model started to solve this problem and produced a summary of it",
      "compaction-summary",
    ],
    ["Warning: The maximum number of unified exec processes you can keep open is 64", "warning"],
  ])("%j is told by its mark", (text, kind) => expect(injectedKind(text)).toBe(kind));

  test.each([
    "fix <environment_context> parsing",
    "<environment_context> is never closed",
    "# AGENTS.md instructions are too long",
    "# A heading",
    "Warning: this is mine",
    "Another day",
    "",
    " \n",
  ])("%j is written by a person", (text) => expect(injectedKind(text)).toBeUndefined());

  test("labels around pictures are none of the user's words", () => {
    expect(isMediaLabel("<image name=[Image #1]>")).toBe(true);
    expect(isMediaLabel('<image name=[Image #1] path="/tmp/a.png">')).toBe(true);
    expect(isMediaLabel("</image>")).toBe(true);
    expect(isMediaLabel("<image> tags are odd")).toBe(false);
  });
});

describe("what the client submits for a command", () => {
  const start = "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\n";
  const end = "Architecture Overview, or Agent-Specific Instructions.";

  test("is told by how it starts and how it ends", () => {
    expect(templateKind(`${start}Document Requirements\n${end}\n`)).toBe("command");
  });

  test("is not what a person makes of it", () => {
    for (const text of [start, `${start}in French`, `Please: ${start}${end}`, `${start}${end} In French.`])
      expect(templateKind(text)).toBeUndefined();
  });
});

describe("who wrote a stretch", () => {
  const authors = (injected?: string, author?: "unknown") =>
    authored([{ start: 0, end: 1, ...(injected === undefined ? {} : { injected }) }], author)[0]?.author;

  test("is written down for what models inject, and where the session does not imply it", () => {
    expect(["agent-message", "compaction-summary", "unshown"].map((kind) => authors(kind))).toEqual([
      "model",
      "model",
      "model",
    ]);
    expect([authors(), authors("shell"), authors("shell", "unknown")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(authors(undefined, "unknown")).toBe("unknown");
  });

  test("is not known in a session that a program runs", () => {
    expect(isUnattended({ source: "exec" })).toBe(true);
    expect(isUnattended({ source: "mcp", originator: "codex_cli_rs" })).toBe(true);
    expect(isUnattended({ originator: "codex_exec" })).toBe(true);
    expect(isUnattended({ source: "cli", originator: "codex-tui" })).toBe(false);
    expect(isUnattended({ source: { subagent: "review" } })).toBe(false);
    expect(isUnattended({})).toBe(false);
  });
});

describe("a request behind front-end context", () => {
  const pieces = (text: string) =>
    submittedSpans(text).map(({ start, end, injected }) => [injected ?? "typed", text.slice(start, end)]);

  test("is split off at the last mark, with the blank space before it left to the context", () => {
    expect(
      pieces("# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\n\nfix it\n"),
    ).toEqual([
      ["ide", "# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\n\n"],
      ["typed", "fix it\n"],
    ]);
  });

  test("may be empty, so that all of it is context", () => {
    expect(pieces("\n# Files mentioned by the user:\n\n## My request for Codex:\n ")).toEqual([
      ["ide", "\n# Files mentioned by the user:\n\n## My request for Codex:\n "],
    ]);
  });

  test("a text that only mentions the mark is left whole", () => {
    expect(pieces("what does ## My request for Codex: mean?")).toEqual([
      ["typed", "what does ## My request for Codex: mean?"],
    ]);
  });

  test("spans cover the text without gap or overlap", () => {
    for (const text of ["", "x", "# a\n## My request for Codex:", "## My request for Codex:b"]) {
      const spans = submittedSpans(text);
      expect(spans.map(({ start, end }) => text.slice(start, end)).join("")).toBe(text);
    }
  });
});

describe("what the record itself declares", () => {
  const item = (kinds: unknown, metadata?: unknown) =>
    ({
      internal_chat_message_metadata_passthrough: {
        content_item_kinds: kinds,
        content_item_metadata: metadata,
      },
    }) as never;

  test("is taken by position; an unknown kind says nothing", () => {
    expect(declaredKind(item(["user.text", "user.image"]), 1)).toBe("user");
    expect(declaredKind(item(["agents_md.instructions"]), 0)).toBe("agents_md.instructions");
    expect(declaredKind(item(["unknown"]), 0)).toBeUndefined();
    expect(declaredKind(item(["user.text"]), 3)).toBeUndefined();
    expect(declaredKind(item(7), 0)).toBeUndefined();
    expect(declaredKind({}, 0)).toBeUndefined();
  });

  test("names its author where it has no kind", () => {
    expect(declaredKind(item(undefined, [{ provenance: { type: "user" } }]), 0)).toBe("user");
    expect(declaredKind(item(["unknown"], [{ provenance: { type: "harness", hook: true } }]), 0)).toBe(
      "harness",
    );
  });
});
