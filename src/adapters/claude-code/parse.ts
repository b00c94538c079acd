/** Reads one Claude Code log with the files beside it into canonical events (spec.md#adapter-codec). */
import { readFile } from "node:fs/promises";
import { errnoOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type {
  AdapterYield,
  FileCursor,
  FileStamp,
  IssueKind,
  LogEntry,
  LogReading,
  Prefix,
  ReadRequest,
  Unit,
} from "../seam/index.ts";
import {
  committedSession,
  fileTime,
  isSameStamp,
  isSettled,
  JsonlLog,
  keptPrefix,
  keysBelow,
  MAX_PAYLOAD_BYTES,
  SessionLog,
  tellLog,
  untilUnreadable,
} from "../seam/index.ts";
import { HeadFinder } from "./head.ts";
import { isChild, sessionOf } from "./identity.ts";
import { ADAPTER, folderOf } from "./layout.ts";
import { PREFIX_FORMAT, RecordMapper } from "./records.ts";
import { jsonObjectIn, sideFileEntry } from "./side-file.ts";

export function read(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  return untilUnreadable(readUnit(unit, request), unit, { adapter: ADAPTER, signal: request.signal });
}

async function* readUnit(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  const known = request.cursor?.files ?? {};
  const keyOf = keysBelow(request.place.root);
  const stamp = unit.files.find(({ path }) => keyOf(path) === unit.key);
  const sides = unit.files.filter((file) => file !== stamp);
  const cursor: Record<string, FileCursor> = {};

  using log = stamp === undefined ? undefined : JsonlLog.open(stamp, known[unit.key]);
  const kept = log && (await keptPrefix(request, PREFIX_FORMAT, log.committed));
  const head = new HeadFinder(kept?.reader);
  await log?.readAhead((items) => head.see(items));
  if (!head.isTold && unit.files.some((file) => !isSettled(file, request.now))) {
    yield [{ kind: "waiting", reason: "no working directory or instant is recorded yet" }];
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
  const open = (before?: Prefix): ReturnType<LogReading["open"]> => {
    const path = stamp?.path ?? unit.key;
    const { trace } = request;
    const told = new SessionLog(session, { adapter: ADAPTER, path, trace, before: before?.log });
    const mapper = new RecordMapper(told, isChild(unit.key), before?.reader);
    const state = (): JsonObject => ({ ...mapper.state(), ...head.state() });
    return { out: told, mapper: { map: (value, bytes) => mapper.map(value, bytes), state } };
  };
  const { out, prefix } =
    log === undefined
      ? { out: open().out, prefix: undefined }
      : yield* tellLog(log, { request, format: PREFIX_FORMAT, before: kept, open });
  if (log !== undefined) cursor[unit.key] = log.cursor();
  for (const side of sides) {
    const key = keyOf(side.path);
    const before = known[key];
    if (before !== undefined && isSameStamp(side, before)) cursor[key] = before;
    else {
      const { entry, data, problem } = await readSide(side, relativeTo(folderOf(unit.key), key));
      out.record =
        data === undefined ? undefined : { path: side.path, offset: 0, end: data.length, value: data };
      if (entry !== undefined) out.add(entry);
      if (entry !== undefined || problem?.issue.kind === "too_long") cursor[key] = wholeFile(side);
      yield [...out.drain(), ...(problem === undefined ? [] : [problem])];
    }
  }
  const isEmpty = !head.hasContent && sides.length === 0;
  yield [
    ...(isEmpty ? [] : out.drain()),
    { kind: "checkpoint", cursor: { files: cursor, state: { session: session.id } }, prefix },
  ];
}

async function readSide(
  stamp: FileStamp,
  name: string,
): Promise<{ readonly entry?: LogEntry; readonly data?: Uint8Array; readonly problem?: IssueYield }> {
  if (stamp.size > MAX_PAYLOAD_BYTES)
    return {
      problem: issue("too_long", stamp.path, `${stamp.size} bytes are more than pond stores of one file`),
    };
  try {
    const data = await readFile(stamp.path);
    return { entry: sideFileEntry(name, stamp, data), data };
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

function wholeFile({ size, mtime, inode, device }: FileStamp): FileCursor {
  return { size, mtime, inode, device, offset: size, tail: "" };
}

function relativeTo(folder: string, key: string): string {
  return folder === "" ? key : key.slice(folder.length + 1);
}
