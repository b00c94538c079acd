/**
 * A session as canonical events, whatever container it is in: its messages in the client's order, its own record, and
 * what stands beside them. Records that the store has as they are are not written again (spec.md#model-revisions).
 */
import type { JsonObject } from "../../base/json.ts";
import type { Session, Timestamp } from "../../model/index.ts";
import { timestampFromMillis } from "../../model/index.ts";
import type { AdapterYield, LogEntry, RecordState, StoredRecords } from "../seam/index.ts";
import {
  extractName,
  extractString,
  extractTimestamp,
  objectField,
  SessionLog,
  valueHash,
} from "../seam/index.ts";
import { ADAPTER } from "./layout.ts";
import { messageEntry } from "./messages.ts";
import type { MessageRecord } from "./record.ts";
import { idOf } from "./record.ts";
import type { Identity } from "./session.ts";
import { readHead, restorationOf, sessionOf } from "./session.ts";
import { restOf } from "./settle.ts";
import type { SessionSource, SideRecord } from "./source.ts";

/** A session that does not tell its directory yet is told without one only when nothing was written for this long. */
const TELLS_AFTER_MS = 60 * 60 * 1000;

/** How much is read before it is handed on. */
const BATCH_BYTES = 1024 * 1024;

/** Titles that opencode makes up before the model has given one. */
const DEFAULT_TITLE = /^(New session|Child session) - \d{4}-\d\d-\d\dT[\d:.]+Z$/;

export interface EmitContext {
  readonly identity: Identity;
  readonly stored: StoredRecords | undefined;
  readonly now: number;
}

/** The events of a session, in batches. Returns true when something was held back for the next read. */
export async function* emitSession(
  source: SessionSource,
  context: EmitContext,
): AsyncGenerator<readonly AdapterYield[], boolean> {
  const head = await readHead(source);
  const session = sessionOf(source, head, context.identity);
  const isYoung = context.now - source.newest < TELLS_AFTER_MS;
  if ("fault" in session) {
    if (isYoung && source.kind !== "export") return yield* waits("a session records no directory yet");
    yield [issueOf(source, session.fault, `session ${source.id} records no ${session.fault.slice(3)}`)];
    return false;
  }
  const isNameless = context.identity.parent !== undefined && head.agent === undefined;
  if (isNameless && source.count === 0 && isYoung && extractName(source.facts, "agent") === undefined)
    return yield* waits("a subagent does not tell its name yet");
  const emitter = new Emitter(session, {
    source,
    context,
    first: head.first,
    ...(await restOf(source, context.now)),
  });
  yield* emitter.run();
  if (emitter.held) yield* waits("a session is at work");
  return emitter.held;
}

async function* waits(reason: string): AsyncGenerator<readonly AdapterYield[], boolean> {
  yield [{ kind: "waiting", reason }];
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
  readonly #present = new Set<string>();
  #bytes = 0;
  held = false;

  constructor(session: Session, task: Task) {
    this.#session = session;
    this.#task = task;
    const { source, context } = task;
    this.#log = new SessionLog(session, { adapter: ADAPTER, path: source.path, stored: context.stored });
  }

  async *run(): AsyncGenerator<readonly AdapterYield[]> {
    const { source, first, settled, atWork } = this.#task;
    const revert = objectField(source.facts, "revert");
    const reverted = revert && extractString(revert, "messageID");
    const restoration = restorationOf(source.facts);
    let leaf: string | null | undefined;
    let previous: string | null = null;
    for (let index = 0; index < source.count; index += 1) {
      const message = index === 0 && first !== undefined ? first : await source.message(index);
      if (index >= settled) {
        this.#present.add(idOf(message) ?? "");
        this.held = true;
        continue;
      }
      const toEntry: NonNullable<SessionSource["entry"]> = source.entry ?? messageEntry;
      const entry = toEntry(message, { log: this.#log, session: source.id, previous, restoration });
      if (idOf(message) === reverted)
        leaf = extractString(revert ?? {}, "partID") === undefined ? previous : entry.id.text;
      this.#put(entry);
      previous = entry.id.text;
      if (this.#bytes >= BATCH_BYTES) yield this.#drain();
    }
    this.#putInfo(leaf);
    for await (const record of source.side()) this.#putSide(record);
    if (!atWork) this.#log.addRemovals(this.#present, this.#instant(source.newest));
    yield this.#drain();
  }

  #putInfo(leaf: string | null | undefined): void {
    const { info, facts, id } = this.#task.source;
    if (info === undefined) return;
    const time = objectField(facts, "time");
    const title = extractName(facts, "title");
    const pond = {
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
      options: { source: body, ...(Object.keys(pond).length === 0 ? {} : { pond }) },
    });
  }

  #putSide({ name, source, data, at, bytes }: SideRecord): void {
    const { timestamp } = this.#instant(at);
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
    const value = valueHash(data === undefined ? said : [said, Buffer.from(data).toString("base64")]);
    const part = data && {
      type: "file" as const,
      provenance: "injected" as const,
      data: { kind: "bytes" as const, value: data },
      options: { pond: { injected: "side-file" } },
    };
    this.#put({
      id: this.#log.identify("record", name, value),
      timestamp: timestamp ?? this.#session.created_at,
      bytes: data === undefined ? bytes : name.length * 3,
      drafts: [{ role: "system", options, parts: part === undefined ? [] : [part] }],
      whole: () => said,
      positioned: false,
      state: { value, at },
    });
  }

  /** While the session is at work, a record that changed will change again: it is taken once the session rests. */
  #put(entry: LogEntry & { readonly state: RecordState }): void {
    this.#present.add(entry.id.text);
    this.#bytes += entry.bytes;
    const isHeld = this.#task.atWork && this.#log.standing(entry.id, entry.state.value) === "changed";
    if (isHeld) this.held = true;
    this.#log.quiet = isHeld;
    this.#log.add(entry);
    this.#log.quiet = false;
  }

  #drain(): readonly AdapterYield[] {
    this.#bytes = 0;
    const { source } = this.#task;
    const faults = source.faults().map(({ kind, path, message }) => issueOf({ path }, kind, message));
    return [...this.#log.drain(), ...faults];
  }

  #instant(ms: number): { readonly timestamp: Timestamp; readonly ms: number } {
    return { timestamp: timestampFromMillis(ms) ?? this.#session.created_at, ms };
  }
}

function issueOf(
  at: { readonly path: string },
  kind: Extract<AdapterYield, { kind: "issue" }>["issue"]["kind"],
  message: string,
): AdapterYield {
  return { kind: "issue", issue: { kind, adapter: ADAPTER, path: at.path, message } };
}
