/** What a place holds of opencode's sessions: names are listed and files are stat-ed; nothing is opened. */
import { basename, dirname, join } from "node:path";
import { issuesOf, keysBelow, stampFile, walk } from "../kit/sources/discovery.ts";
import type { FileStamp } from "../kit/files/index.ts";
import type { Issue, Place, Unit } from "../kit/sources/index.ts";
import { stampOfMany } from "../kit/folder/stamp.ts";
import { folderOf, joinPath, nameOf } from "../kit/files/path-names.ts";
import { ADAPTER, DATABASE } from "./layout.ts";
import type { Tree, TreeSession } from "./trees.ts";
import { treesIn, withFaults } from "./trees.ts";

/** Folders of a data folder, or of a project, in which no session is: caches, git objects, dependencies. */
const NEVER_ENTERED: ReadonlySet<string> = new Set([
  "node_modules",
  ".git",
  "snapshot",
  "log",
  "bin",
  "repos",
]);

/** An export has the name that its maker gave it; in a folder only such names are looked at. */
const EXPORT_NAME = /^ses_|session|export|opencode/i;

/** Nothing in a tree is an export: its other folders hold shares, permissions and the like. */
const IN_TREE = /(?:^|\/)storage[^/]*\//;

/** Files of the data folder that hold credentials: never opened. */
const SECRETS: ReadonlySet<string> = new Set(["auth.json", "mcp-auth.json", "account.json"]);

export interface Database {
  /** Relative to the place. */
  readonly key: string;
  readonly path: string;
  /** The database, its write-ahead log, and what opencode writes beside it for its sessions. */
  readonly files: readonly FileStamp[];
}

/** Everything that a place holds, each list in the order in which sessions are claimed. */
export interface Found {
  readonly databases: readonly Database[];
  readonly trees: readonly Tree[];
  readonly exports: readonly { readonly key: string; readonly stamp: FileStamp }[];
  readonly issues: readonly Issue[];
}

/** The units of what was found in a place, in the order in which sessions are claimed. */
export function unitsOf(place: Place, found: Found): readonly (Unit | Issue)[] {
  return [
    ...found.issues,
    ...found.databases.map(({ key, files }) => ({ key, files })),
    ...found.trees.flatMap((tree) =>
      [...tree.sessions.values(), ...tree.strays.values()].map((session) =>
        treeUnit(place, { tree, session }, found.databases),
      ),
    ),
    ...found.exports.map(({ key, stamp }) => ({ key, files: [stamp] })),
  ];
}

export async function findIn(place: Place, signal?: AbortSignal): Promise<Found> {
  if (place.files !== undefined) return findNamed(place.files);
  const { files, faults } = await walk(place.path, {
    accepts: (name) => name.endsWith(".json") || DATABASE.test(name.replace(/-wal$/, "")),
    enters: (name) => !NEVER_ENTERED.has(name),
    signal,
  });
  const keyOf = keysBelow(place.path);
  const byKey = new Map(files.map((stamp) => [keyOf(stamp.path), stamp]));
  const { trees, owned, issues } = treesIn(place, byKey);
  return {
    databases: [...byKey.keys()].flatMap((key) => databaseAt(key, byKey)),
    trees: withFaults(
      trees,
      faults.map(({ path }) => keyOf(path)),
    ),
    exports: [...byKey].flatMap(([key, stamp]) => (isExport(key, owned) ? [{ key, stamp }] : [])),
    issues: [...issuesOf(faults, ADAPTER), ...issues],
  };
}

/** What was pointed at by its own name is a database or an export, whatever it is called. */
async function findNamed(paths: readonly string[]): Promise<Found> {
  const databases: Database[] = [];
  const exports: { readonly key: string; readonly stamp: FileStamp }[] = [];
  for (const path of paths) {
    const [stamp, log] = await Promise.all([stampFile(path), stampFile(`${path}-wal`)]);
    const key = basename(path);
    if (stamp === undefined) continue;
    if (key.endsWith(".json")) exports.push({ key, stamp });
    else databases.push({ key, path, files: log === undefined ? [stamp] : [stamp, log] });
  }
  return { databases, trees: [], exports, issues: [] };
}

/** Since 1.2 the diffs of a session still are files beside the database. */
function databaseAt(key: string, files: ReadonlyMap<string, FileStamp>): readonly Database[] {
  const stamp = files.get(key);
  if (stamp === undefined || !DATABASE.test(nameOf(key))) return [];
  const log = files.get(`${key}-wal`);
  const folder = joinPath(folderOf(key), "storage/session_diff");
  const diffs = [...files].flatMap(([name, diff]) => (folderOf(name) === folder ? [diff] : []));
  const all = [
    stamp,
    ...(log === undefined ? [] : [log]),
    ...(diffs.length === 0 ? [] : [stampOfMany(join(dirname(stamp.path), "storage", "session_diff"), diffs)]),
  ];
  return [{ key, path: stamp.path, files: all }];
}

/** How a session of a tree is told depends on the databases that are there: it is looked at again when one comes or goes. */
function treeUnit(
  place: Place,
  { tree: { root }, session }: { readonly tree: Tree; readonly session: TreeSession },
  databases: readonly Database[],
): Unit {
  const { info, project, messages, parts, side } = session;
  const folder = join(place.path, root);
  const beside = databases.map(({ path }) => path);
  const many = (name: string, stamps: readonly FileStamp[]): readonly FileStamp[] =>
    stamps.length === 0 ? [] : [stampOfMany(join(folder, name), stamps, beside)];
  return {
    key: session.key,
    files: [
      ...(info === undefined ? [] : [info]),
      ...many(`message/${session.id}`, messages),
      ...many("part", parts),
      ...(project === undefined ? [] : [project]),
      ...side,
    ],
  };
}

function isExport(key: string, owned: ReadonlySet<string>): boolean {
  const name = nameOf(key);
  const isElsewhere = !owned.has(key) && !IN_TREE.test(key);
  return key.endsWith(".json") && isElsewhere && !SECRETS.has(name) && EXPORT_NAME.test(name);
}
