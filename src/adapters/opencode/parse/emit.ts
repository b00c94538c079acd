/**
 * A session as canonical events, whatever container it is in: its messages in the client's order, its own record, and
 * what stands beside them. Records that the store has as they are are not written again (spec.md#model-revisions).
 */
import type { AdapterYield, StoredHashes } from "../../kit/sources/index.ts";
import { issueOf } from "../../kit/sources/index.ts";
import type { PondFacts } from "../../../model/derived/index.ts";
import type { Session } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import { extractName, extractString, extractTimestamp, objectField } from "../../kit/extract/index.ts";
import { RewrittenLog, SessionLog } from "../../kit/session/index.ts";
import { ADAPTER } from "../layout.ts";
import { messageEntry } from "../records/records.ts";
import { isUnattended } from "../records/provenance.ts";
import type { MessageRecord } from "../records/record.ts";
import { idOf } from "../records/record.ts";
import type { Identity } from "./session.ts";
import { readHead, restorationOf, sessionOf } from "./session.ts";
import { IDLE_AFTER_MS, restOf } from "./settle.ts";
import type { SessionSource } from "../records/source.ts";

/** A session that does not tell its directory yet is told without one only when nothing was written for this long. */
const TELLS_AFTER_MS = 60 * 60 * 1000;

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
    yield source.faults().map((fault) => issueOf(fault, ADAPTER));
    return true;
  }
  const head = await readHead(source);
  const readableFrom = source.newest + TELLS_AFTER_MS;
  const isYoung = context.now < readableFrom;
  const scopes = isYoung ? source.scopes : [...source.scopes, source.folder ?? null];
  const session = sessionOf({ ...source, scopes }, head, context.identity);
  if ("fault" in session) {
    if (isYoung && source.kind !== "export")
      return yield* waits("a session has no directory yet", readableFrom);
    const message = `session ${source.id} records no ${session.fault.slice(3)}`;
    yield [issueOf({ kind: session.fault, path: source.path, message }, ADAPTER)];
    return false;
  }
  const isNameless = context.identity.parent !== undefined && head.agent === undefined;
  if (isNameless && source.count === 0 && isYoung && extractName(source.facts, "agent") === undefined)
    return yield* waits("a subagent has no name yet", readableFrom);
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
  readonly #task: Task;
  readonly #out: RewrittenLog;

  constructor(session: Session, task: Task) {
    this.#task = task;
    const { source, context, atWork } = task;
    const log = new SessionLog(session, { adapter: ADAPTER, path: source.path, stored: context.stored });
    this.#out = new RewrittenLog(log, {
      adapter: ADAPTER,
      created: session.created_at,
      atWork,
      isResting: context.now - source.newest >= IDLE_AFTER_MS,
      faults: source.faults,
    });
    this.#out.hasFaults = source.isPartial === true;
  }

  get held(): boolean {
    return this.#out.isHeld;
  }

  get hasFaults(): boolean {
    return this.#out.hasFaults;
  }

  async *run(): AsyncGenerator<readonly AdapterYield[]> {
    const { source, first, settled, context } = this.#task;
    const out = this.#out;
    const { log } = out;
    const revert = objectField(source.facts, "revert");
    const reverted = revert && extractString(revert, "messageID");
    const restoration = restorationOf(source.facts);
    const isLed = context.identity.parent === undefined;
    const author = isLed && isUnattended(source.facts) ? "unknown" : undefined;
    let leaf: string | null | undefined;
    let previous: string | null = null;
    const count = source.isHeldElsewhere === true ? 0 : source.count;
    for (let index = 0; index < count; index += 1) {
      const message = index === 0 && first !== undefined ? first : await source.message(index);
      const isUnreadable = message.isUnreadable === true;
      if (index >= settled || isUnreadable) {
        const record = idOf(message) ?? "";
        out.hold(record, { isUnreadable, isStored: context.stored?.isKnown(record) === true });
        continue;
      }
      const toEntry: NonNullable<SessionSource["entry"]> = source.entry ?? messageEntry;
      const entry = toEntry(message, { log, session: source.id, previous, restoration, author });
      if (idOf(message) === reverted)
        leaf = extractString(revert ?? {}, "partID") === undefined ? previous : entry.id.text;
      out.add(entry);
      previous = entry.id.text;
      if (out.isFull) yield out.drain();
    }
    this.#addInfo(leaf);
    for await (const record of source.side()) out.addSide(record);
    yield out.drain();
    const { key, kind: form } = source;
    const time = objectField(source.facts, "time");
    const updated = time && extractTimestamp(time, "updated");
    if (updated !== undefined) log.see(updated);
    const isWhole = !out.isHeld && !out.hasFaults;
    yield [log.emitState({ path: context.path, key, form, kept: 0, isWhole })];
  }

  #addInfo(leaf: string | null | undefined): void {
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
    this.#out.addCarrier({
      name: id,
      at: info.at,
      bytes: info.bytes,
      timestamp: time && (extractTimestamp(time, "updated") ?? extractTimestamp(time, "created")),
      options: withFacts({ source: body }, own),
    });
  }
}
