/**
 * A log that grew is read on from a kept prefix exactly as from its start (spec.md#sync-prefix): same events, issues and
 * cursors, wherever it was cut and however often, whatever stands in it.
 */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { valueHash } from "../../src/adapters/kit/files/index.ts";
import type { JsonObject, JsonValue } from "../../src/base/json/json.ts";
import { isJsonObject, stringifyJson } from "../../src/base/json/json.ts";
import { listUnits, readUnit } from "../support/adapter-run.ts";
import { expectSameTelling, growthOf } from "../support/growing-log.ts";
import { tempDir } from "../support/temp-dir.ts";

const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const AT = "2026-01-01T00:00:00.000Z";

const text = fc.constantFrom("hello", "hi", "say hello twice", "<system-reminder>x</system-reminder>", "");
const instant = fc.integer({ min: -3, max: 9 }).map((n) => new Date(Date.parse(AT) + n * 1000).toISOString());
const id = fc.constantFrom("i1", "i2", "i3", "i4", "i5", "i6");
const call = fc.constantFrom("c1", "c2", "c3", "\ud800", "\udbff");
const tool = fc.constantFrom("Bash", "Read", "__proto__");

/** Records with some fields left out. */
function some(fields: Readonly<Record<string, fc.Arbitrary<JsonValue>>>, required: readonly string[] = []) {
  return fc.record(fields, { requiredKeys: [...required] }) as fc.Arbitrary<JsonValue>;
}

const turn = (message: fc.Arbitrary<JsonValue>) =>
  some(
    {
      type: fc.constantFrom("user", "assistant"),
      message,
      uuid: id,
      parentUuid: id,
      timestamp: instant,
      isSidechain: fc.boolean(),
      isCompactSummary: fc.boolean(),
      forkedFrom: fc.record({ sessionId: fc.constant("other"), messageUuid: id }),
    },
    ["type", "message"],
  );

const claudeRecord = one(
  turn(some({ role: fc.constantFrom("user", "assistant"), content: text }, ["content"])),
  turn(
    fc.record({
      role: fc.constant("assistant"),
      content: fc.tuple(fc.record({ type: fc.constant("tool_use"), id: call, name: tool, input: text })),
    }),
  ),
  turn(
    fc.record({
      role: fc.constant("user"),
      content: fc.tuple(
        fc.record({ type: fc.constant("tool_result"), tool_use_id: call, content: text }),
        fc.record({ type: fc.constant("text"), text }),
      ),
    }),
  ),
  some({ type: fc.constant("summary"), summary: text, leafUuid: id }, ["type", "summary", "leafUuid"]),
  some(
    {
      type: fc.constant("system"),
      subtype: fc.constant("compact_boundary"),
      parentUuid: fc.constant(null),
      logicalParentUuid: id,
      uuid: id,
    },
    ["type", "subtype", "parentUuid", "logicalParentUuid"],
  ),
  some({ type: fc.constantFrom("custom-title", "ai-title"), customTitle: text, aiTitle: text }, ["type"]),
  some({ type: fc.constant("queue-operation"), timestamp: instant }, ["type"]),
  fc.record({
    type: fc.constant("attachment"),
    attachment: fc.record({
      type: fc.constant("queued_command"),
      commandMode: fc.constant("prompt"),
      prompt: text,
    }),
  }),
);

/** One record at a time, of any kind. */
function one(...kinds: readonly fc.Arbitrary<JsonValue>[]): fc.Arbitrary<readonly JsonValue[]> {
  return fc.oneof(...kinds).map((record) => [record]);
}

const envelope = (type: string, payload: fc.Arbitrary<JsonValue>) =>
  some({ timestamp: instant, type: fc.constant(type), payload }, ["type", "payload"]);

const codexRecord = one(
  spoken("user", text),
  spoken("assistant", text),
  shown("user", text),
  shown("agent", text),
  envelope(
    "event_msg",
    fc.record({
      type: fc.constant("item_completed"),
      item: fc.record({
        type: fc.constantFrom("AgentMessage", "UserMessage"),
        content: fc.tuple(fc.record({ type: fc.constant("Text"), text })),
      }),
    }),
  ),
  envelope(
    "response_item",
    some({ type: fc.constant("function_call"), name: tool, call_id: call, id, arguments: text }, [
      "type",
      "call_id",
    ]),
  ),
  envelope(
    "response_item",
    fc.record({ type: fc.constant("function_call_output"), call_id: call, output: text }),
  ),
  envelope(
    "event_msg",
    fc.record({ type: fc.constant("exec_command_end"), call_id: call, exit_code: fc.nat(1) }),
  ),
  envelope("event_msg", fc.record({ type: fc.constant("token_count") })),
  envelope("compacted", some({ message: text })),
  envelope("session_meta", fc.record({ id: fc.constantFrom(THREAD, "parent"), timestamp: instant })),
  envelope("turn_context", some({ turn_id: id, cwd: fc.constant("/w") })),
);

/** What people and the agent say is written twice, in either order. */
const codexTwins = fc
  .tuple(fc.constantFrom("user", "agent"), fc.constantFrom("hello", "hi"), fc.boolean())
  .chain(([who, said, isShownFirst]) => {
    const item = spoken(who === "user" ? "user" : "assistant", fc.constant(said));
    const event = shown(who, fc.constant(said));
    return isShownFirst ? fc.tuple(event, item) : fc.tuple(item, event);
  });

function spoken(role: string, said: fc.Arbitrary<string>) {
  const content = fc.tuple(fc.record({ type: fc.constant("input_text"), text: said }));
  return envelope(
    "response_item",
    some({ type: fc.constant("message"), role: fc.constant(role), id, content }, ["type", "role", "content"]),
  );
}

function shown(who: string, message: fc.Arbitrary<string>) {
  return envelope("event_msg", fc.record({ type: fc.constant(`${who}_message`), message }));
}

const piEntry = some(
  {
    type: fc.constantFrom("message", "message", "message", "compaction", "leaf", "label", "session_info"),
    id,
    parentId: fc.oneof(id, fc.constant(null)),
    targetId: id,
    timestamp: instant,
    summary: text,
    name: text,
    message: fc.oneof(
      fc.record({ role: fc.constantFrom("user", "assistant"), content: text }),
      fc.record({ role: fc.constant("toolResult"), toolCallId: call, toolName: tool, content: text }),
    ),
  },
  ["type"],
);
const piTransaction = fc.array(piEntry, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<JsonValue>;
const piRecord = one(piEntry, piEntry, piEntry, piEntry, piTransaction);

const SESSION = "00000000-0000-4000-8000-000000000001";

const clients: readonly {
  readonly name: string;
  readonly key: string;
  readonly first: JsonObject;
  readonly records: fc.Arbitrary<readonly JsonValue[]>;
  /** A log among the fixtures, and the state that it leaves. */
  readonly golden: Readonly<Record<"root" | "log" | "format" | "state", string>>;
}[] = [
  {
    name: "claude-code",
    key: `-w/${SESSION}.jsonl`,
    first: {
      type: "progress",
      uuid: "first",
      sessionId: SESSION,
      cwd: "/w",
      timestamp: AT,
    },
    records: claudeRecord,
    golden: {
      root: "projects",
      log: "-tmp-pond-fixture-demo-app/103a5822-0f45-44b0-95ae-0e4884e28132.jsonl",
      format: "claude-code/1/2",
      state: "71359fd67fabc1b06a7d637a01354c11",
    },
  },
  {
    name: "codex-cli",
    key: `sessions/2026/01/01/rollout-2026-01-01T00-00-00-${THREAD}.jsonl`,
    first: {
      timestamp: AT,
      type: "session_meta",
      payload: { id: THREAD, timestamp: AT, cwd: "/w", forked_from_id: "parent" },
    },
    records: fc.oneof(codexRecord, codexRecord, codexTwins),
    golden: {
      root: "home",
      log: "sessions/2026/11/16/rollout-2026-11-16T00-51-57-01a1e1d6-dc28-7033-8d22-b4de37cc0373.jsonl",
      format: "codex-cli/2/2",
      state: "b71285d9fbd62a98ca950f7c481002f2",
    },
  },
  {
    name: "pi",
    key: `--w--/2026-01-01T00-00-00-000Z_${SESSION}.jsonl`,
    first: {
      type: "session",
      version: 3,
      id: SESSION,
      cwd: "/w",
      timestamp: AT,
      parentSession: "/s/2025-01-01T00-00-00-000Z_00000000-0000-4000-8000-000000000002.jsonl",
    },
    records: piRecord,
    golden: {
      root: "sessions",
      log: "--tmp-pond-garden--/2026-11-16T00-45-03-650Z_01a1e1d0-8d21-70bd-9619-b545abc296ea.jsonl",
      format: "pi/1/2",
      state: "b5f32aa5d874b5283473d934ad60b378",
    },
  },
];

/** A first record, or one that does not say when or where. */
function headOf(first: JsonObject): fc.Arbitrary<JsonValue> {
  const { timestamp: _, cwd: __, payload, ...rest } = first;
  const poor = isJsonObject(payload) ? { ...rest, payload: { id: payload["id"] ?? null } } : rest;
  return fc.oneof({ weight: 5, arbitrary: fc.constant(first) }, { weight: 1, arbitrary: fc.constant(poor) });
}

describe.each(clients)("a log of $name that grows", ({ name, key, first, records, golden }) => {
  const adapter = adapterNamed(name)!;

  test("is told from a kept prefix as from its start", async () => {
    let had = 0;
    await fc.assert(
      fc.asyncProperty(growthOf(headOf(first), records), async (looks) => {
        had += await expectSameTelling(adapter, key, looks);
      }),
      { numRuns: 150 },
    );
    expect(had).toBeGreaterThan(100);
  });

  test("is gone on with only from a prefix of its own format, shape and length", async () => {
    await using folder = await tempDir();
    const path = join(folder.path, key);
    mkdirSync(dirname(path), { recursive: true });
    const line = (n: number): string => `${stringifyJson({ ...first, uuid: `r${n}`, n })}\n`;
    writeFileSync(path, [0, 1, 2, 3].map(line).join(""));
    const unit = async () => (await listUnits(adapter, folder.path)).units[0]!;
    const { cursor, prefix } = await readUnit(adapter, await unit(), {
      root: folder.path,
      kept: { prefix: undefined },
    });
    appendFileSync(path, line(4));
    const readOn = async (change: (kept: Record<string, JsonValue>) => object) => {
      const kept = { prefix: JSON.stringify(change(JSON.parse(prefix!))) };
      return (await readUnit(adapter, await unit(), { root: folder.path, cursor, kept })).events;
    };
    const { events } = await readUnit(adapter, await unit(), { root: folder.path, cursor });
    const log = (kept: Record<string, JsonValue>) => kept["log"] as object;
    expect(await readOn((kept) => kept)).toEqual(events);
    // Which shows that the prefix is what decides.
    expect(await readOn((kept) => ({ ...kept, log: { ...log(kept), position: 70 } }))).not.toEqual(events);
    for (const spoilt of [
      { format: `${name}/0/0` },
      { log: { position: 70 } },
      { reader: {} },
      { reader: null },
      { offset: 1e9 },
      { line: null },
    ])
      expect(await readOn((kept) => ({ ...kept, log: { ...log(kept), position: 70 }, ...spoilt }))).toEqual(
        events,
      );
  });

  test("leaves the state that its format says: another state is another version of the format", async () => {
    const root = join(import.meta.dirname, "../fixtures/adapters", name, golden.root);
    const unit = (await listUnits(adapter, root)).units.find(({ key: found }) => found === golden.log)!;
    const { prefix } = await readUnit(adapter, unit, { root, kept: { prefix: undefined } });
    const { format } = JSON.parse(prefix!) as { format: string };
    expect([format, valueHash(prefix!)]).toEqual([golden.format, golden.state]);
  });
});

test("what Codex showed before its record came, and was read alone, leaves the same for what is behind it", async () => {
  const item = (role: string, said: string, more: JsonObject = {}): JsonObject => ({
    type: "response_item",
    payload: { type: "message", role, ...more, content: [{ type: "input_text", text: said }] },
  });
  const event = (type: string): JsonObject => ({ type: "event_msg", payload: { type, message: "hello" } });
  const lines = [
    { type: "session_meta", payload: { id: THREAD, timestamp: AT, cwd: "/w" } },
    item("user", "hello", { id: "i1" }),
    event("user_message"),
    event("agent_message"),
    item("assistant", "hello"),
    event("agent_message"),
    item("assistant", "hello"),
    event("user_message"),
    item("user", "hello", { id: "i1" }),
    event("user_message"),
    item("assistant", "<system-reminder>x</system-reminder>", { id: "i1" }),
    { type: "session_meta", payload: { id: THREAD, timestamp: AT } },
  ].map((line) => `${stringifyJson({ timestamp: AT, ...line })}\n`);
  const upTo = (count: number, torn = "") => ({
    bytes: Buffer.from(lines.slice(0, count).join("") + torn),
    isLive: false,
  });
  const key = clients.find(({ name }) => name === "codex-cli")!.key;
  await expectSameTelling(adapterNamed("codex-cli")!, key, [upTo(0), upTo(4), upTo(5, "{"), upTo(12)]);
});
