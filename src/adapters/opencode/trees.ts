/** The sessions of the JSON trees in a place, told from the names of their files. */
import { basename } from "node:path";
import type { FileStamp, Issue, Place } from "../seam/index.ts";
import type { Era, InTree } from "./layout.ts";
import { ADAPTER, folderOf, isMisplaced, joinPath, placeInTree } from "./layout.ts";

/** The files of one session of a tree. */
export interface TreeSession {
  readonly id: string;
  /** Its info file, or the folder of its messages when it has none, relative to the place. */
  readonly key: string;
  readonly info?: FileStamp;
  readonly project?: FileStamp;
  readonly messages: readonly FileStamp[];
  readonly parts: readonly FileStamp[];
  readonly side: readonly FileStamp[];
  /** A folder of it could not be listed. */
  readonly isUnlisted?: boolean;
}

export interface Tree {
  /** Relative to the place. */
  readonly root: string;
  readonly era: Era;
  readonly sessions: ReadonlyMap<string, TreeSession>;
}

interface Draft {
  info?: { readonly key: string; readonly stamp: FileStamp; readonly project: string | undefined };
  readonly messages: FileStamp[];
  readonly parts: FileStamp[];
  readonly side: FileStamp[];
}

/** One tree while its files are being sorted. */
class TreeDraft {
  readonly #root: string;
  readonly #era: Era;
  readonly #sessions = new Map<string, Draft>();
  readonly #projects = new Map<string, FileStamp>();
  /** Which session a message belongs to, by its file's name. */
  readonly #owners = new Map<string, string>();
  readonly #parts: { readonly file: InTree["file"] & { kind: "part" }; readonly stamp: FileStamp }[] = [];
  readonly #side: { readonly session: string; readonly stamp: FileStamp }[] = [];

  constructor(root: string, era: Era) {
    this.#root = root;
    this.#era = era;
  }

  add(key: string, file: InTree["file"], stamp: FileStamp): void {
    if (file.kind === "info") this.#session(file.session).info ??= { key, stamp, project: file.project };
    else if (file.kind === "message") {
      this.#session(file.session).messages.push(stamp);
      this.#owners.set(file.message, file.session);
    } else if (file.kind === "part") this.#parts.push({ file, stamp });
    else if (file.kind === "side") this.#side.push({ session: file.session, stamp });
    else this.#projects.set(file.project, stamp);
  }

  finish(): { readonly tree: Tree; readonly issues: readonly Issue[] } {
    const orphans = new Map<string, FileStamp>();
    for (const { file, stamp } of this.#parts) {
      const owner = file.session ?? this.#owners.get(file.message);
      const session = owner === undefined ? undefined : this.#sessions.get(owner);
      if (session === undefined) orphans.set(folderOf(stamp.path), stamp);
      else session.parts.push(stamp);
    }
    for (const { session, stamp } of this.#side) this.#sessions.get(session)?.side.push(stamp);
    const sessions = new Map<string, TreeSession>();
    for (const [id, { info, messages, parts, side }] of this.#sessions) {
      const project = info?.project === undefined ? undefined : this.#projects.get(info.project);
      sessions.set(id, {
        id,
        key: info?.key ?? joinPath(this.#root, `message/${id}`),
        ...(info === undefined ? {} : { info: info.stamp }),
        ...(project === undefined ? {} : { project }),
        messages,
        parts,
        side,
      });
    }
    const issues = [...orphans.keys()].map((path) =>
      unexpected(path, "parts of a message that is not there; they are not stored"),
    );
    return { tree: { root: this.#root, era: this.#era, sessions }, issues };
  }

  #session(id: string): Draft {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    const draft: Draft = { messages: [], parts: [], side: [] };
    this.#sessions.set(id, draft);
    return draft;
  }
}

export interface TreesFound {
  readonly trees: readonly Tree[];
  /** The keys that belong to a tree, whatever they are in it. */
  readonly owned: ReadonlySet<string>;
  readonly issues: readonly Issue[];
}

export function treesIn(place: Place, files: ReadonlyMap<string, FileStamp>): TreesFound {
  const drafts = new Map<string, TreeDraft>();
  const owned = new Set<string>();
  const misplaced: Issue[] = [];
  for (const [key, stamp] of files) {
    if (isMisplaced(key))
      misplaced.push(unexpected(stamp.path, "no version of opencode keeps a file here; it is not stored"));
    const found = placeInTree(key);
    // Without a folder above it, only the place's own name tells that it is a tree.
    if (found === undefined || (found.root === "" && !basename(place.root).startsWith("storage"))) continue;
    owned.add(key);
    const draft = drafts.get(found.root) ?? new TreeDraft(found.root, found.era);
    drafts.set(found.root, draft);
    draft.add(key, found.file, stamp);
  }
  const finished = [...drafts.values()].map((draft) => draft.finish());
  return {
    trees: finished.map(({ tree }) => tree),
    owned,
    issues: [...misplaced, ...finished.flatMap(({ issues }) => issues)],
  };
}

function unexpected(path: string, message: string): Issue {
  return { kind: "unexpected_shape", adapter: ADAPTER, path, message };
}
