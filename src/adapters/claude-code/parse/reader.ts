/** Reads one Claude Code log with the files beside it into canonical events (spec.md#adapter-codec). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type {
  AdapterYield,
  FileCursor,
  IssueKind,
  PlacedRequest,
  RecordSource,
  Unit,
} from "../../kit/sources/index.ts";
import type { FileStamp } from "../../kit/files/index.ts";
import type { LogRecord, Prefix } from "../../kit/session/index.ts";
import type { LogReading } from "../../kit/log/index.ts";
import { committedSession, committedState, fileCursor, keysBelow } from "../../kit/sources/index.ts";
import { fileTime, isSameStamp, isSettled, settledFrom } from "../../kit/files/index.ts";
import { field } from "../../kit/extract/index.ts";
import { JsonlLog, emitLog, untilUnreadable } from "../../kit/log/index.ts";
import { keptPrefix, MAX_PAYLOAD_BYTES, SessionLog } from "../../kit/session/index.ts";
import { HeadFinder } from "./head.ts";
import { isChild, sessionOf } from "./session.ts";
import { folderOf } from "../../kit/files/path-names.ts";
import { ADAPTER } from "../layout.ts";
import { PREFIX_FORMAT, RecordMapper } from "./records.ts";
import { jsonObjectIn, recordOfFile, sideFileEntry } from "./side-file.ts";

export function read(unit: Unit, request: PlacedRequest): AsyncGenerator<readonly AdapterYield[]> {
  return untilUnreadable(readUnit(unit, request), unit, { adapter: ADAPTER, signal: request.signal });
}

async function* readUnit(unit: Unit, request: PlacedRequest): AsyncGenerator<readonly AdapterYield[]> {
  const known = request.cursor?.files ?? {};
  const keyOf = keysBelow(request.place.path);
  const stamp = unit.files.find(({ path }) => keyOf(path) === unit.key);
  const sides = unit.files.filter((file) => file !== stamp);
  const cursor: Record<string, FileCursor> = {};

  using log = stamp === undefined ? undefined : JsonlLog.open(stamp, request.now, known[unit.key]);
  const kept = log && (await keptPrefix(request, PREFIX_FORMAT, log.committed));
  const head = new HeadFinder(kept?.reader);
  await log?.readAhead((items) => head.see(items));
  if (!head.isDecided && unit.files.some((file) => !isSettled(file, request.now))) {
    const reason = "no working directory or timestamp yet";
    yield [{ kind: "waiting", reason, from: settledFrom(unit.files) }];
    return;
  }
  const session = sessionOf({
    unit,
    place: request.place,
    head,
    meta: await metaOf(stamp, sides),
    fileTime: fileTime(unit.files),
    known: log !== undefined && log.committed > 0 ? committedSession(request.cursor) : undefined,
  });
  // What is left of a session whose log is gone is another source than the log was: nothing was taken out of that.
  const path = stamp?.path ?? join(request.place.path, unit.key.replace(/\.jsonl$/, ""));
  const open = (before?: Prefix): ReturnType<LogReading["open"]> => {
    const { onRecord } = request;
    const sink = new SessionLog(session, { adapter: ADAPTER, path, onRecord, before: before?.log });
    const setting = { isChild: isChild(unit.key), source_agent: session.source_agent };
    const mapper = new RecordMapper(sink, setting, before?.reader);
    const state = (): JsonObject => ({ ...mapper.state(), ...head.state() });
    return { out: sink, mapper: { map: (value, at) => mapper.map(value, at), state } };
  };
  const {
    out,
    prefix,
    mark,
    kept: keptRecords,
  } = log === undefined
    ? noLog(open().out)
    : yield* emitLog(log, { request, format: PREFIX_FORMAT, before: kept, open });
  if (log !== undefined) cursor[unit.key] = log.cursor();
  const isPartial = isJsonObject(unit.found) && field(unit.found, "partial") === true;
  let isWhole = !isPartial;
  for (const side of sides) {
    const key = keyOf(side.path);
    const name = relativeTo(folderOf(unit.key), key);
    const before = known[key];
    // The tail of a file that was read whole is its hash.
    if (before !== undefined && before.tail !== "" && isSameStamp(side, before)) {
      cursor[key] = before;
      if (before.tail !== TOO_LONG) out.keepSide(recordOfFile(name), before.tail);
      else {
        out.keep(recordOfFile(name), false);
        isWhole = false;
      }
      continue;
    }
    const { found, problem } = await readSide(side, name);
    if (found !== undefined) {
      out.add(found.entry, found.source);
      cursor[key] = fileCursor(side, { offset: side.size, tail: found.entry.hash });
    } else if (problem !== undefined) {
      // What cannot be read now is not gone: what was stored of it stays.
      out.keep(recordOfFile(name), false);
      isWhole = false;
      if (problem.issue.kind === "too_long")
        cursor[key] = fileCursor(side, { offset: side.size, tail: TOO_LONG });
    }
    yield [...out.drain(), ...(problem === undefined ? [] : [problem])];
  }
  const isEmpty = !head.hasContent && sides.length === 0;
  const ended = out.emitState({ path, key: unit.key, form: "log", kept: keptRecords, isWhole });
  const state = committedState(session.id, mark);
  yield [
    ...(isEmpty ? [] : [...out.drain(), ended]),
    { kind: "checkpoint", cursor: { files: isPartial ? unfinished(cursor) : cursor, state }, prefix },
  ];
}

/** Of a session of which something could not be looked at: what is read is not read again, and it never looks fresh. */
function unfinished(files: Readonly<Record<string, FileCursor>>): Readonly<Record<string, FileCursor>> {
  return Object.fromEntries(Object.entries(files).map(([key, file]) => [key, { ...file, mtime: -1 }]));
}

/** Instead of the hash of a file that is larger than pond stores. */
const TOO_LONG = "too long";

/** A session of which only the files beside its log are there. */
function noLog(out: SessionLog) {
  return { out, prefix: undefined, mark: out.mark(), kept: 0 };
}

async function readSide(
  stamp: FileStamp,
  name: string,
): Promise<{
  readonly found?: { readonly entry: LogRecord; readonly source: RecordSource };
  readonly problem?: IssueYield;
}> {
  if (stamp.size > MAX_PAYLOAD_BYTES)
    return {
      problem: issue("too_long", stamp.path, `${stamp.size} bytes are more than pond stores of one file`),
    };
  try {
    const { path } = stamp;
    const data = await readFile(path);
    const source = { path, offset: 0, end: data.length, value: data };
    return { found: { entry: sideFileEntry(name, stamp, data), source } };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return {};
    return { problem: issue("unreadable", stamp.path, error) };
  }
}

/** What the `.meta.json` beside a subagent's transcript says. */
async function metaOf(
  log: FileStamp | undefined,
  sides: readonly FileStamp[],
): Promise<JsonObject | undefined> {
  const path = log?.path.replace(/\.jsonl$/, ".meta.json");
  const meta = sides.find((side) => side.path === path);
  if (meta === undefined) return undefined;
  try {
    return jsonObjectIn(await readFile(meta.path));
  } catch {
    return undefined;
  }
}

type IssueYield = Extract<AdapterYield, { kind: "issue" }>;

function issue(kind: IssueKind, path: string, cause: unknown): IssueYield {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { kind: "issue", issue: { kind, adapter: ADAPTER, path, message } };
}

function relativeTo(folder: string, key: string): string {
  return folder === "" ? key : key.slice(folder.length + 1);
}
