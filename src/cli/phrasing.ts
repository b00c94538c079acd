/** How the command line says what to ask next in a transcript. */
import { shellWord } from "../base/shell.ts";
import type { Phrasing } from "../wire/index.ts";
import type { Style } from "./style.ts";
import { safeLine, safeText } from "./text.ts";

export function phrasing(style: Style): Required<Phrasing> {
  return {
    clean: safeText,
    line: safeLine,
    strong: style.bold,
    faint: style.dim,
    after: (id) => `--after ${shellWord(id)}`,
    before: (id) => `--before ${shellWord(id)}`,
    cursor: (token) => `--cursor ${shellWord(token)}`,
    message: "pond get <message id>",
    session: "pond get <session id>",
    allBranches: "--branch all",
    end: (number) => `--end ${number}`,
    history: "--history",
    state: (session, state, source) =>
      `pond restore ${shellWord(session)}${source === undefined ? "" : ` --source ${shellWord(source)}`} --state ${state}`,
    subagents: "--subagents is given",
    exact: "--mode exact",
  };
}
