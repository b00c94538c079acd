/**
 * The session of `session_index.jsonl` itself, for an index with lines that no other session can keep: no JSON, no name
 * of a thread, or of one whose rollout is gone. It holds all lines of the file in order, so that it restores as it was.
 */
import type { AdapterYield, Unit } from "../../kit/sources/index.ts";
import type { FileStamp, LogMark } from "../../kit/files/index.ts";
import { basename, dirname } from "node:path";
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Session, Timestamp } from "../../../model/index.ts";
import { sessionId, timestampFromMillis } from "../../../model/index.ts";
import { withFacts } from "../../../model/derived/index.ts";
import type { JsonlItem } from "../../kit/log/index.ts";
import { Committed } from "../../kit/log/index.ts";
import { copyId } from "../../kit/sources/index.ts";
import { valueHash } from "../../kit/files/index.ts";
import { extractFromPath, extractTimestamp } from "../../kit/extract/index.ts";
import { SessionLog } from "../../kit/session/index.ts";
import { ADAPTER } from "../layout.ts";

/** A line of the index: its text is a record, or none. */
export interface IndexLine {
  readonly item: Exclude<JsonlItem, { kind: "tail" }>;
  /** What it says, where it is an object. */
  readonly record: JsonObject | undefined;
  /** The thread that it names. */
  readonly threadId: string | undefined;
}

interface IndexFile {
  readonly unit: Unit;
  readonly stamp: FileStamp;
  /** The id under which earlier lines were told, and how many bytes of them. */
  readonly known: string | undefined;
  readonly committed: number;
  readonly mark: LogMark | undefined;
}

export interface EmittedIndex {
  readonly session: string;
  readonly events: readonly AdapterYield[];
  /** How far the terminated lines are told. */
  readonly mark: LogMark;
}

/** The lines as carriers; those that were told before only move the state. */
export function emitIndex(lines: readonly IndexLine[], file: IndexFile): EmittedIndex {
  const session = sessionOf(lines, file);
  const log = new SessionLog(session, { adapter: ADAPTER, path: file.stamp.path });
  const bytes = file.known === undefined ? 0 : file.committed;
  const committed = new Committed(log, { bytes, mark: file.mark, isBehind: false });
  let mark = log.mark();
  for (const { item, threadId } of lines) {
    committed.pass(item.terminated ? item.end : Number.POSITIVE_INFINITY);
    if (item.kind === "bad_line") log.addBadLine(item);
    else {
      const { value } = item;
      const options = { source: { record: value } };
      const id = log.identify("session_index", undefined, value);
      const hash = valueHash(value);
      log.add({
        id,
        bytes: item.end - item.offset,
        hash,
        drafts: [{ role: "system", options, parts: [] }],
      });
      if (threadId === undefined)
        log.addIssue("unexpected_shape", "a line of the session index names no thread", item);
    }
    if (item.terminated) mark = log.mark();
  }
  committed.end();
  const { unit, stamp } = file;
  const state = log.emitState({
    path: stamp.path,
    key: unit.key,
    form: "log",
    kept: committed.kept,
    isWhole: true,
  });
  return { session: session.id, events: [...log.drain(), state], mark };
}

/** Named by its first line: the file is only ever appended to, and no other one begins alike. */
function sessionOf(lines: readonly IndexLine[], { unit, stamp, known }: IndexFile): Session {
  const recorded = lines.flatMap(({ record }) => (record && extractTimestamp(record, "updated_at")) ?? []);
  const folder = basename(dirname(stamp.path));
  return {
    id: sessionId(known ?? copyId("session_index", firstOf(lines))),
    source_agent: ADAPTER,
    created_at: recorded[0] ?? mtimeOf(stamp),
    project: extractFromPath(folder),
    options: withFacts({ source: { path: unit.key } }, recorded.length === 0 ? { created_at: "file" } : {}),
  };
}

function firstOf([first]: readonly IndexLine[]): string {
  if (first === undefined) return "";
  const { item } = first;
  if (item.kind === "record") return valueHash(item.value);
  return "raw" in item ? Buffer.from(item.raw).toString("base64") : item.message;
}

function mtimeOf({ mtime }: FileStamp): Timestamp {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file's mtime is an instant
  return timestampFromMillis(Math.floor(mtime)) as Timestamp;
}

export function indexLine(
  item: IndexLine["item"],
  threadOf: (record: JsonObject) => string | undefined,
): IndexLine {
  const record = item.kind === "record" && isJsonObject(item.value) ? item.value : undefined;
  return { item, record, threadId: record && threadOf(record) };
}
