/**
 * A Codex log that was read, long after its last write, between the two records of one text, and then grew: the first
 * was told alone, and the second told the same text again.
 */
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import type { Event } from "../../src/model/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { searchText } from "../../src/model/derived/index.ts";
import type { UnitRun } from "../support/adapter-run.ts";
import { compareAll, listUnits, readUnit, restoreNative } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";

const codex = adapterNamed("codex-cli")!;
const THREAD = "01a1e1d6-0000-7000-8000-000000000001";
const PATH = `sessions/2026/11/16/rollout-2026-11-16T00-00-00-${THREAD}.jsonl`;
const TIME = "2026-11-16T00:00:00.000Z";
const WRITTEN = Date.parse(TIME);
const MINUTE = 60_000;

const record = (type: string, payload: object): object => ({ timestamp: TIME, type, payload });
const META = record("session_meta", { id: THREAD, timestamp: TIME, cwd: "/w" });
const shown = (message: string) => record("event_msg", { type: "agent_message", message });
const said = (text: string) =>
  record("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const typed = record("event_msg", { type: "user_message", message: "do it" });
const asked = record("response_item", {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "do it" }],
});

const print = (records: readonly object[]): string =>
  records.map((one) => `${JSON.stringify(one)}\n`).join("");

/** Reads the records in as many goes as there are lists, each an hour after it was written. */
async function readInGoes(goes: readonly string[], kept: boolean) {
  await using folder = await tempDir();
  const file = join(folder.path, PATH);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  const events: Event[] = [];
  let run: UnitRun | undefined;
  for (const [go, text] of goes.entries()) {
    appendFileSync(file, text);
    const at = WRITTEN + go * 120 * MINUTE;
    utimesSync(file, at / 1000, at / 1000);
    const { units } = await listUnits(codex, folder.path);
    run = await readUnit(codex, units[0]!, {
      root: folder.path,
      now: at + 60 * MINUTE,
      cursor: run?.cursor,
      ...(kept ? { kept: { prefix: run?.prefix } } : {}),
    });
    events.push(...run.events);
  }
  const [state] = replay(events.filter(isFirst()));
  const comparisons = await compareAll(await restoreNative(codex, events.filter(isFirst())), folder.path);
  const texts = state!.messages.flatMap(({ message, parts }) => searchText(message, parts) ?? []);
  return { texts, comparisons, keys: state!.messages.map(({ message }) => message.id) };
}

/** As the store does: the first of each key stays. What is told again is told alike. */
function isFirst(): (event: Event) => boolean {
  const seen = new Map<string, Event>();
  return (event) => {
    const { id, ...keys } =
      event.kind === "session" ? event.session : event.kind === "message" ? event.message : event.part;
    const key = JSON.stringify([event.kind, id, "message_id" in keys ? keys.message_id : ""]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, event);
    else expect(event).toEqual(first);
    return first === undefined;
  };
}

const CUTS = [
  ["the agent's event and its item", [META, shown("hi")], [said("hi")]],
  [
    "the agent's event and its item, with more behind",
    [META, shown("hi")],
    [said("hi"), shown("more"), said("more"), typed],
  ],
  ["a user's item and its event", [META, asked], [typed]],
  [
    "an item that was not shown and its event",
    [META, shown("a"), said("a"), asked, typed, said("b")],
    [shown("b")],
  ],
] as const;

describe.each([
  ["from the start", false],
  ["from the kept prefix", true],
])("a log that was cut between twins, read on %s,", (_how, kept) => {
  test.each(CUTS)("tells the text once: %s", async (_where, before, after) => {
    const cut = await readInGoes([print(before), print(after)], kept);
    const whole = await readInGoes([print([...before, ...after])], kept);
    expect([cut.texts, cut.keys]).toEqual([whole.texts, whole.keys]);
    const records = before.length + after.length;
    expect(cut.comparisons).toEqual([{ path: PATH, records, equal: records }]);
  });

  test("tells it once also when the second record came in pieces", async () => {
    const item = print([said("hi")]);
    const goes = [print([META, shown("hi")]), item.slice(0, 20), item.slice(20), print([typed])];
    const { texts } = await readInGoes([goes[0]!, `${goes[1]}${goes[2]}`, goes[3]!], kept);
    expect(texts).toEqual(["hi", "do it"]);
    const torn = await readInGoes([`${goes[0]}${goes[1]}`, `${goes[2]}${goes[3]}`], kept);
    expect(torn.texts).toEqual(["hi", "do it"]);
    const open = await readInGoes([goes[0]!, item.trimEnd(), `\n${goes[3]}`], kept);
    expect(open.texts).toEqual(["hi", "do it"]);
    expect(open.comparisons[0]).toMatchObject({ records: 4, equal: 4 });
  });

  test("goes on as ever where the event was not told alone", async () => {
    const item = print([said("hi")]).trimEnd();
    const { texts } = await readInGoes([print([META, shown("hi")]) + item, `\n${print([typed])}`], kept);
    expect(texts).toEqual(["hi", "do it"]);
  });
});
