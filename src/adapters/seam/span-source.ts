/**
 * Trees of a client's files, as they are now (spec.md#live-staged-tree-spans). Hydrating reads the spans of the chosen
 * records and nothing else; a file that is not the one that was indexed gives issues, never values.
 */
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { errnoOf } from "../../base/errors.ts";
import { decodeUtf8, tryParseJson } from "../../base/json.ts";
import type { Event, Fault, Found, MessageId, Outcome, PartPlan, TreeSource } from "../../model/index.ts";
import { describeKey } from "../../model/index.ts";
import type { Unit } from "./adapter.ts";
import { stampFile } from "./discovery.ts";
import type { FileStamp } from "./freshness.ts";
import { isSameStamp, stampOf } from "./freshness.ts";
import type { RecordValue } from "./hollow.ts";
import type { Issue } from "./issue.ts";
import type { IndexRequest, SpanAdapter, SpanIndex, SpanLeaf, SpanRef } from "./span-index.ts";
import { indexSpans } from "./span-index.ts";

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
  const index = await indexSpans(adapter, units, request);
  return {
    issues: index.issues,
    waiting: index.waiting,
    session: (id) => Promise.resolve(index.sessions.get(id)?.outline),
    children: (parents) => found(childrenOf(index, new Set(parents))),
    messages: (id) => found(index.sessions.get(id)?.messages ?? []),
    parts: ({ session, messages }) => {
      const parts = index.sessions.get(session)?.parts;
      return found(new Map<MessageId, readonly PartPlan[]>(messages.map((id) => [id, parts?.get(id) ?? []])));
    },
    resolve: (nodes) =>
      Promise.resolve(
        nodes.map((node): Outcome<SpanRef> => {
          const leaf = index.leaves.get(describeKey(node));
          return leaf === undefined ? { ok: false, fault: UNKNOWN } : { ok: true, value: leaf.ref };
        }),
      ),
    read: (refs) => readRefs(index, refs),
  };
}

const UNKNOWN: Fault = { kind: "missing", message: "no file tells it" };

const found = <T>(value: T): Promise<Found<T>> => Promise.resolve({ value, faults: [] });

function childrenOf({ sessions }: SpanIndex, parents: ReadonlySet<string>) {
  return [...sessions.values()]
    .map(({ outline }) => outline)
    .filter(({ parent_session_id: parent }) => parent !== undefined && parents.has(parent))
    .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

type Outcomes = Map<SpanLeaf, Outcome<Event>>;

async function readRefs({ leaves }: SpanIndex, refs: readonly SpanRef[]): Promise<readonly Outcome<Event>[]> {
  const wanted = refs.map((ref) => leaves.get(describeKey(ref.key)));
  const outcomes: Outcomes = new Map();
  const byFile = Map.groupBy(
    wanted.filter((leaf) => leaf !== undefined),
    ({ ref }) => ref.generation,
  );
  for (const [generation, group] of byFile) await readFileLeaves(generation, group, outcomes);
  return wanted.map((leaf) => (leaf && outcomes.get(leaf)) ?? { ok: false, fault: UNKNOWN });
}

/** Leaves of one file. It is looked at before and after: a change in between spoils everything that was read. */
async function readFileLeaves(
  generation: FileStamp,
  leaves: readonly SpanLeaf[],
  outcomes: Outcomes,
): Promise<void> {
  const { path } = generation;
  const fail = (fault: Fault): void => {
    for (const leaf of leaves) outcomes.set(leaf, { ok: false, fault });
  };
  try {
    const handle = await open(path, "r");
    try {
      const isSame = async (): Promise<boolean> =>
        isSameStamp(stampOf(path, await handle.stat()), generation);
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
async function checkOthers(leaves: readonly SpanLeaf[], outcomes: Outcomes): Promise<void> {
  const stamps = new Map<string, FileStamp | undefined>();
  for (const leaf of leaves)
    for (const file of leaf.files) {
      if (file.path === leaf.ref.path) continue;
      if (!stamps.has(file.path)) stamps.set(file.path, await stampFile(file.path));
      const now = stamps.get(file.path);
      if (now === undefined || !isSameStamp(now, file))
        outcomes.set(leaf, { ok: false, fault: changed(file.path) });
    }
}

const changed = (path: string): Fault => ({ kind: "changed", message: `${path} changed since it was read` });

/** Leaves that stand in the same record. */
interface Span {
  readonly offset: number;
  readonly end: number;
  readonly leaves: readonly SpanLeaf[];
}

/** Spans without a gap between them are read at once, up to this many bytes. */
const RUN_BYTES = 1024 * 1024;

async function readSpans(handle: FileHandle, leaves: readonly SpanLeaf[], outcomes: Outcomes): Promise<void> {
  const whole = leaves.filter(({ hollow }) => !hollow.isHollow);
  fillAll(whole, null, outcomes);
  for (const run of runsOf(spansOf(leaves.filter(({ hollow }) => hollow.isHollow)))) {
    const start = run[0]?.offset ?? 0;
    const buffer = Buffer.allocUnsafeSlow((run.at(-1)?.end ?? start) - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(0, bytesRead);
    for (const { offset, end, leaves: own } of run) {
      const isBytes = own.some((leaf) => leaf.isBytes);
      fillAll(own, recordIn(bytes.subarray(offset - start, end - start), isBytes), outcomes);
    }
  }
}

function spansOf(leaves: readonly SpanLeaf[]): readonly Span[] {
  const groups = Map.groupBy(leaves, ({ ref: { offset, end } }) => `${offset}:${end}`);
  return [...groups.values()]
    .flatMap((own) => own.slice(0, 1).map(({ ref: { offset, end } }) => ({ offset, end, leaves: own })))
    .toSorted((a, b) => a.offset - b.offset);
}

/** Nothing between chosen records is read. */
function* runsOf(spans: readonly Span[]): Generator<readonly Span[]> {
  let run: Span[] = [];
  for (const span of spans) {
    const [first] = run;
    const joins = run.at(-1)?.end === span.offset && span.end - (first?.offset ?? 0) <= RUN_BYTES;
    if (!joins && run.length > 0) yield run;
    if (joins) run.push(span);
    else run = [span];
  }
  if (run.length > 0) yield run;
}

function fillAll(leaves: readonly SpanLeaf[], record: RecordValue | undefined, outcomes: Outcomes): void {
  for (const leaf of leaves) {
    const value = record === undefined ? undefined : leaf.hollow.fill(record);
    outcomes.set(
      leaf,
      value === undefined ? { ok: false, fault: changed(leaf.ref.path) } : { ok: true, value },
    );
  }
}

/** The one way from bytes of a span to a value. */
function recordIn(bytes: Uint8Array, isBytes: boolean): RecordValue | undefined {
  if (isBytes) return bytes;
  const decoded = decodeUtf8(bytes);
  const parsed = decoded.ok ? tryParseJson(decoded.text) : undefined;
  return parsed?.kind === "value" ? parsed.value : undefined;
}
