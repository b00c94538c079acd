/**
 * Names of threads. `session_index.jsonl` is one file for all of them, appended to whenever a thread is renamed. Each
 * line becomes a carrier with a title in the session that it names, so that a rename makes this one file stale and no
 * rollout (spec.md#model-title). Lines that name no session here are kept in one of the index (index-session.ts).
 */
import type { AdapterYield, PlacedRequest, Unit } from "../../kit/sources/index.ts";
import { basename } from "node:path/posix";
import type { JsonObject } from "../../../base/json/json.ts";
import { withFacts } from "../../../model/derived/index.ts";
import { committedMark, committedSession, committedState } from "../../kit/sources/index.ts";
import { isSettled, valueHash } from "../../kit/files/index.ts";
import { extractName, extractTimestamp } from "../../kit/extract/index.ts";
import { SessionLog } from "../../kit/session/index.ts";
import { checkpoint, cursorFor } from "./checkpoint.ts";
import { holdsSession, survey } from "../places.ts";
import { isUndecided, openLog } from "./head.ts";
import { sessionOf } from "./session.ts";
import type { IndexLine } from "./index-session.ts";
import { indexLine, emitIndex } from "./index-session.ts";
import { ADAPTER, parseRolloutName } from "../layout.ts";
import { THREAD_NAME_RANK } from "../records/records.ts";
import { Source } from "./source.ts";

/** A thread may be named before its rollout is written; after this long none will come. */
const UNWRITTEN_MICROS = 3_600_000_000;

interface NameLine {
  readonly record: JsonObject;
  readonly bytes: number;
}

/** The file is small and read as a whole whenever it changed; lines that are stored already change nothing. */
export async function* readThreadNames(
  unit: Unit,
  request: PlacedRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  using source = Source.open(stamp, request.now);
  const { lines, hasTail } = await readLines(source);
  const committed = await source.resumeFrom(cursorFor(unit, request));
  const known = committed > 0 ? committedSession(request.cursor) : undefined;
  const rollouts = await rolloutsByThread(request);
  let isComplete = !hasTail;
  let hasLost = known !== undefined || lines.some(({ threadId }) => threadId === undefined);
  for (const [threadId, named] of byThread(lines)) {
    const results = await Promise.all(
      (rollouts.get(threadId) ?? []).map(async (rollout) => nameSession(rollout, named, { unit, request })),
    );
    const events = results.flatMap((one) => one.events);
    if (events.length > 0) yield events;
    else if (results.some(({ isYoung }) => isYoung) || named.some((line) => isRecent(line, request.now)))
      isComplete = false;
    else hasLost = true;
  }
  const index =
    hasLost && lines.length > 0
      ? emitIndex(lines, { unit, stamp, known, committed, mark: committedMark(request.cursor) })
      : undefined;
  if (index !== undefined) yield index.events;
  if (!isComplete && index === undefined) return;
  const offset = lines.findLast(({ item }) => item.terminated)?.item.end ?? 0;
  const reached = { offset, tail: await source.tail(offset), isUnsettled: !isComplete };
  const state = index === undefined ? {} : { state: committedState(index.session, index.mark) };
  yield [checkpoint(unit, { ...reached, ...state })];
}

async function readLines(
  source: Source,
): Promise<{ readonly lines: readonly IndexLine[]; readonly hasTail: boolean }> {
  const lines: IndexLine[] = [];
  let hasTail = false;
  for await (const items of source.items())
    for (const item of items)
      if (item.kind === "tail") hasTail = true;
      else lines.push(indexLine(item, (record) => extractName(record, "id")));
  return { lines, hasTail };
}

function byThread(lines: readonly IndexLine[]): ReadonlyMap<string, readonly NameLine[]> {
  const threads = new Map<string, NameLine[]>();
  for (const { item, record, threadId } of lines) {
    if (record === undefined || threadId === undefined) continue;
    const named = threads.get(threadId) ?? [];
    named.push({ record, bytes: item.end - item.offset });
    threads.set(threadId, named);
  }
  return threads;
}

async function rolloutsByThread(request: PlacedRequest): Promise<ReadonlyMap<string, readonly Unit[]>> {
  const { found } = await survey(request.place, request.signal);
  return Map.groupBy(
    found.filter(holdsSession),
    (unit) => parseRolloutName(basename(unit.key))?.threadId ?? "",
  );
}

interface Named {
  readonly events: readonly AdapterYield[];
  /** True when the rollout cannot be told yet. */
  readonly isYoung?: boolean;
}

/** The session as its own rollout announces it, then its names. Nothing while the rollout cannot be told yet. */
async function nameSession(
  rollout: Unit,
  lines: readonly NameLine[],
  from: { readonly unit: Unit; readonly request: PlacedRequest },
): Promise<Named> {
  const [stamp] = rollout.files;
  if (stamp === undefined) return { events: [] };
  using source = Source.open(stamp, from.request.now);
  await using opened = await openLog(source);
  const { head } = opened;
  const { now } = from.request;
  if (!head.hasLines || isUndecided(head, stamp, now)) return { events: [], isYoung: !isSettled(stamp, now) };
  const log = new SessionLog(sessionOf(head, rollout, { place: from.request.place }), {
    adapter: ADAPTER,
    path: from.unit.key,
  });
  for (const { record, bytes } of lines) {
    const id = log.identify("session_index", undefined, record);
    const hasName = extractName(record, "thread_name") !== undefined;
    const title = { at: "/source/record/thread_name", rank: THREAD_NAME_RANK };
    const options = withFacts({ source: { file: from.unit.key, record } }, hasName ? { title } : {});
    const timestamp = extractTimestamp(record, "updated_at");
    const drafts = [{ role: "system" as const, options, parts: [] }];
    log.add({ id, timestamp, bytes, hash: valueHash(record), positioned: false, drafts });
  }
  const { unit } = from;
  const path = unit.files[0]?.path ?? unit.key;
  const state = log.emitState({ path, key: unit.key, form: "index", kept: 0, isWhole: true });
  return { events: [...log.drain(), state] };
}

function isRecent({ record }: NameLine, now: number): boolean {
  const named = extractTimestamp(record, "updated_at");
  return named !== undefined && now * 1000 - named < UNWRITTEN_MICROS;
}
