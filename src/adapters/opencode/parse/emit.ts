/**
 * A session as canonical events, whatever container it is in: its messages in the client's order, its own record, and
 * what stands beside them. Records that the store has as they are are not written again (spec.md#model-revisions).
 */
import type { AdapterYield, StoredHashes } from "../../kit/sources/index.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import type { Session, Timestamp } from "../../../model/index.ts";
import { timestampFromMillis } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { LogEntry } from "../../kit/session/index.ts";
import { extractName, extractString, extractTimestamp, objectField } from "../../kit/extract/index.ts";
import { SessionLog } from "../../kit/session/index.ts";
import { sideHash } from "../records/hashes.ts";
import { ADAPTER } from "../layout.ts";
import { messageEntry } from "../records/records.ts";
import { isUnattended } from "../records/provenance.ts";
import type { MessageRecord } from "../records/record.ts";
import { idOf } from "../records/record.ts";
import type { Identity } from "../records/session.ts";
import { readHead, restorationOf, sessionOf } from "../records/session.ts";
import { IDLE_AFTER_MS, restOf } from "./settle.ts";
import type { SessionSource, SideRecord } from "../records/source.ts";

/** A session that does not tell its directory yet is told without one only when nothing was written for this long. */
const TELLS_AFTER_MS = 60 * 60 * 1000;

/** How much is read before it is handed on. */
const BATCH_BYTES = 1024 * 1024;

/** Titles that opencode makes up before the model has given one. */
const DEFAULT_TITLE = /^(New session|Child session) - \d{4}-\d\d-\d\dT[\d:.]+Z$/;

export interface EmitContext {
  readonly identity: Identity;
  readonly stored: StoredHashes | undefined;
  readonly now: number;
  /** The container that is read: a file or a folder. */
  readonly path: string;
}

/** The events of a session, in batches. Returns true when something was held back for the next read. */
export async function* emitSession(
  source: SessionSource,
  context: EmitContext,
): AsyncGenerator<readonly AdapterYield[], boolean> {
  // A fault is never absence: of a session whose records cannot be listed nothing is told, and it is read again.
  if (source.isUnlisted === true) {
    yield source.faults().map(({ kind, path, message }) => issueOf({ path }, kind, message));
    return true;
  }
  const head = await readHead(source);
  const toldFrom = source.newest + TELLS_AFTER_MS;
  const isYoung = context.now < toldFrom;
  const scopes = isYoung ? source.scopes : [...source.scopes, source.folder ?? null];
  const session = sessionOf({ ...source, scopes }, head, context.identity);
  if ("fault" in session) {
    if (isYoung && source.kind !== "export") return yield* waits("a session has no directory yet", toldFrom);
    yield [issueOf(source, session.fault, `session ${source.id} records no ${session.fault.slice(3)}`)];
    return false;
  }
  const isNameless = context.identity.parent !== undefined && head.agent === undefined;
  if (isNameless && source.count === 0 && isYoung && extractName(source.facts, "agent") === undefined)
    return yield* waits("a subagent has no name yet", toldFrom);
  const emitter = new Emitter(session, {
    source,
    context,
    first: head.first,
    ...(await restOf(source, context.now)),
  });
  yield* emitter.run();
  if (emitter.held) yield* waits("a session is in use", source.newest + IDLE_AFTER_MS);
  return emitter.held || emitter.hasFaults;
}

async function* waits(reason: string, from: number): AsyncGenerator<readonly AdapterYield[], boolean> {
  yield [{ kind: "waiting", reason, from }];
  return true;
}

interface Task {
  readonly source: SessionSource;
  readonly context: EmitContext;
  /** The first message, as it was looked at for the session. */
  readonly first: MessageRecord | undefined;
  readonly atWork: boolean;
  readonly settled: number;
}

class Emitter {
  readonly #session: Session;
  readonly #task: Task;
  readonly #log: SessionLog;
  #bytes = 0;
  held = false;
  /** Something of the session is there and could not be read. */
  hasFaults = false;

  constructor(session: Session, task: Task) {
    this.#session = session;
    this.#task = task;
    const { source, context } = task;
    this.hasFaults = source.isPartial === true;
    this.#log = new SessionLog(session, { adapter: ADAPTER, path: source.path, stored: context.stored });
  }

  async *run(): AsyncGenerator<readonly AdapterYield[]> {
    const { source, first, settled, context } = this.#task;
    const revert = objectField(source.facts, "revert");
    const reverted = revert && extractString(revert, "messageID");
    const restoration = restorationOf(source.facts);
    const isLed = this.#task.context.identity.parent === undefined;
    const author = isLed && isUnattended(source.facts) ? "unknown" : undefined;
    let leaf: string | null | undefined;
    let previous: string | null = null;
    const count = source.isHeldElsewhere === true ? 0 : source.count;
    for (let index = 0; index < count; index += 1) {
      const message = index === 0 && first !== undefined ? first : await source.message(index);
      if (index >= settled || message.isUnreadable === true) {
        this.#keep(idOf(message) ?? "", message.isUnreadable === true);
        continue;
      }
      const toEntry: NonNullable<SessionSource["entry"]> = source.entry ?? messageEntry;
      const entry = toEntry(message, { log: this.#log, session: source.id, previous, restoration, author });
      if (idOf(message) === reverted)
        leaf = extractString(revert ?? {}, "partID") === undefined ? previous : entry.id.text;
      this.#put(entry);
      previous = entry.id.text;
      if (this.#bytes >= BATCH_BYTES) yield this.#drain();
    }
    this.#putInfo(leaf);
    const isResting = this.#task.context.now - source.newest >= IDLE_AFTER_MS;
    for await (const record of source.side())
      if (record.isUnreadable === true) {
        this.hasFaults = true;
        this.#log.keep(record.name, false);
      } else if (record.isStray !== true || isResting) this.#putSide(record);
      else {
        this.held = true;
        this.#log.keep(record.name, false);
      }
    yield this.#drain();
    const { key, kind: form } = source;
    const isWhole = !this.held && !this.hasFaults;
    const time = objectField(source.facts, "time");
    const updated = time && extractTimestamp(time, "updated");
    if (updated !== undefined) this.#log.see(updated);
    yield [this.#log.told({ path: context.path, key, form, kept: 0, isWhole })];
  }

  /** A message that is not told now: what was told of it before stays. */
  #keep(record: string, isUnreadable: boolean): void {
    if (isUnreadable) this.hasFaults = true;
    else this.held = true;
    if (this.#task.context.stored?.isKnown(record) === true) this.#log.keep(record, true);
  }

  #putInfo(leaf: string | null | undefined): void {
    const { info, facts, id } = this.#task.source;
    if (info === undefined) return;
    const time = objectField(facts, "time");
    const title = extractName(facts, "title");
    const own: PondFacts = {
      ...(title === undefined || DEFAULT_TITLE.test(title)
        ? {}
        : { title: { at: "/source/record/title", rank: 20 } }),
      ...(leaf === undefined ? {} : { leaf }),
    };
    const { value, columns } = info;
    const record = columns ?? ("json" in value ? value.json : undefined);
    const body = record === undefined ? { ...value } : { record };
    this.#putCarrier({
      name: id,
      at: info.at,
      bytes: info.bytes,
      timestamp: time && (extractTimestamp(time, "updated") ?? extractTimestamp(time, "created")),
      options: withFacts({ source: body }, own),
    });
  }

  #putSide({ name, source, data, at, bytes }: SideRecord): void {
    const timestamp = timestampFromMillis(at) ?? this.#session.created_at;
    this.#putCarrier({
      name,
      at,
      bytes,
      timestamp,
      options: { source },
      ...(data === undefined ? {} : { data }),
    });
  }

  #putCarrier(carrier: {
    readonly name: string;
    readonly at: number;
    readonly bytes: number;
    readonly timestamp: Timestamp | undefined;
    readonly options: JsonObject;
    readonly data?: Uint8Array;
  }): void {
    const { name, at, bytes, timestamp, options, data } = carrier;
    const said = options["source"] ?? null;
    const hash = sideHash(said, data);
    const part = data && {
      type: "file" as const,
      provenance: "injected" as const,
      data: { kind: "bytes" as const, value: data },
      options: withFacts({}, { injected: "side-file" }),
    };
    this.#put({
      id: this.#log.identify("record", name, hash),
      timestamp: timestamp ?? this.#session.created_at,
      bytes: data === undefined ? bytes : name.length * 3,
      drafts: [{ role: "system", options, parts: part === undefined ? [] : [part] }],
      whole: () => said,
      positioned: false,
      hash,
      at,
    });
  }

  /** While the session is at work, a record that changed will change again: it is taken once the session rests. */
  #put(entry: LogEntry): void {
    this.#bytes += entry.bytes;
    const isHeld = this.#task.atWork && this.#log.isChanged(entry.id.text, entry.hash);
    if (!isHeld) return this.#log.add(entry);
    this.held = true;
    this.#log.keep(entry.id.text, entry.positioned !== false);
  }

  #drain(): readonly AdapterYield[] {
    this.#bytes = 0;
    const { source } = this.#task;
    const faults = source.faults().map(({ kind, path, message }) => issueOf({ path }, kind, message));
    return [...this.#log.drain(), ...faults];
  }
}

function issueOf(
  at: { readonly path: string },
  kind: Extract<AdapterYield, { kind: "issue" }>["issue"]["kind"],
  message: string,
): AdapterYield {
  return { kind: "issue", issue: { kind, adapter: ADAPTER, path: at.path, message } };
}
