/** The sessions of the JSON trees in a place, told from the names of their files. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isJsonObject, tryParseJson } from "../../base/json/json.ts";
import type { FileStamp } from "../kit/files/index.ts";
import type { Issue, Place } from "../kit/sources/index.ts";
import type { Era, InTree } from "./layout.ts";
import { joinPath, nameOf } from "../kit/files/path-names.ts";
import { ADAPTER, DATABASE, dataFolderOf, isMisplaced, placeInTree } from "./layout.ts";

/** Larger parts are not opened to see whose they are. */
const MAX_PART_BYTES = 16 * 1024 * 1024;

/** What an id must be to stand in a path. */
const FILE_NAME = /^[\w-][\w.-]*$/;

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
  /** Its messages, or that they are its, could not be listed. */
  readonly isUnlisted?: boolean;
  /** Something beside it is there and could not be looked at. */
  readonly isPartial?: boolean;
}

export interface Tree {
  /** Relative to the place. */
  readonly root: string;
  readonly era: Era;
  readonly sessions: ReadonlyMap<string, TreeSession>;
  /** Parts that are left of sessions of which nothing else is in the tree, by those sessions. */
  readonly strays: ReadonlyMap<string, TreeSession>;
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
  readonly #side: {
    readonly session: string;
    readonly section: string;
    readonly stamp: FileStamp;
  }[] = [];
  readonly #hasDatabase: boolean;

  constructor({ root, era }: Pick<InTree, "root" | "era">, hasDatabase: boolean) {
    this.#root = root;
    this.#era = era;
    this.#hasDatabase = hasDatabase;
  }

  add(key: string, file: InTree["file"], stamp: FileStamp): void {
    if (file.kind === "info") this.#session(file.session).info ??= { key, stamp, project: file.project };
    else if (file.kind === "message") {
      this.#session(file.session).messages.push(stamp);
      this.#owners.set(file.message, file.session);
    } else if (file.kind === "part") this.#parts.push({ file, stamp });
    else if (file.kind === "side") this.#side.push({ session: file.session, section: file.section, stamp });
    else this.#projects.set(file.project, stamp);
  }

  finish(): Tree {
    const strays = new Map<string, Draft>();
    /** By message: a part says whose it is where its message does not. */
    const seen = new Map<string, string>();
    for (const { file, stamp } of this.#parts) {
      const { message } = file;
      const owner = file.session ?? this.#owners.get(message) ?? seen.get(message) ?? sessionIn(stamp);
      if (owner !== undefined) seen.set(message, owner);
      const id = owner ?? message;
      const session = this.#sessions.get(id) ?? draftIn(strays, id);
      session.parts.push(stamp);
    }
    for (const { session, section, stamp } of this.#side) {
      const own = this.#sessions.get(session) ?? strays.get(session);
      if (own !== undefined) own.side.push(stamp);
      // Where there is a database, diffs of sessions that no tree has are its own.
      else if (section !== "session_diff" || !this.#hasDatabase) draftIn(strays, session).side.push(stamp);
    }
    const sessions = this.#finished(this.#sessions);
    return { root: this.#root, era: this.#era, sessions, strays: this.#finished(strays) };
  }

  #finished(drafts: ReadonlyMap<string, Draft>): ReadonlyMap<string, TreeSession> {
    const sessions = new Map<string, TreeSession>();
    for (const [id, { info, messages, parts, side }] of drafts) {
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
    return sessions;
  }

  #session(id: string): Draft {
    return draftIn(this.#sessions, id);
  }
}

function draftIn(drafts: Map<string, Draft>, id: string): Draft {
  const known = drafts.get(id);
  if (known !== undefined) return known;
  const draft: Draft = { messages: [], parts: [], side: [] };
  drafts.set(id, draft);
  return draft;
}

/** The session that a part names: the one thing that is opened when a place is listed, as no path tells it. */
function sessionIn({ path, size }: FileStamp): string | undefined {
  if (size > MAX_PART_BYTES) return undefined;
  try {
    const parsed = tryParseJson(readFileSync(path, "utf8"));
    const id = parsed.kind === "value" && isJsonObject(parsed.value) ? parsed.value["sessionID"] : undefined;
    return typeof id === "string" && FILE_NAME.test(id) ? id : undefined;
  } catch {
    // Whoever reads the part tells what is wrong with it.
    return undefined;
  }
}

export interface TreesFound {
  readonly trees: readonly Tree[];
  /** The keys that belong to a tree, whatever they are in it. */
  readonly owned: ReadonlySet<string>;
  readonly issues: readonly Issue[];
}

/** The trees with what is known of files and folders that could not be looked at, by their keys: no absence. */
export function withFaults(trees: readonly Tree[], faulty: readonly string[]): readonly Tree[] {
  return trees.map((tree) => {
    const own = faulty.filter((key) => key === tree.root || key.startsWith(`${tree.root}/`));
    if (own.length === 0) return tree;
    const sections = own.map((key) => key.slice(tree.root.length + 1).split("/"));
    const sessions = [...tree.sessions].map(([id, session]): [string, TreeSession] => {
      const isUnlisted = sections.some(([section = "", folder]) =>
        section === "message"
          ? folder === undefined || folder === id
          : section === "" || section === "session",
      );
      return [id, { ...session, isPartial: true, ...(isUnlisted ? { isUnlisted } : {}) }];
    });
    return { ...tree, sessions: new Map(sessions) };
  });
}

export function treesIn(place: Place, files: ReadonlyMap<string, FileStamp>): TreesFound {
  const drafts = new Map<string, TreeDraft>();
  const owned = new Set<string>();
  const misplaced: Issue[] = [];
  const databases = [...files.keys()].filter((key) => DATABASE.test(nameOf(key)));
  const dataFolders = new Set(databases.map((key) => dataFolderOf(key, "database")));
  for (const [key, stamp] of files) {
    if (isMisplaced(key))
      misplaced.push(unexpected(stamp.path, "no version of opencode keeps a file here; it is not stored"));
    const found = placeInTree(key);
    // Without a folder above it, only the place's own name tells that it is a tree.
    if (found === undefined || (found.root === "" && !basename(place.path).startsWith("storage"))) continue;
    owned.add(key);
    const hasDatabase = dataFolders.has(dataFolderOf(found.root, found.era));
    const draft = drafts.get(found.root) ?? new TreeDraft(found, hasDatabase);
    drafts.set(found.root, draft);
    draft.add(key, found.file, stamp);
  }
  return { trees: [...drafts.values()].map((draft) => draft.finish()), owned, issues: misplaced };
}

function unexpected(path: string, message: string): Issue {
  return { kind: "unexpected_shape", adapter: ADAPTER, path, message };
}
