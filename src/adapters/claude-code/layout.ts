/**
 * Where a file stands in Claude Code's own layout, by its path alone (docs/adapters/claude-code.md#layout). A session
 * is `<folder>/<session id>.jsonl`, its side files stand below `<folder>/<session id>/`, its subagents below
 * `<folder>/<session id>/subagents/`; older versions put `agent-<id>.jsonl` beside the sessions.
 */
import { isUuid } from "../../base/text.ts";
import { folderOf, nameOf } from "../kit/files/path-names.ts";

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "claude-code";

/** A log that is read as one unit. `base` is the path of the session it belongs to, without the extension. */
export type LogPlace =
  | { readonly kind: "session"; readonly base: string; readonly stem: string }
  | { readonly kind: "subagent"; readonly base: string; readonly stem: string; readonly child: string }
  | { readonly kind: "agent"; readonly folder: string; readonly stem: string };

const EXTENSION = ".jsonl";
const META = ".meta.json";
const SUBAGENTS = "subagents";

/** The place of a log by its key (path below the root, with `/`). */
export function placeOfLog(key: string): LogPlace {
  const base = key.slice(0, -EXTENSION.length);
  const cut = subagentsAt(base);
  if (cut !== -1) {
    const parent = base.slice(0, cut);
    return {
      kind: "subagent",
      base: parent,
      stem: nameOf(parent),
      child: base.slice(cut + SUBAGENTS.length + 2),
    };
  }
  const stem = nameOf(base);
  return stem.startsWith("agent-")
    ? { kind: "agent", folder: folderOf(base), stem }
    : { kind: "session", base, stem };
}

/** True for a transcript. A workflow's journal is a file beside transcripts, not one of them. */
export function isLog(key: string): boolean {
  return key.endsWith(EXTENSION) && !(key.endsWith("/journal.jsonl") && subagentsAt(key) !== -1);
}

/** The transcript that a `.meta.json` describes. */
export function transcriptOfMeta(key: string): string | undefined {
  return key.endsWith(META) ? key.slice(0, -META.length) + EXTENSION : undefined;
}

/** The session folder that a file stands in, if any: the outermost folder that has a log of its name beside it. */
export function sessionFolderOf(key: string, hasLog: (key: string) => boolean): string | undefined {
  for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
    const folder = key.slice(0, at);
    const below = key.slice(at + 1);
    if (below.startsWith(`${SUBAGENTS}/`) || below.startsWith("tool-results/")) return folder;
    if (hasLog(folder + EXTENSION)) return folder;
  }
  return undefined;
}

/**
 * The session folder of a file whose session has no log any more: the outermost that is named by a session's id. Not one
 * that holds folders of logs, such as a copy of a whole home.
 */
export function lostSessionFolderOf(
  key: string,
  holdsLogFolders: (folder: string) => boolean,
): string | undefined {
  for (let at = key.indexOf("/"); at !== -1; at = key.indexOf("/", at + 1)) {
    const folder = key.slice(0, at);
    if (isUuid(nameOf(folder)) && !holdsLogFolders(folder)) return folder;
  }
  return undefined;
}

/** Folders in which every file is looked at; elsewhere only logs are. */
export function mayHoldSideFiles(folder: string): boolean {
  return folder.split("/").some((name) => name === SUBAGENTS || name === "tool-results" || isUuid(name));
}

/** The folder in which Claude Code keeps the sessions of a working directory. */
export function slugOf(directory: string): string {
  return directory.replaceAll(/[^A-Za-z0-9]/g, "-");
}

/** Where `/subagents/` starts, when a session's name stands before it. */
function subagentsAt(path: string): number {
  const at = path.indexOf(`/${SUBAGENTS}/`);
  return at > 0 ? at : -1;
}
