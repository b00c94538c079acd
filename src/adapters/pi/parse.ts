/** Reads one pi log into canonical events (spec.md#adapter-codec). */
import type { AdapterYield, ReadRequest, Unit } from "../seam/index.ts";
import {
  committedSession,
  committedState,
  fileTime,
  isSettled,
  settledFrom,
  JsonlLog,
  keptPrefix,
  SessionLog,
  tellLog,
  untilUnreadable,
} from "../seam/index.ts";
import { HeadFinder } from "./head.ts";
import { sessionOf } from "./identity.ts";
import { ADAPTER } from "./names.ts";
import { PREFIX_FORMAT, RecordMapper } from "./records.ts";

export function read(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  return untilUnreadable(readLog(unit, request), unit, { adapter: ADAPTER, signal: request.signal });
}

async function* readLog(unit: Unit, request: ReadRequest): AsyncGenerator<readonly AdapterYield[]> {
  const [stamp] = unit.files;
  if (stamp === undefined) return;
  using log = JsonlLog.open(stamp, request.now, request.cursor?.files[unit.key]);
  const head = new HeadFinder();
  await log.readAhead((items) => head.see(items));
  if ((head.directory === undefined || head.instant === undefined) && !isSettled(stamp, request.now)) {
    const reason = "no header with a working directory and an instant is written yet";
    yield [{ kind: "waiting", reason, from: settledFrom([stamp]) }];
    return;
  }
  const session = sessionOf({
    unit,
    place: request.place,
    head,
    fileTime: fileTime(unit.files),
    known: log.committed > 0 ? committedSession(request.cursor) : undefined,
  });
  if (log.committed === 0 && head.hasContent && !head.hasHeader) yield [notASession(stamp.path)];
  const { out, prefix, mark, kept } = yield* tellLog(log, {
    request,
    format: PREFIX_FORMAT,
    before: await keptPrefix(request, PREFIX_FORMAT, log.committed),
    open: (before) => {
      const { path } = stamp;
      const told = new SessionLog(session, {
        adapter: ADAPTER,
        path,
        trace: request.trace,
        before: before?.log,
      });
      return { out: told, mapper: new RecordMapper(told, head, before?.reader) };
    },
  });
  const cursor = { files: { [unit.key]: log.cursor() }, state: committedState(session.id, mark) };
  const told = out.told({ path: stamp.path, key: unit.key, form: "log", kept, isWhole: true });
  yield [...(head.hasContent ? [...out.drain(), told] : []), { kind: "checkpoint", cursor, prefix }];
}

function notASession(path: string): AdapterYield {
  const message = "no record of this file is the header of a session";
  return { kind: "issue", issue: { kind: "unexpected_shape", adapter: ADAPTER, path, message } };
}
