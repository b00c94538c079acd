/**
 * Reads one JSONL log into canonical events (spec.md#adapter-codec): ahead until its session is known, then all of it, or
 * from where the last committed read stopped. A client says what its head, its session and its records are.
 */
import type { JsonObject } from "../../../base/json/json.ts";
import type { Session, Timestamp } from "../../../model/index.ts";
import type { AdapterYield, Place, PlacedRequest, Unit } from "../sources/reading.ts";
import type { PrefixFormat } from "../session/prefix.ts";
import { fileTime } from "../files/file-time.ts";
import { committedSession, committedState } from "../sources/freshness.ts";
import { isSettled, settledFrom } from "../files/stamp.ts";
import { keptPrefix } from "../session/prefix.ts";
import { SessionLog } from "../session/session-log.ts";
import type { JsonlItem } from "./jsonl.ts";
import { JsonlLog } from "./jsonl-log.ts";
import type { RecordMapping } from "./read-log.ts";
import { emitLog, untilUnreadable } from "./read-log.ts";

/** What a log says of its session, collected from its first records. */
export interface LogHead {
  /** True when nothing more is to be found. */
  see(items: readonly JsonlItem[]): boolean;
  /** True once the log contained anything at all. */
  readonly hasContent: boolean;
  /** True when what was found tells the session; a log that is still written is waited for until it does. */
  readonly isComplete: boolean;
  /** False where no record is one of a session: the log is read all the same, with an issue. */
  readonly isSession: boolean;
}

/** What the session of a log is made of. */
export interface LogEvidence<Head> {
  readonly unit: Unit;
  readonly place: Place;
  readonly head: Head;
  /** When the log itself records no instant. */
  readonly fileTime: Timestamp;
  /** The id under which earlier records of this log were read. */
  readonly known: string | undefined;
}

/** What a client says of its logs; everything else about reading them is the same for all. */
export interface LogFormat<Head extends LogHead> {
  readonly adapter: string;
  readonly prefix: PrefixFormat;
  readonly head: () => Head;
  readonly session: (evidence: LogEvidence<Head>) => Session;
  /** `before` is what `state` of a mapper said of the records before the first that is mapped. */
  readonly mapper: (log: SessionLog, head: Head, before: JsonObject | undefined) => RecordMapping;
  /** Why a log without a complete head is waited for. */
  readonly waitsFor: string;
  /** What is said of a file that is not a session. */
  readonly notASession: string;
}

type LogRead = (unit: Unit, request: PlacedRequest) => AsyncGenerator<readonly AdapterYield[]>;

/** How a client whose units are single logs reads them. */
export function logReader<Head extends LogHead>(format: LogFormat<Head>): LogRead {
  const { adapter } = format;
  return (unit, request) =>
    untilUnreadable(readLog(format, unit, request), unit, { adapter, signal: request.signal });
}

async function* readLog<Head extends LogHead>(
  format: LogFormat<Head>,
  unit: Unit,
  request: PlacedRequest,
): AsyncGenerator<readonly AdapterYield[]> {
  const { adapter, prefix: prefixFormat } = format;
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  using log = JsonlLog.open(stamp, request.now, request.cursor?.files[unit.key]);
  const head = format.head();
  await log.readAhead((items) => head.see(items));
  if (!head.isComplete && !isSettled(stamp, request.now)) {
    yield [{ kind: "waiting", reason: format.waitsFor, from: settledFrom([stamp]) }];
    return;
  }
  const session = format.session({
    unit,
    place: request.place,
    head,
    fileTime: fileTime(unit.files),
    known: log.committed > 0 ? committedSession(request.cursor) : undefined,
  });
  const { path } = stamp;
  if (log.committed === 0 && head.hasContent && !head.isSession) {
    const message = format.notASession;
    yield [{ kind: "issue", issue: { kind: "unexpected_shape", adapter, path, message } }];
  }
  const { out, prefix, mark, kept } = yield* emitLog(log, {
    request,
    format: prefixFormat,
    before: await keptPrefix(request, prefixFormat, log.committed),
    open: (before) => {
      const { onRecord } = request;
      const sink = new SessionLog(session, { adapter, path, onRecord, before: before?.log });
      return { out: sink, mapper: format.mapper(sink, head, before?.reader) };
    },
  });
  const cursor = { files: { [unit.key]: log.cursor() }, state: committedState(session.id, mark) };
  const state = out.emitState({ path, key: unit.key, form: "log", kept, isWhole: true });
  yield [...(head.hasContent ? [...out.drain(), state] : []), { kind: "checkpoint", cursor, prefix }];
}
