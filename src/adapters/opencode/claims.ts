/**
 * Who holds which session in a place (docs/adapters/opencode.md#identity). The first claimant has the client's id:
 * databases, then trees, then exports, each by path. A copy in another container has an id of its own, so that two
 * copies never mix their records; a tree's copy of what the database beside it holds is compared and not stored.
 */
import { isJsonObject } from "../../base/json.ts";
import type { AdapterEnv, Place } from "../seam/index.ts";
import { extractName, SqliteFile, valueHash, without } from "../seam/index.ts";
import type { Database, Found } from "./discover.ts";
import { findIn } from "./discover.ts";
import { copyId, dataFolderOf, stemOf } from "./layout.ts";
import { DatabaseReader } from "./read-database.ts";
import type { SourceRecord } from "./record.ts";
import { idOf } from "./record.ts";
import type { Identity } from "./session.ts";
import type { SessionSource } from "./source.ts";
import type { Tree } from "./trees.ts";

/** The sessions of a database, and the hashes of the records of those that a tree beside it has too. */
interface Held {
  readonly sessions: ReadonlySet<string>;
  readonly records: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

const IDS: ReadonlySet<string> = new Set(["id", "sessionID", "messageID"]);

export class Claims {
  readonly found: Found;
  readonly #machine: AdapterEnv;
  readonly #held = new Map<string, Promise<Held>>();

  constructor(found: Found, machine: AdapterEnv) {
    this.found = found;
    this.#machine = machine;
  }

  /** The id of a session here, and its parent's. */
  async identify(source: SessionSource): Promise<Identity> {
    const parent = extractName(source.facts, "parentID");
    const isBeside = parent !== undefined && (await this.#holds(source, parent));
    return {
      id: await this.idOf(source, source.id),
      parent: isBeside ? await this.idOf(source, parent) : parent,
    };
  }

  /** The database that holds a newer form of a tree's session, by what it holds; undefined when none does. */
  async supersededBy(tree: Tree, session: string): Promise<Held["records"] | undefined> {
    for (const database of this.#databasesBeside(tree)) {
      const held = await this.#heldBy(database);
      if (held.sessions.has(session)) return held.records;
    }
    return undefined;
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

  /** The id here of a session of a container. */
  async idOf(container: Pick<SessionSource, "kind" | "container">, id: string): Promise<string> {
    return (await this.#isCopy(container, id)) ? copyId(id, container.container) : id;
  }

  async #isCopy(
    { kind, container }: Pick<SessionSource, "kind" | "container">,
    id: string,
  ): Promise<boolean> {
    if (kind === "export" && stemOf(container) !== id) return true;
    for (const database of this.found.databases) {
      if (database.key === container) return false;
      if ((await this.#heldBy(database)).sessions.has(id)) return true;
    }
    for (const tree of this.found.trees) {
      if (kind === "tree" && tree.root === container) return false;
      if (tree.sessions.has(id)) return true;
    }
    return this.found.exports.some(({ key }) => key < container && stemOf(key) === id);
  }

  async #holds({ kind, container }: SessionSource, id: string): Promise<boolean> {
    if (kind === "export") return false;
    if (kind === "tree")
      return this.found.trees.some((tree) => tree.root === container && tree.sessions.has(id));
    const database = this.found.databases.find(({ key }) => key === container);
    return database !== undefined && (await this.#heldBy(database)).sessions.has(id);
  }

  #databasesBeside(tree: Tree): readonly Database[] {
    const folder = dataFolderOf(tree.root, tree.era);
    return this.found.databases.filter(({ key }) => dataFolderOf(key, "database") === folder);
  }

  #heldBy(database: Database): Promise<Held> {
    const known = this.#held.get(database.key);
    if (known !== undefined) return known;
    const trees = this.found.trees.filter((tree) => this.#databasesBeside(tree).includes(database));
    const held = readHeld(
      database,
      new Set(trees.flatMap((tree) => [...tree.sessions.keys()])),
      this.#machine,
    );
    this.#held.set(database.key, held);
    return held;
  }
}

/** By place and not by path, so that a place that is looked at again is looked at anew. */
const known = new WeakMap<Place, Promise<Claims>>();

export async function claimsOf(place: Place, machine: AdapterEnv): Promise<Claims> {
  const claims = known.get(place) ?? findIn(place).then((found) => new Claims(found, machine));
  known.set(place, claims);
  return claims;
}

/** Called when a place is listed: what was known of it is out of date. */
export function forgetClaims(place: Place): void {
  known.delete(place);
}

/** How many of these records another container does not have as they are. */
export function differencesTo(
  held: ReadonlyMap<string, string> | undefined,
  records: readonly SourceRecord[],
): number {
  return records.filter((record) => held?.get(idOf(record) ?? "") !== contentHash(record)).length;
}

async function readHeld(database: Database, shared: ReadonlySet<string>, machine: AdapterEnv): Promise<Held> {
  try {
    await using file = await SqliteFile.open(database.path, machine.scratch);
    const table = file.columns("session").includes("id") ? "session" : "sessions";
    if (!file.columns(table).includes("id")) return NOTHING;
    const sessions = new Set(file.all(`SELECT id FROM "${table}"`).map(({ id }) => String(id)));
    const reader = new DatabaseReader(file, database.key);
    const records = new Map<string, ReadonlyMap<string, string>>();
    for (const id of shared)
      if (sessions.has(id) && reader.isReadable) records.set(id, await hashesOf(await reader.open(id)));
    return { sessions, records };
  } catch {
    // The database is a unit of its own: reading it tells what is wrong.
    return NOTHING;
  }
}

const NOTHING: Held = { sessions: new Set(), records: new Map() };

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
