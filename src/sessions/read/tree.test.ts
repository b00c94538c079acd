/** Trees of the store: what each stage reads, and what it does when a row is damaged (spec.md#live-staged-tree). */
import { describe, expect, test, vi } from "vitest";
import type { TempStore } from "../../../test/support/temp-store.ts";
import { tempStore } from "../../../test/support/temp-store.ts";
import { systemClock } from "../../base/clock.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { PondError } from "../../base/errors.ts";
import { sealExtracted } from "../../model/extracted.ts";
import type { Event, Message, Part, Session } from "../../model/index.ts";
import {
  hydrateTree,
  lineageOf,
  loadTree,
  planParts,
  planTree,
  resolveTree,
  sessionsIn,
  stateOf,
} from "../../model/tree/index.ts";
import { messageId, partId, sessionId } from "../../model/index.ts";
import { replay } from "../../model/events/index.ts";
import { timestampFromMillis } from "../../model/timestamp.ts";
import type { Table, TableSpec } from "../../substrate/index.ts";
import { eq } from "../../substrate/engine/predicate.ts";
import { messageRow, partRow, sessionRow } from "../tables/encode.ts";
import { readLineage } from "../index.ts";
import type { RecordedState } from "../tables/states.ts";
import { stateRow } from "../tables/states.ts";

const ROOT = sessionId("root");

describe("stages", () => {
  test("planning 10,000 messages reads no body, and hydrating twice reads each leaf once", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 10_000));
    const looks = watch(store);
    const source = store.sessions.tree();
    const plan = await planTree(source, ROOT);
    const refs = await resolveTree(source, plan.value);
    expect([...plan.issues, ...refs.issues]).toEqual([]);
    expect(plan.value.total?.messages).toBe(10_000);
    expect(plan.value.messages.at(-1)).toMatchObject({ id: "m9999", parts: [{ id: "0", type: "text" }] });
    expect(refs.value.leaves.size).toBe(20_001);
    expect(looks.columns.size).toBeGreaterThan(5);
    expect([...looks.columns].filter((column) => BODIES.has(column))).toEqual([]);
    expect(looks.rows).toEqual([]);

    const first = await hydrateTree(source, refs.value, (node) => !("seq" in node) || node.seq! < 100);
    expect(first.value.messages.filter(({ message }) => message !== undefined)).toHaveLength(100);
    const all = await hydrateTree(source, refs.value);
    const again = await hydrateTree(source, refs.value);
    expect(looks.rows).toHaveLength(20_001);
    expect(new Set(looks.rows).size).toBe(20_001);
    expect(all.issues).toEqual([]);
    expect(again.value).toEqual(all.value);
    expect(stateOf(all.value)).toEqual(replay(conversation("root", 10_000))[0]);
  });

  test("a reference names table, row and version, and outlives writes and maintenance", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const source = store.sessions.tree();
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    const leaves = [...refs.value.leaves.values()].map(({ ref }) => ref);
    expect(new Set(leaves.map(({ table }) => table))).toEqual(new Set(["sessions", "messages", "parts"]));
    expect(leaves.every(({ version }) => version! > 0)).toBe(true);
    await ingest(store, conversation("other", 3));
    await store.sessions.maintain();
    const { value, issues } = await hydrateTree(source, refs.value);
    expect(issues).toEqual([]);
    expect(stateOf(value)).toEqual(replay(conversation("root", 3))[0]);
  });

  test("a plan that was made elsewhere is looked up again, and what is not stored is missing", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const { value } = await planTree(store.sessions.tree(), ROOT);
    const sent: typeof value = JSON.parse(JSON.stringify(value));
    const gone = { ...sent.messages[1]!, id: messageId("gone"), parts: [] };
    const source = store.sessions.tree();
    const refs = await resolveTree(source, { ...sent, messages: [...sent.messages, gone] });
    expect(refs.issues).toEqual([
      {
        stage: "resolve",
        key: { session_id: "root", id: "gone" },
        kind: "missing",
        message: "it is not stored",
      },
    ]);
    const { value: tree } = await hydrateTree(source, refs.value);
    expect(stateOf(tree)).toEqual(replay(conversation("root", 3))[0]);
  });

  test("a message that comes while its session is planned comes with its parts", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const { messages, parts } = store.sessions.tables;
    const outlines = Promise.resolve(await store.sessions.summaries());
    const partsRead = vi.spyOn(parts, "scan");
    const scan = messages.scan.bind(messages);
    vi.spyOn(messages, "scan").mockImplementationOnce(async (options) => {
      await vi.waitUntil(() => partsRead.mock.results.length > 0, { timeout: 60_000 });
      await partsRead.mock.results[0]!.value;
      await ingest(store, conversation("root", 4));
      return scan(options);
    });
    const source = store.sessions.tree({ payloads: true, outlines });
    const { value, issues } = await loadTree(source, ROOT);
    expect(issues).toEqual([]);
    expect(stateOf(value)).toEqual(replay(conversation("root", 4))[0]);
    expect(partsRead).toHaveBeenCalledTimes(2);
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    const versions = [...refs.value.leaves.values()].flatMap(({ ref }) =>
      ref.table === "parts" ? ref.version : [],
    );
    expect(new Set(versions)).toEqual(new Set([await parts.version()]));
  });

  test("messages that were stored between the reads of rows and of states are not called lost", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const { messages, sources } = store.sessions.tables;
    await sources?.insertRows([stateRow(stateHolding("m0", "m1", "m2"))]);
    const scan = messages.scan.bind(messages);
    const scans = vi.spyOn(messages, "scan");
    scans.mockImplementationOnce((options) => scan({ ...options, where: eq("id", "m0") }));
    expect(await store.sessions.tree().messages(ROOT)).toMatchObject({
      value: [{ id: "m0" }, { id: "m1" }, { id: "m2" }],
      faults: [],
    });
    expect(scans).toHaveBeenCalledTimes(2);
  });

  test("parts that cannot be read are the business of who asks for them", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const fault = new PondError("storage_unavailable", "no such disk");
    vi.spyOn(store.sessions.tables.parts, "scan").mockRejectedValue(fault);
    const source = store.sessions.tree({ payloads: true, outlines: store.sessions.summaries() });
    const { value: plan } = await planTree(source, ROOT, { partTypes: [] });
    expect(plan.messages).toHaveLength(3);
    // Time for what was asked for ahead to fail, with nobody waiting for it.
    await store.sessions.versions();
    await expect(planParts(source, plan)).rejects.toBe(fault);
  });

  test("the parts of a small session are read once, however many pages are planned", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 3));
    const scan = vi.spyOn(store.sessions.tables.parts, "scan");
    const source = store.sessions.tree({ payloads: true, outlines: store.sessions.summaries() });
    const { value: plan } = await planTree(source, ROOT, { partTypes: [] });
    for (const message of plan.messages) {
      const { value } = await planParts(source, { ...plan, messages: [message] });
      expect(value.messages[0]?.parts).toHaveLength(1);
    }
    expect(scan).toHaveBeenCalledTimes(1);
  });

  test("payloads are read where they are asked for", async () => {
    await using store = await tempStore();
    const events = conversation("root", 1);
    const bytes = new Uint8Array([1, 2, 3]);
    const file = filePart("root", "m0", bytes);
    await ingest(store, [...events, { kind: "part", part: file }]);
    const whole = await loadTree(store.sessions.tree(), ROOT);
    expect(whole.value.messages[0]?.parts[1]?.part).toMatchObject({ data: { kind: "bytes", value: bytes } });
    const bare = await loadTree(store.sessions.tree({ payloads: false }), ROOT);
    expect(bare.value.messages[0]?.parts[1]?.part).toMatchObject({
      data: { kind: "bytes", value: new Uint8Array(0) },
    });
  });
});

describe("bodies that are asked for ahead", () => {
  const ahead = ["bodies", "texts"] as const;

  test.each([true, false])("come with the plan of a small session (indexes: %s)", async (isIndexed) => {
    await using store = await tempStore();
    await ingest(store, [...conversation("root", 30), ...conversation("other", 3)]);
    if (isIndexed) await store.sessions.maintain({ force: true });
    const looks = watch(store);
    const { messages, parts } = store.sessions.tables;
    const scans = [vi.spyOn(messages, "scan"), vi.spyOn(parts, "scan")];
    const source = store.sessions.tree({ payloads: true, outlines: store.sessions.summaries(), ahead });
    const plan = await planTree(source, ROOT, { depth: 0, messages: { limit: 20 } });
    const refs = await resolveTree(source, plan.value, (node) => "session_id" in node);
    const { value, issues } = await hydrateTree(source, refs.value);
    expect(issues).toEqual([]);
    const expected = replay(conversation("root", 30))[0]!.messages.slice(0, 20);
    expect(value.messages.map(({ message }) => message)).toEqual(expected.map(({ message }) => message));
    expect(value.messages.map((node) => node.parts.map(({ part }) => part))).toEqual(
      expected.map((turn) => turn.parts),
    );
    expect(scans.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    expect(looks.rows).toEqual([]);
    const texts = await source.textsWithFacts((await source.messages(ROOT)).value.slice(0, 20));
    expect(looks.rows).toEqual([]);
    const plain = store.sessions.tree();
    expect(texts).toEqual(await plain.textsWithFacts((await plain.messages(ROOT)).value.slice(0, 20)));
    // The comparison above took them.
    expect(looks.rows).toHaveLength(20);
  });

  test("are those of system messages too, even of one that came after the outlines", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 2));
    const early = Promise.resolve(await store.sessions.summaries());
    const { role: _, ...rest } = messageOf("root", 2);
    const message: Message = { ...rest, role: "system", content: sealExtracted("be brief") };
    await ingest(store, [...conversation("root", 2), { kind: "message", message }]);
    for (const outlines of [early, store.sessions.summaries()]) {
      const source = store.sessions.tree({ payloads: true, outlines, ahead });
      const { value, issues } = await loadTree(source, ROOT);
      expect(issues).toEqual([]);
      expect(value.messages.at(-1)?.message).toEqual(message);
      const texts = await source.textsWithFacts((await source.messages(ROOT)).value.slice(-1));
      expect(texts).toEqual([{ text: null, content: "be brief", facts: {} }]);
    }
  });

  test("are left out where a session is large", async () => {
    await using store = await tempStore();
    const events = conversation("root", 3).map((event): Event =>
      event.kind === "part" && event.part.type === "text"
        ? { kind: "part", part: { ...event.part, text: sealExtracted("long ".repeat(50_000)) } }
        : event,
    );
    await ingest(store, [...events, ...conversation("many", 300)]);
    const outlines = Promise.resolve(await store.sessions.summaries());
    const looks = watch(store);
    for (const id of ["root", "many"]) {
      const source = store.sessions.tree({ payloads: true, outlines, ahead });
      const { value } = await planTree(source, sessionId(id));
      expect(value.messages.at(-1)?.parts).toHaveLength(1);
    }
    expect([...looks.columns].filter((column) => BODIES.has(column))).toEqual([]);
  });

  test("with payloads where they are asked for", async () => {
    await using store = await tempStore();
    const bytes = new Uint8Array([1, 2, 3]);
    await ingest(store, [...conversation("root", 1), { kind: "part", part: filePart("root", "m0", bytes) }]);
    for (const payloads of [true, false]) {
      const source = store.sessions.tree({ payloads, outlines: store.sessions.summaries(), ahead });
      const { value } = await loadTree(source, ROOT);
      expect(value.messages[0]?.parts[1]?.part).toMatchObject({
        data: { kind: "bytes", value: payloads ? bytes : new Uint8Array(0) },
      });
    }
  });

  test("cost one issue for each that is damaged, whoever finds it", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 5));
    const { parts, messages } = store.sessions.tables;
    await parts.insertRows([{ ...partRow(textPart("root", "m2", 7)), variant_data: '{"text": torn' }]);
    const load = () =>
      loadTree(
        store.sessions.tree({ payloads: true, outlines: store.sessions.summaries(), ahead: ["bodies"] }),
        ROOT,
      );
    const torn = { stage: "hydrate", kind: "unreadable", key: { message_id: "m2", id: "7" } };
    const first = await load();
    expect(first.issues).toMatchObject([torn]);
    expect(stateOf(first.value)).toEqual(replay(conversation("root", 5))[0]);

    // The engine stumbles over the bodies: the plan does without them.
    stumble(messages);
    stumble(parts);
    const again = await load();
    expect(structuredClone(again)).toEqual(structuredClone(first));
    vi.spyOn(messages, "scan").mockRejectedValue(damage("storage_unavailable"));
    await expect(load()).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

describe("a lineage", () => {
  test("is found to any depth, each generation by one look, and restores as it was told", async () => {
    await using store = await tempStore();
    const family = [
      ...conversation("root", 2),
      ...conversation("a", 2, { parent: "root", agent: "client/worker" }),
      ...conversation("b", 1, { parent: "root" }),
      ...conversation("deep", 1, { parent: "a" }),
      ...conversation("deeper", 1, { parent: "deep" }),
    ];
    await ingest(store, family);
    const scanIn = vi.spyOn(store.sessions.tables.sessions, "scanIn");
    const { value } = await planTree(store.sessions.tree(), ROOT);
    expect([...sessionsIn(value)].map(({ id, depth }) => [id, depth])).toEqual([
      ["root", 0],
      ["a", 1],
      ["deep", 2],
      ["deeper", 3],
      ["b", 1],
    ]);
    // The root, and the children of four generations.
    expect(scanIn).toHaveBeenCalledTimes(5);
    const { lineage } = await readLineage(store.sessions, ROOT);
    const states = [...sessionsIn(lineage)].map(({ state }) => state);
    const byId = (a: { session: Session }, b: { session: Session }): number =>
      a.session.id < b.session.id ? -1 : 1;
    expect(states.toSorted(byId)).toEqual(replay(family).toSorted(byId));
  });

  test("a session that is its own parent is a root", async () => {
    await using store = await tempStore();
    await ingest(store, [
      ...conversation("root", 1, { parent: "root" }),
      ...conversation("child", 1, { parent: "root" }),
    ]);
    const { lineage } = await readLineage(store.sessions, ROOT);
    expect([...sessionsIn(lineage)].map(({ state }) => state.session.id)).toEqual(["root", "child"]);
  });

  test("a cycle is an error that names its sessions, not a loop", async () => {
    await using store = await tempStore();
    await ingest(store, [
      ...conversation("root", 1, { parent: "child" }),
      ...conversation("child", 1, { parent: "root" }),
    ]);
    await expect(readLineage(store.sessions, ROOT)).rejects.toMatchObject({
      code: "validation_failed",
      reason: "corrupt",
      message: expect.stringContaining(
        "session root descends from itself: root is a child of child is a child of root",
      ),
      hint: expect.stringContaining("get reads each"),
    });
  });
});

describe("a damaged row", () => {
  test("of a part is one issue, and everything else comes", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 5));
    await store.sessions.tables.parts.insertRows([
      { ...partRow(textPart("root", "m2", 7)), variant_data: '{"text": torn' },
    ]);
    const { value, issues } = await loadTree(store.sessions.tree(), ROOT);
    expect(issues).toMatchObject([
      {
        stage: "hydrate",
        key: { session_id: "root", message_id: "m2", id: "7" },
        kind: "unreadable",
        message: expect.stringContaining("damaged"),
      },
    ]);
    expect(stateOf(value)).toEqual(replay(conversation("root", 5))[0]);
    await expect(readLineage(store.sessions, ROOT)).rejects.toMatchObject({
      message: expect.stringContaining("session root, message m2, part 7 cannot be read"),
    });
  });

  test("whose short columns say nothing is an issue of the plan", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 2));
    const { messages, parts } = store.sessions.tables;
    const labels = {
      source_agent: "client",
      project: "/srv/demo",
      ingested_at: 0,
      parts: 0,
      hash: 1,
      origin: "o",
    };
    const odd = messageRow(messageOf("root", 2), { searchText: undefined, partBytes: 0, ...labels });
    await messages.insertRows([{ ...odd, role: "oracle" }]);
    await parts.insertRows([{ ...partRow(textPart("root", "m0", 9)), type: "hologram" }]);
    const { value, issues } = await planTree(store.sessions.tree(), ROOT);
    expect(issues).toMatchObject([
      { stage: "plan", kind: "unreadable", key: { session_id: "root", id: "m2" } },
      { stage: "plan", kind: "unreadable", key: { session_id: "root", message_id: "m0", id: "9" } },
    ]);
    expect(value.messages.map(({ id }) => id)).toEqual(["m0", "m1"]);
  });

  test("of a session leaves its messages, and a lineage is refused", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 1));
    const child = { ...sessionRow(sessionOf("child", { parent: "root" }), 0), options: "[]" };
    await store.sessions.tables.sessions.insertRows([child]);
    await ingest(store, conversation("child", 2, { parent: "root" }));
    const { value, issues } = await loadTree(store.sessions.tree(), ROOT);
    expect(issues).toMatchObject([{ stage: "hydrate", kind: "unreadable", key: { id: "child" } }]);
    expect(value.children[0]?.messages.map(({ message }) => message?.id)).toEqual(["m0", "m1"]);
    expect(lineageOf(value)?.children).toEqual([]);
    await expect(readLineage(store.sessions, ROOT)).rejects.toThrow("session child cannot be read");
  });

  test("that the engine cannot read stands alone, and a store that cannot be reached is no issue", async () => {
    await using store = await tempStore();
    await ingest(store, conversation("root", 40));
    const source = store.sessions.tree();
    const refs = await resolveTree(source, (await planTree(source, ROOT)).value);
    const { messages } = store.sessions.tables;
    const bad = refs.value.leaves.get(refs.value.plan.messages[13]!)!.ref.row;
    const take = messages.take.bind(messages);
    const spy = vi.spyOn(messages, "take");
    spy.mockImplementation((ids, select) =>
      ids.includes(bad) ? Promise.reject(damage("internal")) : take(ids, select),
    );
    const { value, issues } = await hydrateTree(source, refs.value);
    expect(issues).toMatchObject([{ kind: "unreadable", key: { id: "m13" }, message: "a page is torn" }]);
    expect(value.messages.filter(({ message }) => message !== undefined)).toHaveLength(39);
    expect(spy.mock.calls.length).toBeLessThan(15);
    spy.mockImplementation(() => Promise.reject(damage("storage_unavailable")));
    await expect(loadTree(store.sessions.tree(), ROOT)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });
});

/** The columns that hold what was said, and what else a record said. */
const BODIES = new Set(["content", "options", "search_text", "identifiers", "variant_data", "data"]);

interface Looks {
  /** Every column that was asked for. */
  readonly columns: Set<string>;
  /** Every row that was taken by its number. */
  readonly rows: string[];
}

function watch(store: TempStore): Looks {
  const looks: Looks = { columns: new Set(), rows: [] };
  const { sessions, messages, parts } = store.sessions.tables;
  watchTable(sessions, looks);
  watchTable(messages, looks);
  watchTable(parts, looks);
  return looks;
}

function watchTable<S extends TableSpec>(table: Table<S>, { columns, rows }: Looks): void {
  const [scan, scanIn, take] = [table.scan.bind(table), table.scanIn.bind(table), table.take.bind(table)];
  const note = (select: readonly string[]): void => {
    for (const column of select) columns.add(column);
  };
  const watched: Pick<Table<S>, "scan" | "scanIn" | "take"> = {
    scan: (options) => {
      note(options.select);
      return scan(options);
    },
    scanIn: (column, values, options) => {
      note(options.select);
      return scanIn(column, values, options);
    },
    take: (ids, select) => {
      note(select);
      for (const id of ids) rows.push(`${table.spec.name} ${id}`);
      return take(ids, select);
    },
  };
  Object.assign(table, watched);
}

/** Scans of long columns fail from now on. */
function stumble<S extends TableSpec>(table: Table<S>): void {
  const scan = table.scan.bind(table);
  const watched: Pick<Table<S>, "scan"> = {
    scan: (options) =>
      options.select.some((column) => BODIES.has(column))
        ? Promise.reject(damage("internal"))
        : scan(options),
  };
  Object.assign(table, watched);
}

async function ingest(store: TempStore, events: readonly Event[]): Promise<void> {
  const run = store.sessions.ingest({ clock: systemClock });
  await run.add(events);
  await run.flush();
}

interface Kin {
  readonly parent?: string;
  readonly agent?: string;
}

function conversation(name: string, messages: number, kin: Kin = {}): Event[] {
  const turns = Array.from({ length: messages }, (_, seq): Event[] => [
    { kind: "message", message: messageOf(name, seq) },
    { kind: "part", part: textPart(name, `m${seq}`, 0) },
  ]);
  return [{ kind: "session", session: sessionOf(name, kin) }, ...turns.flat()];
}

function sessionOf(name: string, { parent, agent = "client" }: Kin): Session {
  return {
    id: sessionId(name),
    ...(parent === undefined ? {} : { parent_session_id: sessionId(parent), relation: "spawn" }),
    source_agent: agent,
    created_at: timestampFromMillis(1000)!,
    project: sealExtracted("/srv/demo"),
    options: { source: { path: name } },
  };
}

function messageOf(session: string, seq: number): Message {
  return {
    id: messageId(`m${seq}`),
    session_id: sessionId(session),
    seq,
    timestamp: timestampFromMillis(1000 + seq)!,
    role: seq % 2 === 0 ? "user" : "assistant",
    options: { source: { record: { n: seq } } },
  };
}

function textPart(session: string, message: string, ordinal: number): Part {
  return {
    ...partKey(session, message, ordinal),
    type: "text",
    provenance: "conversational",
    text: sealExtracted(`what ${message} of ${session} says`),
    options: {},
  };
}

function filePart(session: string, message: string, value: Uint8Array): Part {
  return {
    ...partKey(session, message, 1),
    type: "file",
    provenance: "injected",
    data: { kind: "bytes", value },
    options: {},
  };
}

function partKey(session: string, message: string, ordinal: number) {
  return {
    id: partId(String(ordinal)),
    session_id: sessionId(session),
    message_id: messageId(message),
    ordinal,
  };
}

function damage(code: ErrorCode): PondError {
  return new PondError(code, "a page is torn");
}

/** A state of the root that holds these messages. */
const stateHolding = (...ids: readonly string[]): RecordedState => ({
  session_id: ROOT,
  source: "x",
  state: 1,
  adapter: "test",
  reader: "r",
  path: "x",
  key: "x",
  form: "log",
  read_at: 0,
  recorded_at: undefined,
  records: ids.length,
  digest: "",
  side: "",
  whole: true,
  content: JSON.stringify({ runs: ids.map((id) => [id]) }),
});
