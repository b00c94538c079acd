/** Reads one pi log into canonical events (spec.md#adapter-codec). */
import { errnoOf, PondError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Timestamp } from "../../model/index.ts";
import { timestampFromMillis } from "../../model/index.ts";
import type { AdapterYield, FileStamp, Issue, ReadRequest, Unit } from "../seam/index.ts";
import { extractName, isSettled, JsonlLog, SessionLog } from "../seam/index.ts";
import { HeadFinder } from "./head.ts";
import { sessionOf } from "./identity.ts";
import { ADAPTER } from "./names.ts";
import { RecordMapper } from "./records.ts";

export async function* read(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  try {
    yield* readLog(unit, stamp, request);
  } catch (error) {
    request.signal?.throwIfAborted();
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    // A source that went away while pond looked is no fault; nothing of it is committed.
    if (errno !== "ENOENT") yield [{ kind: "issue", issue: unreadable(stamp.path, error) }];
  }
}

async function* readLog(
  unit: Unit,
  stamp: FileStamp,
  request: ReadRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  using log = JsonlLog.open(stamp, request.cursor?.files[unit.key]);
  const head = new HeadFinder();
  await log.readAhead((items) => head.see(items));
  if ((head.directory === undefined || head.instant === undefined) && !isSettled(stamp, request.now)) {
    yield [{ kind: "waiting", reason: "no header with a working directory and an instant is written yet" }];
    return;
  }
  const session = sessionOf({
    unit,
    root: request.place.root,
    head,
    fileTime: fileTimeOf(stamp),
    known: log.committed > 0 ? knownSession(request) : undefined,
  });
  const out = new SessionLog(session, { adapter: ADAPTER, path: stamp.path, trace: request.trace });
  if (!log.isFresh) yield* tell(log, { out, head, signal: request.signal });
  yield [
    ...(head.hasContent ? out.drain() : []),
    {
      kind: "checkpoint",
      cursor: { files: { [unit.key]: log.cursor() }, state: { session: session.id } },
    },
  ];
}

async function* tell(
  log: JsonlLog,
  to: { readonly out: SessionLog; readonly head: HeadFinder; readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly AdapterYield[]> {
  const { out, head } = to;
  const mapper = new RecordMapper(out, head);
  out.quiet = log.committed > 0;
  if (head.hasContent && !head.hasHeader)
    out.addIssue("unexpected_shape", "no record of this file is the header of a session");
  for await (const batch of log.read()) {
    to.signal?.throwIfAborted();
    for (const item of batch) {
      out.quiet = item.end <= log.committed;
      out.record = item;
      if (item.kind === "record") {
        out.add(mapper.map(item.value, item.end - item.offset));
        if (item.glued === 0) out.addIssue("glued_records", "several records stand on one line", item);
      } else if (item.kind === "bad_line") {
        if (item.reason === "too_long") out.addIssue(item.reason, item.message, item);
        else out.addBadLine(item);
      }
    }
    if (!out.quiet) yield out.drain();
  }
  out.quiet = false;
}

function unreadable(path: string, cause: unknown): Issue {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { kind: "unreadable", adapter: ADAPTER, path, message };
}

/** The id under which the committed part of this log was told; it stays, whatever else the place holds by now. */
function knownSession(request: ReadRequest): string | undefined {
  const state = request.cursor?.state;
  return isJsonObject(state) ? extractName(state, "session") : undefined;
}

function fileTimeOf({ mtime, path }: FileStamp): Timestamp {
  const time = timestampFromMillis(mtime);
  if (time === undefined) throw new PondError("internal", `the time of ${path} is out of range: ${mtime}`);
  return time;
}
