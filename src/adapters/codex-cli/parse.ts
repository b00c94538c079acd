/**
 * Reads a rollout into a session (spec.md#adapter-codec). A log that grew is read from its start, quietly up to what
 * is committed, so that ids, positions and pairs come out as if it had been read at once; memory is bounded by the
 * largest record.
 */
import { basename } from "node:path";
import type { AdapterYield, JsonlItem, ReadRequest, Unit } from "../seam/index.ts";
import { committedSession, SessionLog } from "../seam/index.ts";
import { checkpoint, cursorFor, START } from "./checkpoint.ts";
import { isUndecided, openLog, sessionOf } from "./header.ts";
import { isHarnessSession } from "./lineage.ts";
import { CODEX, parseRolloutName } from "./name.ts";
import type { Entry } from "./recorder.ts";
import { entryOf, Recorder } from "./recorder.ts";
import { Replays } from "./replays.ts";
import { Source } from "./source.ts";

/** A file that changed since then may still get the record that settles its last one. */
const SETTLE_MILLIS = 10 * 60_000;

export async function* readRollout(
  unit: Unit,
  request: ReadRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  using source = Source.open(stamp.path);
  await using opened = await openLog(source);
  const { scan } = opened;
  const isForeign = !scan.isRollout && parseRolloutName(basename(unit.key)) === undefined;
  if (scan.hasRecords && isForeign) yield [notARollout(stamp.path)];
  if (!scan.hasRecords || isForeign) return yield [checkpoint(unit, START)];
  if (isUndecided(scan, stamp, request.now))
    return yield [{ kind: "waiting", reason: "no working directory recorded yet" }];

  const session = sessionOf(scan, unit, { place: request.place, known: committedSession(request.cursor) });
  const log = new SessionLog(session, { adapter: CODEX, path: stamp.path, trace: request.trace });
  const recorder = new Recorder(log, {
    isHarness: scan.meta !== undefined && isHarnessSession(scan.meta),
    isChild: session.source_agent !== CODEX,
    replays: new Replays(scan.meta, { parentId: session.parent_session_id, createdAt: session.created_at }),
  });
  const committed = await source.resumeFrom(cursorFor(unit, request));
  const walk = new Walk(log, recorder, { committed, hasSpans: source.isPlain });
  for await (const items of opened.batches) {
    request.signal?.throwIfAborted();
    for (const item of items) walk.add(item);
    const batch = log.drain();
    if (batch.length > 0) yield batch;
  }
  const isUnsettled = request.now - stamp.mtime < SETTLE_MILLIS && walk.isUnsettled;
  if (!isUnsettled) walk.finish();
  const batch = log.drain();
  if (batch.length > 0) yield batch;
  const tail = await source.tail(walk.offset);
  yield [checkpoint(unit, { offset: walk.offset, tail, isUnsettled, session: session.id })];
}

/** A line on its way. */
interface Pending {
  readonly item: JsonlItem;
  /** Absent for a line that is not JSON. */
  readonly entry?: Entry;
}

interface WalkedSource {
  /** Bytes that an earlier read committed. */
  readonly committed: number;
  /** True where the offsets of lines are those of bytes in the file. */
  readonly hasSpans: boolean;
}

/** Places each line once the one after it is known. */
class Walk {
  readonly #log: SessionLog;
  readonly #recorder: Recorder;
  readonly #committed: number;
  readonly #hasSpans: boolean;
  #held: Pending | undefined;
  /** Bytes up to the end of the last line that is placed and ended. */
  offset = 0;

  constructor(log: SessionLog, recorder: Recorder, source: WalkedSource) {
    this.#log = log;
    this.#recorder = recorder;
    this.#committed = source.committed;
    this.#hasSpans = source.hasSpans;
    log.quiet = source.committed > 0;
  }

  add(item: JsonlItem): void {
    // The tail of a line that is being written is no data yet.
    if (item.kind === "tail") return;
    const next: Pending =
      item.kind === "record" ? { item, entry: entryOf(item.value, item.end - item.offset) } : { item };
    this.#settle(next);
    this.#held = next;
  }

  /** True while the last line may mean something else once the next one is there. */
  get isUnsettled(): boolean {
    return this.#held?.entry !== undefined && this.#recorder.needsNext(this.#held.entry);
  }

  finish(): void {
    this.#settle(undefined);
    this.#held = undefined;
  }

  #settle(next: Pending | undefined): void {
    const held = this.#held;
    if (held === undefined) return;
    const { item, entry } = held;
    const isEnded = item.kind === "bad_line" || (item.kind === "record" && item.terminated);
    this.#log.quiet = isEnded && item.end <= this.#committed;
    if (this.#hasSpans) this.#log.record = item;
    if (item.kind === "bad_line") this.#log.addBadLine(item);
    else if (entry !== undefined) this.#recorder.place(entry, next?.entry);
    if (item.kind === "record" && item.glued === 0)
      this.#log.addIssue("glued_records", "several records on one line; all are kept", item);
    if (isEnded && next?.item.line !== item.line) this.offset = item.end;
  }
}

function notARollout(path: string): AdapterYield {
  const message = "not a Codex rollout: its first record is none that Codex writes";
  return { kind: "issue", issue: { kind: "unexpected_shape", adapter: CODEX, path, message } };
}
