/** How the command line says what to ask next in a transcript. */
import { optionWords, shellLine } from "../../base/shell.ts";
import type { Phrasing } from "../../render/index.ts";
import type { Style } from "./style.ts";
import { safeLine, safeText } from "./text.ts";
import { pondCommand } from "./pond-command.ts";

export function phrasing(style: Style): Phrasing & Required<Pick<Phrasing, "subagents">> {
  return {
    clean: safeText,
    line: safeLine,
    strong: style.bold,
    faint: style.dim,
    match: style.match,
    after: (id) => shellLine(optionWords("--after", id)),
    before: (id) => shellLine(optionWords("--before", id)),
    cursor: (token) => shellLine(optionWords("--cursor", token)),
    message: "pond get <message id>",
    session: "pond get <session id>",
    allBranches: "--branch all",
    end: (number) => `--end ${number}`,
    history: "--history",
    state: (session, state, source) => {
      const chosen = source === undefined ? [] : optionWords("--source", source);
      return pondCommand("restore", session, shellLine([...chosen, "--state", String(state)]));
    },
    subagents: "--subagents is given",
    exact: "--mode exact",
  };
}
