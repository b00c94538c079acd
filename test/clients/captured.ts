/** Sessions that real clients made, from the fixtures, and what their turns are in the Messages API. */
import { join } from "node:path";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Lineage } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { lineagesOf, readFolder } from "../support/adapter-run.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/adapters");

export interface Captured {
  /** Below the fixtures; it begins with the client's name. */
  readonly place: string;
  readonly id: string;
}

/** A session with its descendants. */
export async function captured({ place, id }: Captured): Promise<Lineage> {
  const runs = await readFolder(adapterNamed(place.split("/")[0] ?? "")!, join(FIXTURES, place));
  const all = (lineages: readonly Lineage[]): readonly Lineage[] =>
    lineages.flatMap((lineage) => [lineage, ...all(lineage.children)]);
  const lineages = all(lineagesOf(replay(runs.flatMap(({ events }) => events))));
  return lineages.find(({ state }) => state.session.id === id)!;
}

/** Claude Code: calls, a failure and a picture. */
export const NOTES = {
  place: "claude-code/projects",
  id: "e78e1be3-8fad-455a-adfe-a548a4aafee2",
  turns: [
    "user: List the notes \u{1F4DD} please",
    "assistant: I will look.",
    "call: Bash cat notes.txt",
    "result: alpha\nbeta",
    "assistant: Two notes: alpha and beta.",
    "user: Break something",
    "call: Bash exit 3",
    "failure: Exit code 3",
    "assistant: It failed as asked.",
    "user: Look at the picture",
  ],
} as const;

/** Claude Code: compacted, with a subagent. */
export const COMPACTED_NOTES = {
  place: "claude-code/projects",
  id: "42a619cc-bb76-46e4-81e9-08563bb4c708",
} as const;

/** Codex: a thread with forks, and one of an older history mode that is compacted. */
export const LISTING = {
  place: "codex-cli/home",
  id: "01a1e1d6-bf5e-7902-8eb6-c6db4b0f3477",
  turns: [
    "user: Please list the files in this folder.",
    "assistant: I will look.",
    'call: exec_command {"cmd":"ls"}',
    "result: Chunk ID:",
    "assistant: There is a README.md and an AGENTS.md.",
  ],
} as const;
export const COMPACTED_LISTING = {
  place: "codex-cli/home",
  id: "01a1e1d6-dc28-7033-8d22-b4de37cc0373",
} as const;
