/**
 * What can be told again of rows that are lost for good (spec.md#keep-repair): the row of a session from its messages, and
 * the newest state of a source from rows that no state has. Without them whole messages would be stored and never shown.
 */
import type { Clock } from "../../base/clock.ts";
import { isJsonObject, stringifyJson, tryParseJson } from "../../base/json/json.ts";
import { pondSpace, withFacts, withPondSpace } from "../../model/derived/index.ts";
import { sessionId } from "../../model/index.ts";
import type { RowOf } from "../../substrate/index.ts";
import { MAX_IN_VALUES } from "../../substrate/engine/predicate.ts";
import type { PlacedRow } from "../states/history.ts";
import { decodeFacts } from "../tables/options-text.ts";
import { pieceOf } from "../tables/piece.ts";
import type { SESSIONS } from "../tables/schema.ts";
import type { RecordedState, Run, SideRow } from "../tables/states.ts";
import { SourceStates, stateRow } from "../tables/states.ts";
import { StateViews } from "../read/state-views.ts";
import type { SessionTables } from "../tables/tables.ts";

/** Names what a repair put together, as if it were a source. */
const PUT_TOGETHER = "recovered";

/** Makes rows of sessions that have recorded states and messages, and no row. Says whose. */
export async function recoverSessions(tables: SessionTables, clock: Clock): Promise<readonly string[]> {
  const keys = await sessionsWithoutRow(tables);
  const made = new Map<string, RowOf<typeof SESSIONS>>();
  const select = ["session_id", "source_agent", "project", "timestamp"] as const;
  for await (const rows of tables.messages.scanIn("session_id", keys.keys(), { select }))
    for (let row = 0; row < rows.length; row++) {
      const [id, created_at] = [rows.string("session_id", row), rows.timestamp("timestamp", row)];
      if ((made.get(id)?.created_at ?? Infinity) <= created_at) continue;
      made.set(id, {
        id,
        parent_session_id: null,
        parent_message_id: null,
        relation: null,
        source_agent: rows.string("source_agent", row),
        project: rows.string("project", row),
        created_at,
        ingested_at: clock.now() * 1000,
        options: stringifyJson({ ...withFacts({}, RECOVERED), source: { path: keys.get(id) ?? "" } }),
      });
    }
  await tables.sessions.insertRows(made.values());
  return [...made.keys()];
}

/** The options of a row that nothing proves, marked as that; undefined where they cannot be read. */
export function markRecovered(options: string): string | undefined {
  const parsed = tryParseJson(options);
  if (parsed.kind !== "value" || !isJsonObject(parsed.value)) return undefined;
  const space = pondSpace(parsed.value) ?? {};
  if (!isJsonObject(space)) return undefined;
  const others = withPondSpace(parsed.value, undefined);
  return stringifyJson({ ...withPondSpace({}, { ...RECOVERED, ...space }), ...others });
}

/**
 * Marks a row that nothing proves: one that was read from a damaged file, or was made of messages, whose parent is lost and
 * whose time is that of its first message.
 */
const RECOVERED = { recovered: true } as const;

/** How many such rows there are. */
export async function countRecovered(tables: SessionTables): Promise<number> {
  return (await recoveredIds(tables)).length;
}

/** Takes such rows out, so that a source that is there again can say what they were. Says how many. */
export async function takeOutRecovered(tables: SessionTables): Promise<number> {
  let taken = 0;
  for (const firsts of inSteps(await recoveredIds(tables)))
    taken += await tables.sessions.takeOutKeys({ firsts });
  return taken;
}

async function recoveredIds({ sessions }: SessionTables): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const rows of sessions.scanBatches({ select: ["id", "options"] }))
    for (let row = 0; row < rows.length; row++)
      if (decodeFacts(rows.string("options", row)).recovered === true) ids.push(rows.string("id", row));
  return ids;
}

/** Takes out what is stored of some messages, so that their source is read again. Says how many rows. */
export async function takeOutMessages(
  { messages, parts }: SessionTables,
  session: string,
  ids: readonly string[],
): Promise<number> {
  let taken = 0;
  for (const seconds of inSteps(ids))
    for (const table of [parts, messages]) taken += await table.takeOutKeys({ firsts: [session], seconds });
  return taken;
}

function* inSteps(values: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < values.length; at += MAX_IN_VALUES) yield values.slice(at, at + MAX_IN_VALUES);
}

/**
 * Sessions that states are recorded of, and that have no row: states are written last, so a row was there. With where in
 * its place one of their sources was.
 */
async function sessionsWithoutRow({
  sessions,
  sources,
}: SessionTables): Promise<ReadonlyMap<string, string>> {
  const recorded = new Map<string, string>();
  if (sources === undefined) return recorded;
  for await (const rows of sources.scanBatches({ select: ["session_id", "key"] }))
    for (let row = 0; row < rows.length; row++)
      recorded.set(rows.string("session_id", row), rows.string("key", row));
  for await (const rows of sessions.scanBatches({ select: ["id"] }))
    for (let row = 0; row < rows.length; row++) recorded.delete(rows.string("id", row));
  return recorded;
}

/** Records a state of rows that no state has, behind what the newest one has. False where there are none. */
export async function recoverState(tables: SessionTables, session: string, clock: Clock): Promise<boolean> {
  const views = await StateViews.load(tables, sessionId(session));
  const strays = views?.strays() ?? [];
  const end = views?.ends()[0];
  if (views === undefined || end === undefined || strays.length === 0) return false;
  const rows = putTogether(views.rowsOf(end), strays);
  const runs = rows.filter(isPlaced).map(({ id }): Run => ({ id }));
  const side = rows.filter((row) => !isPlaced(row)).map(({ record, id }): SideRow => ({ record, id }));
  const newest = Math.max(...rows.map(({ timestamp = 0 }) => timestamp));
  const state: RecordedState = {
    ...end,
    source: PUT_TOGETHER,
    reader: "-",
    path: "(recovered by pond repair)",
    state: 1,
    read_at: clock.now() * 1000,
    recorded_at: newest,
    records: runs.length,
    digest: "",
    side: "",
    whole: false,
    content: new SourceStates([]).encode({ runs, side }),
  };
  await tables.sources?.insertRows([stateRow(state)]);
  return true;
}

const isPlaced = ({ seq }: PlacedRow): boolean => typeof seq === "number";

/** What a state had, with newer versions in the place of older ones, then what was read after it. Pieces follow by themselves. */
function putTogether(before: readonly PlacedRow[], strays: readonly PlacedRow[]): readonly PlacedRow[] {
  const rows = new Map(before.map((row) => [row.record, row]));
  const later = strays.filter((row) => pieceOf(row) === undefined);
  for (const row of later.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))) rows.set(row.record, row);
  return [...rows.values()].filter((row) => pieceOf(row) === undefined);
}
