/**
 * Where opencode keeps sessions, by path alone (docs/adapters/opencode.md#layout). A data folder holds databases
 * (`opencode*.db`, since 1.2) and trees of JSON files: `storage/{project,session,message,part,session_diff,todo}`, and
 * before mid-2025 `project/<name>/storage/session/{info,message,part}`.
 */
import { folderOf, stemOf as stemIn } from "../kit/files/path-names.ts";

/** The brand: the part of `source_agent` before the first `/`. */
export const ADAPTER = "opencode";

export const DATABASE = /^opencode.*\.db$/;

/** How the parts of a tree are laid out. */
export type Era = "storage" | "project";

/** Which file of a tree a path is. `session` is absent where the path alone does not tell it. */
export type TreeFile =
  | { readonly kind: "info"; readonly session: string; readonly project?: string }
  | { readonly kind: "message"; readonly session: string; readonly message: string }
  | { readonly kind: "part"; readonly session?: string; readonly message: string }
  | { readonly kind: "side"; readonly section: "session_diff" | "todo"; readonly session: string }
  | { readonly kind: "project"; readonly project: string };

export interface InTree {
  /** The tree's folder, relative to the place. */
  readonly root: string;
  readonly era: Era;
  readonly file: TreeFile;
}

const OLD_TREE = /^((?:.*\/)?project\/[^/]+\/storage\/session)\/(info|message|part)\/(.+)\.json$/;
const TREE = /^((?:.*\/)?storage[^/]*|)\/?(session|message|part|session_diff|todo|project)\/(.+)\.json$/;

const IN_SECTION = /(?:^|\/)storage[^/]*\/(?:session|message|part)\//;

/** True for a file of a tree that stands where no version of the client puts one. */
export function isMisplaced(key: string): boolean {
  return IN_SECTION.test(key) && placeInTree(key) === undefined;
}

/** The place of a JSON file in a tree, or undefined when it is in none. */
export function placeInTree(key: string): InTree | undefined {
  const old = OLD_TREE.exec(key);
  if (old !== null) {
    const file = oldFile(old[2] ?? "", (old[3] ?? "").split("/"));
    return file && { root: old[1] ?? "", era: "project", file };
  }
  const match = TREE.exec(key);
  if (match === null) return undefined;
  const file = treeFile(match[2] ?? "", (match[3] ?? "").split("/"));
  return file && { root: match[1] ?? "", era: "storage", file };
}

function treeFile(section: string, names: readonly string[]): TreeFile | undefined {
  const [first = "", second = ""] = names;
  if (names.length === 2) {
    if (section === "session") return { kind: "info", session: second, project: first };
    if (section === "message") return { kind: "message", session: first, message: second };
    if (section === "part") return { kind: "part", message: first };
  }
  if (names.length !== 1) return undefined;
  if (section === "session_diff" || section === "todo") return { kind: "side", section, session: first };
  return section === "project" ? { kind: "project", project: first } : undefined;
}

function oldFile(section: string, names: readonly string[]): TreeFile | undefined {
  const [first = "", second = ""] = names;
  if (section === "info" && names.length === 1) return { kind: "info", session: first };
  if (section === "message" && names.length === 2)
    return { kind: "message", session: first, message: second };
  return section === "part" && names.length === 3
    ? { kind: "part", session: first, message: second }
    : undefined;
}

/** The folder of a message's parts, relative to the tree's. */
export function partFolder(era: Era, session: string, message: string): string {
  return era === "project" ? `part/${session}/${message}` : `part/${message}`;
}

/** The data folder that a tree or a database belongs to, relative to the place: newer forms of a session stand there. */
export function dataFolderOf(key: string, era: Era | "database"): string {
  if (era === "project") return key.replace(/(^|\/)project\/[^/]+\/storage\/session$/, "");
  return folderOf(key);
}

/** A file name without `.json`. */
export const stemOf = (path: string): string => stemIn(path, ".json");
