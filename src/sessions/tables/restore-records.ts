/**
 * What restores wrote (spec.md#sources-restored): rows of `sources` that say into which session of which client a session
 * was restored, and which of its messages each message there is. They record no state: nothing was read.
 */
import type { JsonValue } from "../../base/json/json.ts";
import { isJsonObject, parseJson, stringifyJson } from "../../base/json/json.ts";
import { valueHash } from "../../base/json/value-hash.ts";
import type { MessageKey, SessionId } from "../../model/index.ts";
import { messageId, sessionId } from "../../model/index.ts";
import type { Predicate } from "../../substrate/engine/predicate.ts";
import type { RowOf, Rows } from "../../substrate/index.ts";
import { and, eq, isIn } from "../../substrate/engine/predicate.ts";
import type { SOURCES } from "./schema.ts";
import { paddedState } from "./states.ts";
import type { SessionTables } from "./tables.ts";

/** In place of the form of a source. A pond that does not know it sees a source without records, which changes nothing. */
const FORM = "restored";

/** A session that was restored, and where to. */
export interface RestoreHead {
  /** The session that was restored. */
  readonly from: SessionId;
  /** The session in the client that it was restored into; the same one where that is its own client. */
  readonly session: SessionId;
  readonly adapter: string;
  /** Who restored it (`readerId`). */
  readonly reader: string;
  /** The file that holds the session. */
  readonly path: string;
  /** Microseconds since 1970. */
  readonly restored_at: number;
  /** Of a native restore whose paths were mapped: the digest of its records, which are not those that are stored. */
  readonly digest?: string;
}

/** A stored message that a restored one says. */
export interface RestoredMessage extends MessageKey {
  /** Its client wrote it, and not the person or the model: what reads the restored one cannot know that. */
  readonly isInjected?: true;
  /**
   * Texts of the restored one, by their ordinals, that what reads it takes for something else: the kind of what a client
   * wrote, or null for what was said. Absent where there is none, and where a pond before noted only `isInjected`.
   */
  readonly kinds?: readonly (readonly [ordinal: number, kind: string | null])[];
  /** How the hash of the record that was written begins. */
  readonly hash?: string;
  /** What else it says, where the client joins what were several messages. */
  readonly others?: readonly MessageKey[];
}

/** The messages that were written, each with the one that it says; null where it says none. */
export type RestoredMessages = ReadonlyMap<string, RestoredMessage | null>;

export interface RestoreRecord extends RestoreHead {
  /** How the file holds the session. */
  readonly form?: string;
  readonly messages: RestoredMessages;
}

const HEAD_COLUMNS = ["session_id", "adapter", "reader", "path", "key", "form", "read_at", "digest"] as const;

export function isRestoreRecord(rows: Rows<typeof SOURCES>, row: number): boolean {
  return rows.string("form", row) === FORM;
}

/** Records a restore; the same one of the same session and file again, after it was deleted, is one more. */
export async function recordRestores(
  tables: SessionTables,
  records: readonly RestoreRecord[],
): Promise<void> {
  const before = await new Restores(tables).of(new Set(records.map(({ from }) => from)));
  const rows = records.map((record) => {
    const again = before.filter((each) => sourceOf(each) === sourceOf(record));
    return restoreRow(record, again.length + 1);
  });
  await tables.sources?.insertRows(rows);
}

/** Where sessions were restored to: few, and asked for with every list, so that they are kept as long as nothing changes. */
export class Restores {
  readonly #tables: Pick<SessionTables, "sources">;
  #version: number | undefined;
  #bySession: ReadonlyMap<string, readonly RestoreHead[]> = new Map();

  constructor(tables: Pick<SessionTables, "sources">) {
    this.#tables = tables;
  }

  /** What pond restored from others, by the beginning of the id that it has there: the last restore into each; of a whole id only that. */
  async beginning(text: string): Promise<readonly RestoreHead[]> {
    await this.#load();
    const all = [...this.#bySession.values()].flat().toSorted((a, b) => a.restored_at - b.restored_at);
    const found = all.filter(({ session, from }) => session !== from && session.startsWith(text));
    const last = new Map<string, RestoreHead>(found.map((head) => [head.session, head]));
    const exact = last.get(text);
    return exact === undefined ? [...last.values()] : [exact];
  }

  /** Those of some sessions that pond restored from others. */
  async targets(sessions: Iterable<SessionId>): Promise<readonly SessionId[]> {
    await this.#load();
    const targets = new Set([...this.#bySession.values()].flat().map(({ session }) => session));
    return [...new Set(sessions)].filter((session) => targets.has(session));
  }

  async #load(): Promise<void> {
    const version = await this.#tables.sources?.version();
    if (version === this.#version) return;
    this.#bySession = Map.groupBy(await readHeads(this.#tables), ({ from }) => from);
    this.#version = version;
  }

  /** Of some sessions, the newest first. */
  async of(sessions: Iterable<string>): Promise<readonly RestoreHead[]> {
    await this.#load();
    const found = [...new Set(sessions)].flatMap((id) => this.#bySession.get(id) ?? []);
    return found.toSorted((a, b) => b.restored_at - a.restored_at);
  }
}

async function readHeads(
  { sources }: Pick<SessionTables, "sources">,
  where: Predicate<typeof SOURCES> = eq("form", FORM),
): Promise<readonly RestoreHead[]> {
  const heads: RestoreHead[] = [];
  if (sources === undefined) return heads;
  for await (const rows of sources.scanBatches({ select: HEAD_COLUMNS, where }))
    for (let row = 0; row < rows.length; row++) heads.push(headAt(rows, row));
  return heads;
}

/** What was restored into a client. */
export function readRestoresInto(
  tables: Pick<SessionTables, "sources">,
  adapter: string,
): Promise<readonly RestoreHead[]> {
  return readHeads(tables, and(eq("form", FORM), eq("adapter", adapter)));
}

/** What restores wrote into some sessions, of others; each restore for itself, the oldest first. */
export async function readRestoreRecords(
  tables: Pick<SessionTables, "sources">,
  sessions: readonly SessionId[],
): Promise<readonly RestoreRecord[]> {
  const records: RestoreRecord[] = [];
  if (tables.sources === undefined || sessions.length === 0) return records;
  const where = and(eq("form", FORM), isIn("key", sessions));
  const options = { select: [...HEAD_COLUMNS, "content"] as const, where };
  for await (const rows of tables.sources.scanBatches(options))
    for (let row = 0; row < rows.length; row++) {
      const head = headAt(rows, row);
      if (head.session === head.from) continue;
      const content = parseJson(rows.string("content", row));
      const form = formIn(content);
      const messages = messagesIn(content, head.from);
      records.push({ ...head, messages, ...(form === undefined ? {} : { form }) });
    }
  return records.toSorted((a, b) => a.restored_at - b.restored_at);
}

function headAt(rows: Rows<typeof SOURCES>, row: number): RestoreHead {
  const digest = rows.string("digest", row);
  return {
    from: sessionId(rows.string("session_id", row)),
    session: sessionId(rows.string("key", row)),
    adapter: rows.string("adapter", row),
    reader: rows.string("reader", row),
    path: rows.string("path", row),
    restored_at: rows.timestamp("read_at", row),
    ...(digest === "" ? {} : { digest }),
  };
}

const sourceOf = ({ adapter, reader, path, session }: RestoreHead): string =>
  valueHash([FORM, adapter, reader, path, session]).slice(0, 20);

function restoreRow(record: RestoreRecord, time: number): RowOf<typeof SOURCES> {
  const { from, session, adapter, reader, path, restored_at, messages, form, digest = "" } = record;
  return {
    session_id: from,
    source: sourceOf(record),
    state: paddedState(time),
    adapter,
    reader,
    path: path.toWellFormed(),
    key: session,
    form: FORM,
    read_at: restored_at,
    recorded_at: null,
    records: 0,
    digest,
    side: "",
    whole: false,
    content: stringifyJson({
      runs: [],
      ...(form === undefined ? {} : { form }),
      messages: [...messages].map((pair) => printPair(pair, from)),
    }),
  };
}

/**
 * The message there, the one it says, the session of that where it is not the restored one but one before it, whether it was
 * injected, how the hash of its record begins, what else it says, each with its session in the same way, and which of its
 * texts are of another kind than they look.
 */
function printPair([id, said]: readonly [string, RestoredMessage | null], from: SessionId): JsonValue {
  if (said === null) return [id];
  const sessionIn = (key: MessageKey): string => (key.session_id === from ? "" : key.session_id);
  const others = (said.others ?? []).map((key) => [key.id, sessionIn(key)]);
  const pair = [id, said.id, sessionIn(said), said.isInjected === true, said.hash ?? ""];
  if (said.kinds !== undefined)
    return [...pair, others, said.kinds.map(([ordinal, kind]) => [ordinal, kind])];
  return others.length === 0 ? pair : [...pair, others];
}

function messagesIn(value: JsonValue, from: SessionId): RestoredMessages {
  const pairs = isJsonObject(value) && Array.isArray(value["messages"]) ? value["messages"] : [];
  return new Map(pairs.flatMap((pair) => parsePair(pair, from)));
}

function formIn(value: JsonValue): string | undefined {
  const form = isJsonObject(value) ? value["form"] : undefined;
  return typeof form === "string" ? form : undefined;
}

function parsePair(
  value: JsonValue,
  from: SessionId,
): readonly (readonly [string, RestoredMessage | null])[] {
  if (!Array.isArray(value)) return [];
  const [id, said, session, isInjected, hash, joined, kinds] = value;
  if (typeof id !== "string") return [];
  if (typeof said !== "string") return [[id, null]];
  const others = (Array.isArray(joined) ? joined : []).flatMap((key) =>
    Array.isArray(key) && typeof key[0] === "string" ? [restoredKeyOf(key[0], key[1], from)] : [],
  );
  const message = {
    ...restoredKeyOf(said, session, from),
    ...(isInjected === true ? { isInjected: true as const } : {}),
    ...(typeof hash === "string" && hash !== "" ? { hash } : {}),
    ...(others.length === 0 ? {} : { others }),
    ...(Array.isArray(kinds) ? { kinds: kinds.flatMap(parseKind) } : {}),
  };
  return [[id, message]];
}

function parseKind(value: JsonValue): readonly (readonly [ordinal: number, kind: string | null])[] {
  if (!Array.isArray(value)) return [];
  const [ordinal, kind] = value;
  const isKind = kind === null || typeof kind === "string";
  return typeof ordinal === "number" && isKind ? [[ordinal, kind]] : [];
}

function restoredKeyOf(id: string, session: JsonValue | undefined, from: SessionId): MessageKey {
  const isOther = typeof session === "string" && session !== "";
  return { session_id: isOther ? sessionId(session) : from, id: messageId(id) };
}
