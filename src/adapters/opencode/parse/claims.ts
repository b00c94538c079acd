/**
 * Who holds which session in a place (docs/adapters/opencode.md#identity). Every container that holds a session is a
 * source of it, under the client's id; a tree's copy of what the database beside it holds is compared and not stored.
 */
import { isJsonObject } from "../../../base/json/json.ts";
import type { AdapterEnv, Place } from "../../kit/sources/index.ts";
import { copyId, nameOfSource } from "../../kit/sources/index.ts";
import { valueHash } from "../../kit/files/index.ts";
import { extractName, without } from "../../kit/extract/index.ts";
import { SqliteFile } from "../../kit/database/index.ts";
import type { Database, Found } from "../units.ts";
import { dataFolderOf } from "../layout.ts";
import { DatabaseReader } from "./database.ts";
import type { SourceRecord } from "../records/record.ts";
import { idOf } from "../records/record.ts";
import type { Identity } from "./session.ts";
import type { SessionSource } from "../records/source.ts";
import type { Tree, TreeSession } from "../trees.ts";

export interface InTree {
  readonly tree: Tree;
  readonly session: TreeSession;
}

/** The hashes of a session's records by their ids, by session. */
type Hashes = ReadonlyMap<string, ReadonlyMap<string, string>>;

const IDS: ReadonlySet<string> = new Set(["id", "sessionID", "messageID"]);

export class Claims {
  readonly found: Found;
  /** The sessions of trees by the keys of their units. */
  readonly treeSessions: ReadonlyMap<string, InTree>;
  readonly #place: Place;
  readonly #machine: AdapterEnv;
  readonly #sessions = new Map<string, Promise<ReadonlySet<string>>>();
  readonly #hashes = new Map<string, Promise<Hashes>>();

  constructor(found: Found, place: Place, machine: AdapterEnv) {
    this.found = found;
    this.#place = place;
    this.treeSessions = new Map(
      found.trees.flatMap((tree) =>
        [...tree.sessions.values(), ...tree.strays.values()].map(
          (session) => [session.key, { tree, session }] as const,
        ),
      ),
    );
    this.#machine = machine;
  }

  /** The id of a session here, and its parent's. */
  identify(source: SessionSource): Identity {
    return { id: this.idOf(source, source.id), parent: extractName(source.facts, "parentID") };
  }

  /** Tells what a database holds, by one who has just looked. */
  learn(database: string, sessions: Iterable<string>): void {
    this.#sessions.set(database, Promise.resolve(new Set(sessions)));
  }

  /** The records of a tree's session in the database beside it, where it has newer ones; undefined when it has none. */
  async supersededBy(tree: Tree, session: string): Promise<ReadonlyMap<string, string> | undefined> {
    for (const database of this.#databasesBeside(tree))
      if ((await this.#heldBy(database)).has(session)) return (await this.#hashesIn(database)).get(session);
    return undefined;
  }

  /** The sessions of the trees beside a database. */
  besides(database: string): readonly InTree[] {
    const folder = dataFolderOf(database, "database");
    return this.found.trees
      .filter(({ root, era }) => dataFolderOf(root, era) === folder)
      .flatMap((tree) => [...tree.sessions.values()].map((session) => ({ tree, session })));
  }

  /** Whether a session that a database has not is in another container beside it; what nobody has is the first one's. */
  async elsewhere(database: string): Promise<(session: string) => boolean> {
    const folder = dataFolderOf(database, "database");
    const databases = this.found.databases.filter(({ key }) => dataFolderOf(key, "database") === folder);
    if (databases[0]?.key !== database) return () => true;
    const held = new Set(this.besides(database).map(({ session }) => session.id));
    for (const other of databases.slice(1)) for (const id of await this.#heldBy(other)) held.add(id);
    return (session) => held.has(session);
  }

  /** The newer tree that a session of an older one was copied to, if there is one. */
  newerTree(tree: Tree, session: string): Tree | undefined {
    if (tree.era !== "project") return undefined;
    const folder = dataFolderOf(tree.root, tree.era);
    return this.found.trees.find(
      (other) =>
        other.era === "storage" &&
        dataFolderOf(other.root, other.era) === folder &&
        other.sessions.has(session),
    );
  }

  /** The id here of a session of a container: every container that holds a session is a source of it. */
  idOf({ container, isStray }: Pick<SessionSource, "container" | "isStray">, id: string): string {
    // What is left of a session elsewhere never mixes with the session itself, wherever that is.
    return isStray === true ? copyId(id, nameOfSource(this.#place, container)) : id;
  }

  #databasesBeside(tree: Tree): readonly Database[] {
    const folder = dataFolderOf(tree.root, tree.era);
    return this.found.databases.filter(({ key }) => dataFolderOf(key, "database") === folder);
  }

  #heldBy(database: Database): Promise<ReadonlySet<string>> {
    const sessions = this.#sessions.get(database.key) ?? readSessions(database, this.#machine);
    this.#sessions.set(database.key, sessions);
    return sessions;
  }

  /** Of all sessions that a tree beside the database has too, because one who asks for one will ask for all. */
  #hashesIn(database: Database): Promise<Hashes> {
    const trees = this.found.trees.filter((tree) => this.#databasesBeside(tree).includes(database));
    const shared = new Set(trees.flatMap((tree) => [...tree.sessions.keys()]));
    const hashes = this.#hashes.get(database.key) ?? readHashes(database, shared, this.#machine);
    this.#hashes.set(database.key, hashes);
    return hashes;
  }
}

/** How many of these records another container does not have as they are. */
export function differencesTo(
  held: ReadonlyMap<string, string> | undefined,
  records: readonly SourceRecord[],
): number {
  return records.filter((record) => held?.get(idOf(record) ?? "") !== contentHash(record)).length;
}

async function readSessions(database: Database, machine: AdapterEnv): Promise<ReadonlySet<string>> {
  try {
    await using file = await SqliteFile.open(database.path, machine.scratch);
    const table = ["session", "sessions"].find((name) => file.columns(name).includes("id"));
    return new Set(
      table === undefined ? [] : file.all(`SELECT id FROM ${table}`).map(({ id }) => String(id)),
    );
  } catch {
    // The database is a unit of its own: reading it tells what is wrong.
    return new Set();
  }
}

async function readHashes(
  database: Database,
  shared: ReadonlySet<string>,
  machine: AdapterEnv,
): Promise<Hashes> {
  const hashes = new Map<string, ReadonlyMap<string, string>>();
  await using file = await SqliteFile.open(database.path, machine.scratch);
  const reader = new DatabaseReader(file, database.key);
  for (const id of reader.isReadable ? shared : []) hashes.set(id, await hashesOf(reader.open(id)));
  return hashes;
}

/** The hashes of a session's messages and parts, by their ids. */
export async function hashesOf(source: SessionSource): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for (let index = 0; index < source.count; index += 1) {
    const message = await source.message(index);
    for (const record of [message, ...message.parts]) hashes.set(idOf(record) ?? "", contentHash(record));
  }
  return hashes;
}

/** What a record says beside its ids, which containers keep in different places. */
function contentHash({ value }: SourceRecord): string {
  if (!("json" in value)) return value.raw;
  return valueHash(isJsonObject(value.json) ? without(value.json, IDS) : value.json);
}
