/**
 * Reads a rollout into a session (spec.md#adapter-codec). A log that grew is read on behind the prefix that was kept of
 * it, else from its start, quietly up to what is committed, so that ids, positions and pairs come out as if it had been
 * read at once; memory is bounded by the largest record.
 */
import { basename } from "node:path";
import type { Session } from "../../../model/index.ts";
import type { AdapterYield, PlacedRequest, Unit } from "../../kit/sources/index.ts";
import type { FileStamp, LogMark, ZstdFault } from "../../kit/files/index.ts";
import type { Prefix } from "../../kit/session/index.ts";
import { committedMark, committedSession, committedState } from "../../kit/sources/index.ts";
import { settledFrom } from "../../kit/files/index.ts";
import { resumeFrom, keptValue, keptPrefix, prefixToKeep, SessionLog } from "../../kit/session/index.ts";
import { objectField } from "../../kit/extract/index.ts";
import { checkpoint, cursorFor, endsAlone, START } from "./checkpoint.ts";
import type { HeadFinder } from "./head.ts";
import { isUndecided, openLog } from "./head.ts";
import { sessionOf } from "./session.ts";
import { isHarnessSession } from "./lineage.ts";
import { ADAPTER, parseRolloutName, plainName } from "../layout.ts";
import { isUnattended } from "../records/provenance.ts";
import { PREFIX_FORMAT, RecordMapper } from "../records/records.ts";
import { Replays } from "../records/replays.ts";
import { Source } from "./source.ts";
import { Walk } from "./walk.ts";

/** A file that changed since then may still get the record that settles its last one. */
const SETTLE_MILLIS = 10 * 60_000;

export async function* readRollout(
  unit: Unit,
  request: PlacedRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  using source = Source.open(stamp, request.now);
  await using opened = await openLog(source);
  const { head } = opened;
  const isForeign = !head.isRollout && parseRolloutName(basename(unit.key)) === undefined;
  if (!head.hasLines && source.fault !== undefined) return yield [unreadable(stamp.path, source.fault)];
  if (head.hasLines && isForeign) yield [notARollout(stamp.path)];
  if (!head.hasLines || isForeign) return yield [checkpoint(unit, START)];
  if (isUndecided(head, stamp, request.now))
    return yield [{ kind: "waiting", reason: "no working directory yet", from: settledFrom([stamp]) }];

  const committed = await source.resumeFrom(cursorFor(unit, request));
  const known = committed > 0 ? committedSession(request.cursor) : undefined;
  const mark = committedMark(request.cursor);
  const session = sessionOf(head, unit, { place: request.place, known });
  const { made: walk, prefix: from } = resumeFrom(
    source.isPlain && mark !== undefined ? await keptPrefix(request, PREFIX_FORMAT, committed) : undefined,
    (before) => openWalk(session, { head, source, stamp, request, committed, mark }, before),
  );
  for await (const items of from === undefined ? opened.batches : source.items(from)) {
    request.signal?.throwIfAborted();
    for (const item of items) walk.add(item);
    const batch = walk.drain();
    if (batch.length > 0) yield batch;
  }
  const waiting = source.isPlain ? walk.waiting : undefined;
  const toKeep = waiting && prefixToKeep(request, PREFIX_FORMAT, { ...waiting, headEnd: head.end });
  const isOpen = walk.isLastUnsettled();
  const mayGrow = isOpen && !walk.isLastAlone && request.now - stamp.mtime < SETTLE_MILLIS;
  if (!mayGrow) walk.finish();
  walk.end();
  const batch = walk.drain();
  if (batch.length > 0) yield batch;
  const { offset, mark: reached, kept } = walk;
  // A last record that waits for the next one is not part of the state yet, and of a source that could not be read to its
  // end no state is known.
  if (source.fault === undefined)
    yield [walk.emitState({ path: plainName(stamp.path), key: unit.key, form: "log", kept, isWhole: true })];
  const tail = await source.tail(offset);
  const wasAlone = offset === committed && endsAlone(request);
  const isAlone = wasAlone || walk.endsAlone;
  if (source.fault !== undefined) yield [unreadable(stamp.path, source.fault)];
  // What could not be read, or not yet, is looked at again each time.
  const isUnsettled = mayGrow || walk.hasTail || source.fault !== undefined;
  // The line behind a prefix must be committed: what is known of it was decided by the one before.
  const prefix = waiting !== undefined && waiting.end <= offset ? toKeep : undefined;
  const state = committedState(session.id, reached);
  yield [checkpoint(unit, { offset, tail, isUnsettled, isAlone, state, prefix })];
}

interface OpenRollout {
  readonly head: HeadFinder;
  readonly source: Source;
  readonly stamp: FileStamp;
  readonly request: PlacedRequest;
  readonly committed: number;
  readonly mark: LogMark | undefined;
}

/** A walk from the start, or from where a prefix ends. */
function openWalk(session: Session, rollout: OpenRollout, before: Prefix | undefined): Walk {
  const { head, source, stamp, request, committed, mark } = rollout;
  const origin = { adapter: ADAPTER, path: stamp.path, onRecord: request.onRecord, before: before?.log };
  const log = new SessionLog(session, origin);
  const { parent_session_id: parentId, created_at: createdAt } = session;
  const replayed = before && keptValue(objectField(before.reader, "replays"));
  const setting = {
    isHarness: head.meta !== undefined && isHarnessSession(head.meta),
    isChild: session.source_agent !== ADAPTER,
    isUnattended: head.meta !== undefined && isUnattended(head.meta),
    replays: new Replays(head.meta, { parentId, createdAt }, replayed),
  };
  const mapper = new RecordMapper(log, setting, before?.reader);
  const start = { committed, mark, endsAlone: endsAlone(request) };
  return new Walk(log, mapper, { ...start, hasSpans: source.isPlain, from: before });
}

function unreadable(path: string, { offset, message }: ZstdFault): AdapterYield {
  return { kind: "issue", issue: { kind: "unreadable", adapter: ADAPTER, path, offset, message } };
}

function notARollout(path: string): AdapterYield {
  const message = "not a Codex rollout: Codex writes no such first record";
  return { kind: "issue", issue: { kind: "unexpected_shape", adapter: ADAPTER, path, message } };
}
