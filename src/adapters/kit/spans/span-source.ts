/**
 * Trees of a client's files, as they are now (spec.md#live-staged-tree-spans). Hydrating reads the spans of the chosen
 * records and nothing else; a file that is not the one that was indexed gives issues, never values.
 */
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { errnoOf } from "../../../base/errors.ts";
import { decodeUtf8, tryParseJson } from "../../../base/json/json.ts";
import type { EntityKey, Event, MessageId } from "../../../model/index.ts";
import type {
  Fault,
  Found,
  Located,
  Outcome,
  PartOutline,
  PartScope,
  SessionOutline,
  TreeSource,
} from "../../../model/tree/index.ts";
import { compareParts } from "../../../model/index.ts";
import { REF } from "../../../model/tree/index.ts";
import type { Unit } from "../sources/reading.ts";
import { stampFile } from "../sources/discovery.ts";
import type { FileStamp } from "../files/stamp.ts";
import { isSameStamp, stampOf } from "../files/stamp.ts";
import type { RecordValue } from "./hollow.ts";
import type { Issue } from "../sources/issue.ts";
import type { IndexRequest, SpanAdapter, SpanRef } from "./span-index.ts";
import { SpanIndex } from "./span-index.ts";

/** Sessions of a client's files as trees, for `planTree` and the other stages. */
export interface SpanTree extends TreeSource<SpanRef> {
  /** What of the units could not be read as it stands, as sync would report it. */
  readonly issues: readonly Issue[];
  /** Units that cannot be told yet. */
  readonly waiting: readonly string[];
}

/** Reads the units once, and keeps where everything stands. A tree is found whole only if all its units are given. */
export async function openSpanTree(
  adapter: SpanAdapter,
  units: Iterable<Unit>,
  request: IndexRequest,
): Promise<SpanTree> {
  const index = await SpanIndex.of(adapter, units, request);
  return {
    issues: index.issues,
    waiting: index.waiting,
    session: (id) => Promise.resolve(index.sessions.get(id)?.outline),
    children: (parents) => found(childrenOf(index, new Set(parents))),
    messages: (id) => found(index.messagesOf(id)),
    parts: (scope) => found(partsOf(index, scope)),
    locate: (nodes) => Promise.resolve(nodes.map((node) => locate(index, node))),
    bodies: (leaves) => readBodies(leaves.map(({ ref }) => ref)),
  };
}

const UNKNOWN = { ok: false, fault: { kind: "missing", message: "no file has it" } } as const;

const found = <T>(value: T): Promise<Found<T>> => Promise.resolve({ value, faults: [] });

function childrenOf({ sessions }: SpanIndex, parents: ReadonlySet<string>): SessionOutline<SpanRef>[] {
  return [...sessions.values()]
    .map(({ outline }) => outline)
    .filter(({ parent_session_id: parent }) => parent !== undefined && parents.has(parent))
    .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

function partsOf(
  { sessions }: SpanIndex,
  { session, messages }: PartScope<SpanRef>,
): Map<MessageId, PartOutline<SpanRef>[]> {
  const indexed = sessions.get(session)?.messages;
  return new Map(
    messages.map(({ id }) => [id, [...(indexed?.get(id)?.parts.values() ?? [])].toSorted(compareParts)]),
  );
}

function locate(index: SpanIndex, key: EntityKey): Outcome<Located<SpanRef>> {
  const outline = index.find(key);
  const ref = outline?.[REF];
  return outline === undefined || ref === undefined ? UNKNOWN : { ok: true, value: { outline, ref } };
}

type Outcomes = Map<SpanRef, Outcome<Event>>;

async function readBodies(refs: readonly SpanRef[]): Promise<readonly Outcome<Event>[]> {
  const outcomes: Outcomes = new Map();
  for (const [file, own] of Map.groupBy(refs, ({ span }) => span.files[0]))
    await readFileLeaves(file, own, outcomes);
  return refs.map((ref) => outcomes.get(ref) ?? UNKNOWN);
}

/** Leaves of one file. It is looked at before and after: a change in between spoils everything that was read. */
async function readFileLeaves(
  file: FileStamp,
  leaves: readonly SpanRef[],
  outcomes: Outcomes,
): Promise<void> {
  const { path } = file;
  const fail = (fault: Fault): void => {
    for (const leaf of leaves) outcomes.set(leaf, { ok: false, fault });
  };
  try {
    const handle = await open(path, "r");
    try {
      const isSame = async (): Promise<boolean> => isSameStamp(stampOf(path, await handle.stat()), file);
      if (!(await isSame())) return fail(changed(path));
      await readSpans(handle, leaves, outcomes);
      if (!(await isSame())) return fail(changed(path));
      await checkOthers(leaves, outcomes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    const message = error instanceof Error ? error.message : errno;
    fail({ kind: errno === "ENOENT" ? "missing" : "unreadable", message });
  }
}

/** What depends on more files than its own: a session's head, for one. */
async function checkOthers(leaves: readonly SpanRef[], outcomes: Outcomes): Promise<void> {
  const stamps = new Map<string, FileStamp | undefined>();
  for (const leaf of leaves)
    for (const file of leaf.span.files.slice(1)) {
      if (!stamps.has(file.path)) stamps.set(file.path, await stampFile(file.path));
      const now = stamps.get(file.path);
      if (now === undefined || !isSameStamp(now, file))
        outcomes.set(leaf, { ok: false, fault: changed(file.path) });
    }
}

const changed = (path: string): Fault => ({ kind: "changed", message: `${path} changed since it was read` });

/** Leaves that stand in the same record. */
interface ChosenRecord {
  readonly offset: number;
  readonly end: number;
  readonly isBytes: boolean;
  readonly leaves: readonly SpanRef[];
}

async function readSpans(handle: FileHandle, leaves: readonly SpanRef[], outcomes: Outcomes): Promise<void> {
  fillAll(
    leaves.filter(({ hollow }) => !hollow.isHollow),
    null,
    outcomes,
  );
  for (const run of runsOf(recordsOf(leaves.filter(({ hollow }) => hollow.isHollow)))) {
    const start = run[0]?.offset ?? 0;
    const buffer = Buffer.allocUnsafeSlow((run.at(-1)?.end ?? start) - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(0, bytesRead);
    for (const { offset, end, isBytes, leaves: own } of run)
      fillAll(own, valueIn(bytes.subarray(offset - start, end - start), isBytes), outcomes);
  }
}

function recordsOf(leaves: readonly SpanRef[]): readonly ChosenRecord[] {
  const groups = Map.groupBy(leaves, ({ span }) => `${span.offset}:${span.end}`);
  return [...groups.values()]
    .flatMap((own) => own.slice(0, 1).map(({ span }) => ({ ...span, leaves: own })))
    .toSorted((a, b) => a.offset - b.offset);
}

/** Records without a gap between them are read at once, up to this many bytes. */
const RUN_BYTES = 1024 * 1024;

/** Nothing between chosen records is read. */
function* runsOf(records: readonly ChosenRecord[]): Generator<readonly ChosenRecord[]> {
  let run: ChosenRecord[] = [];
  for (const record of records) {
    const joins = run.at(-1)?.end === record.offset && record.end - (run[0]?.offset ?? 0) <= RUN_BYTES;
    if (joins) run.push(record);
    else {
      if (run.length > 0) yield run;
      run = [record];
    }
  }
  if (run.length > 0) yield run;
}

function fillAll(leaves: readonly SpanRef[], record: RecordValue | undefined, outcomes: Outcomes): void {
  for (const leaf of leaves) {
    const value = record === undefined ? undefined : leaf.hollow.fillFrom(record);
    const fault = changed(leaf.span.files[0].path);
    outcomes.set(leaf, value === undefined ? { ok: false, fault } : { ok: true, value });
  }
}

/** The one way from bytes of a span to a value. */
function valueIn(bytes: Uint8Array, isBytes: boolean): RecordValue | undefined {
  if (isBytes) return bytes;
  const decoded = decodeUtf8(bytes);
  const parsed = decoded.ok ? tryParseJson(decoded.text) : undefined;
  return parsed?.kind === "value" ? parsed.value : undefined;
}
