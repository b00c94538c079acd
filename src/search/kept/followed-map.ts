/**
 * The map of texts of one store and the texts themselves, kept up with its table (spec.md#search-row-map): read once, then only rows that were stored
 * since. Where the rows do not add up - a repair took some out, an older copy of the store is in place - it is read anew. It is
 * never waited for: until it is there, and whenever it cannot follow, a search does without.
 */
import type { MESSAGES, SessionStore } from "../../sessions/index.ts";
import { createdAfter, isNull, not } from "../../substrate/engine/predicate.ts";
import type { Rows } from "../../substrate/index.ts";
import { FileMessages } from "./file-messages.ts";
import { KnownTexts } from "./known-texts.ts";
import { TextMap } from "./text-map.ts";

const COLUMNS = [
  "session_id",
  "id",
  "seq",
  "timestamp",
  "role",
  "text_bytes",
  "repeats",
  "parts",
  "search_text",
] as const;
/** Beyond so many texts, some 300 MB, searches do without a map. */
const MOST_TEXTS = 3_000_000;

/** What is known of the texts of a store. */
export interface Followed {
  readonly map: TextMap;
  readonly texts: KnownTexts;
  readonly files: FileMessages;
}

interface Following extends Followed {
  /** Of the table, and its rows then, with text or without. */
  version: number;
  rows: number;
}

export class FollowedMap {
  readonly #store: SessionStore;
  #followed: Following | undefined;
  #reading: Promise<void> | undefined;
  #following: Promise<Followed | undefined> | undefined;
  #isTooLarge = false;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** Reads the map; nothing where it is there or on its way. */
  read(): Promise<void> {
    this.#reading ??= this.#read()
      // A search that needs what cannot be read says so itself.
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** The map as of now; undefined where there is none. */
  current(): Promise<Followed | undefined> {
    this.#following ??= this.#follow()
      .catch(() => undefined)
      .finally(() => (this.#following = undefined));
    return this.#following;
  }

  get #messages(): SessionStore["tables"]["messages"] {
    return this.#store.tables.messages;
  }

  async #read(): Promise<void> {
    if (this.#followed !== undefined || this.#isTooLarge) return;
    const version = await this.#messages.version();
    const rows = await this.#messages.count();
    const files = new FileMessages(this.#store);
    const followed = { map: new TextMap(), texts: new KnownTexts(this.#store), files, version, rows };
    const options = { select: COLUMNS, where: not(isNull("text_bytes")), withRowId: true };
    for await (const batch of this.#messages.scanBatches(options)) {
      addTexts(followed, batch);
      this.#isTooLarge = followed.map.size > MOST_TEXTS;
      if (this.#isTooLarge) return;
    }
    this.#isTooLarge = !(await files.follow());
    if (this.#isTooLarge) return;
    // Rows that were stored meanwhile are there already, or come by following.
    this.#followed = followed;
  }

  async #follow(): Promise<Followed | undefined> {
    const followed = this.#followed;
    if (followed === undefined) return undefined;
    const [version, knowsFiles] = await Promise.all([this.#messages.version(), followed.files.follow()]);
    if (!knowsFiles) this.#followed = undefined;
    if (!knowsFiles) return undefined;
    if (version === followed.version) return followed;
    let added = 0;
    const options = { select: COLUMNS, where: createdAfter(followed.version), withRowId: true };
    if (version > followed.version)
      for await (const batch of this.#messages.scanBatches(options)) {
        added += batch.length;
        addTexts(followed, batch);
      }
    const rows = await this.#messages.count();
    // Written to meanwhile: the next search follows on.
    if ((await this.#messages.version()) !== version) return undefined;
    if (version > followed.version && followed.rows + added === rows) {
      followed.version = version;
      followed.rows = rows;
      return followed;
    }
    this.#followed = undefined;
    return undefined;
  }
}

function addTexts({ map, texts }: Followed, rows: Rows<typeof MESSAGES>): void {
  for (let at = 0; at < rows.length; at++) {
    const bytes = rows.intOrNull("text_bytes", at);
    const id = rows.utf8("id", at);
    if (bytes === null || id === null) continue;
    const row = rows.rowId(at);
    texts.add(row, rows.stringOrNull("search_text", at) ?? "");
    map.add({
      row,
      session: rows.string("session_id", at),
      seq: rows.intOrNull("seq", at),
      timestamp: rows.timestamp("timestamp", at),
      role: rows.string("role", at),
      bytes,
      id,
      repeats: rows.utf8("repeats", at),
      parts: rows.intOrNull("parts", at),
    });
  }
}
