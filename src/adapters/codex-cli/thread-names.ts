/**
 * Names of threads. `session_index.jsonl` is one file for all of them, appended to whenever a thread is renamed. Each
 * line becomes a carrier with a title in the session that it names, so that a rename makes this one file stale and no
 * rollout (spec.md#model-title).
 */
import { basename } from "node:path/posix";
import type { JsonObject } from "../../base/json.ts";
import { isJsonObject } from "../../base/json.ts";
import type { AdapterYield, FileStamp, ReadRequest, Unit } from "../seam/index.ts";
import { extractName, extractTimestamp, SessionLog } from "../seam/index.ts";
import { checkpoint, START } from "./checkpoint.ts";
import { holdsSession, survey } from "./discover.ts";
import { isUndecided, openLog, sessionOf } from "./header.ts";
import { CODEX, parseRolloutName } from "./name.ts";
import { THREAD_NAME_RANK } from "./recorder.ts";
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
  request: ReadRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  const { threads, issues } = await readLines(stamp, request.now);
  if (issues.length > 0) yield issues;
  const rollouts = await rolloutsByThread(request);
  let isSettled = true;
  for (const [threadId, lines] of threads) {
    const batches = await Promise.all(
      (rollouts.get(threadId) ?? []).map(async (rollout) => nameSession(rollout, lines, { unit, request })),
    );
    const named = batches.flat();
    if (named.length > 0) yield named;
    else if (lines.some((line) => isRecent(line, request.now))) isSettled = false;
  }
  if (isSettled) yield [checkpoint(unit, START)];
}

async function readLines(
  stamp: FileStamp,
  now: number,
): Promise<{ threads: ReadonlyMap<string, readonly NameLine[]>; issues: readonly AdapterYield[] }> {
  const threads = new Map<string, NameLine[]>();
  const issues: AdapterYield[] = [];
  const { path } = stamp;
  using source = Source.open(stamp, now);
  for await (const items of source.items())
    for (const item of items) {
      if (item.kind === "tail") continue;
      const record = item.kind === "record" && isJsonObject(item.value) ? item.value : undefined;
      const threadId = record === undefined ? undefined : extractName(record, "id");
      if (record === undefined || threadId === undefined) {
        const { line, offset } = item;
        const kind = item.kind === "bad_line" ? item.reason : "unexpected_shape";
        const message =
          item.kind === "bad_line" ? item.message : "a line of the session index names no thread";
        issues.push({ kind: "issue", issue: { kind, adapter: CODEX, path, line, offset, message } });
        continue;
      }
      const lines = threads.get(threadId) ?? [];
      lines.push({ record, bytes: item.end - item.offset });
      threads.set(threadId, lines);
    }
  return { threads, issues };
}

async function rolloutsByThread(request: ReadRequest): Promise<ReadonlyMap<string, readonly Unit[]>> {
  const { found } = await survey(request.place, request.signal);
  return Map.groupBy(
    found.filter(holdsSession),
    (unit) => parseRolloutName(basename(unit.key))?.threadId ?? "",
  );
}

/** The session as its own rollout announces it, then its names. Nothing while the rollout cannot be told yet. */
async function nameSession(
  rollout: Unit,
  lines: readonly NameLine[],
  from: { readonly unit: Unit; readonly request: ReadRequest },
): Promise<readonly AdapterYield[]> {
  const [stamp] = rollout.files;
  if (stamp === undefined) return [];
  using source = Source.open(stamp, from.request.now);
  await using opened = await openLog(source);
  const { scan } = opened;
  if (!scan.hasLines || isUndecided(scan, stamp, from.request.now)) return [];
  const log = new SessionLog(sessionOf(scan, rollout, { place: from.request.place }), {
    adapter: CODEX,
    path: from.unit.key,
  });
  for (const { record, bytes } of lines) {
    const id = log.identify("session_index", undefined, record);
    const hasName = extractName(record, "thread_name") !== undefined;
    const title = hasName
      ? { pond: { title: { at: "/source/record/thread_name", rank: THREAD_NAME_RANK } } }
      : {};
    const options = { source: { file: from.unit.key, record }, ...title };
    const timestamp = extractTimestamp(record, "updated_at");
    log.add({ id, timestamp, bytes, positioned: false, drafts: [{ role: "system", options, parts: [] }] });
  }
  return log.drain();
}

function isRecent({ record }: NameLine, now: number): boolean {
  const named = extractTimestamp(record, "updated_at");
  return named !== undefined && now * 1000 - named < UNWRITTEN_MICROS;
}
